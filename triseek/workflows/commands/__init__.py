"""The `triseek workflow` commands list, show and run, and `triseek workflows serve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from typer import Typer

    from triseek.terminal.typer_command import typer_command
    from triseek.workflows.commands import quick, serving

    group = Typer(
        help="Prebuilt workflows over code in one or many repositories.", no_args_is_help=True
    )
    group.command("list")(typer_command(quick.show_all))
    group.command("show")(typer_command(quick.show))
    options_first = {"allow_interspersed_args": False}
    group.command("run", context_settings=options_first)(typer_command(quick.run))
    app.add_typer(group, name="workflow")
    app.add_typer(serving.servers, name="workflows")
