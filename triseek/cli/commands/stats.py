"""stats export: the index as tables for other tools."""

from __future__ import annotations

from typing import Annotated

import typer

from triseek.cli import report_text, status
from triseek.cli.commands.index import Folder, Json, existing_folder
from triseek.model.plain_text import visible_line

app = typer.Typer(help="Figures about an index.", no_args_is_help=True, add_completion=False)


@app.callback()
def stats() -> None:
    """Figures about an index."""


@app.command()
def export(
    path: Folder = ".",
    format: Annotated[  # noqa: A002 - the flag's name
        str, typer.Option("--format", help="arrow, parquet or json.")
    ] = "arrow",
    out: Annotated[str, typer.Option("--out", help="Folder to write the tables to.")] = ".",
    json: Json = False,
) -> int:
    """Write the tables of an index: per file, per trigram, per language.

    Example: triseek stats export --format parquet --out tables
    """
    from triseek.service.service import Service
    from triseek.stats.export import FORMATS, export_tables

    if format not in FORMATS:
        raise typer.BadParameter(f"give one of {', '.join(FORMATS)}", param_hint="--format")
    with Service() as service:
        written = export_tables(service.engine(existing_folder(path)), out, format)
    names = [str(name) for name in written]
    print(report_text.as_json({"written": names}) if json else "\n".join(map(visible_line, names)))
    return status.FOUND
