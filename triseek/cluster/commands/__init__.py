"""The verbs of the cluster wing: `triseek cluster …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from typer import Typer

    from triseek.cluster.commands import indexing, searching

    group = Typer(
        help="Repositories on hosts that run Zoekt: zoekt.api_url names the hosts.",
        no_args_is_help=True,
    )
    group.command("status")(searching.show_status)
    group.command("list")(searching.list_repositories)
    group.command("search")(searching.search)
    group.command("index")(indexing.index)
    app.add_typer(group, name="cluster")
