"""The verbs of the memory wing: `triseek memory …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    from typer import Typer

    from triseek.memory.commands import auditing, dreaming, embedding, exchanging, quick, serve
    from triseek.terminal.typer_command import typer_command

    group = Typer(
        help="Facts of a project that outlive sessions: kept, recalled, forgotten.\n\n"
        "Examples: triseek memory remember 'Staging is reset every night' · "
        "triseek memory recall when is staging reset · triseek memory kg assert checkout uses "
        "stripe · triseek memory list",
        no_args_is_help=True,
    )
    for name, command in quick.VERBS.items():
        group.command(name)(typer_command(command))
    group.command("export")(exchanging.export)
    group.command("import")(exchanging.import_)
    group.command("embed")(embedding.embed)
    group.command("dream")(typer_command(dreaming.dream))
    group.command("audit")(typer_command(auditing.audit))
    facts = Typer(help="Facts, and the time in which they held.", no_args_is_help=True)
    for name, command in quick.KG_VERBS.items():
        facts.command(name)(typer_command(command))
    group.add_typer(facts, name="kg")
    group.command("serve")(serve.serve)
    app.add_typer(group, name="memory")
