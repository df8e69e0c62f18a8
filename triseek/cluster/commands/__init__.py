"""The verbs of the cluster wing: `triseek cluster …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from typer import Typer

    from triseek.cluster.commands import indexing, searching
    from triseek.terminal.typer_command import typer_command

    group = Typer(
        help="Repositories on hosts that run Zoekt: zoekt.api_url names the hosts.",
        no_args_is_help=True,
    )
    for name, command in searching.VERBS.items():
        group.command(name)(typer_command(command))
    group.command("index")(indexing.index)
    app.add_typer(group, name="cluster")
