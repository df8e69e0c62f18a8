"""The verbs of the history wing: `triseek history …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from typer import Typer

    from triseek.history.commands import exporting, forgetting, importing, quick, remembering
    from triseek.terminal.typer_command import typer_command

    group = Typer(
        help="What was done and said in conversations with agents, found again.",
        no_args_is_help=True,
    )
    group.command("import")(importing.import_conversations)
    for name, command in quick.VERBS.items():
        group.command(name)(typer_command(command))
    group.command("remember")(remembering.remember)
    group.command("supersede")(remembering.supersede)
    group.command("pin")(remembering.pin)
    group.command("export")(exporting.export)
    group.command("archive")(exporting.archive)
    group.command("forget")(forgetting.forget)
    app.add_typer(group, name="history")
