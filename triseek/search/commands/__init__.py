"""The verbs of the search wing that are not ripgrep's: indexes, starting sets, symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from triseek.search.commands import context_pack, frecency, index, roots, symbols
    from triseek.terminal.typer_command import typer_command

    app.command()(index.build)
    app.command()(index.update)
    app.command()(index.reindex)
    app.command("index-status")(index.index_status)
    app.command()(index.measure)
    app.command()(index.check)
    app.command()(index.warmup)
    app.command("context-pack")(context_pack.context_pack)
    app.command("frecency-select")(frecency.select)
    roots.register(app)
    app.command("symbols")(typer_command(symbols.symbols))
