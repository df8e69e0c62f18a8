"""The verbs of the history wing: `triseek history …`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer as _typer

from triseek.history.commands import (
    asking,
    exporting,
    forgetting,
    importing,
    remembering,
    searching,
    stats,
)

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    """Add the verbs to the command line."""
    group = _typer.Typer(
        help="What was done and said in conversations with agents, found again.",
        no_args_is_help=True,
    )
    group.command("import")(importing.import_conversations)
    group.command("search")(searching.search)
    group.command("show")(searching.show)
    group.command("timeline")(remembering.timeline)
    group.command("remember")(remembering.remember)
    group.command("supersede")(remembering.supersede)
    group.command("pin")(remembering.pin)
    group.command("resume")(searching.resume)
    group.command("stats")(stats.stats)
    group.command("fix")(asking.fix)
    group.command("how")(asking.how)
    group.command("blame")(asking.blame)
    group.command("friction")(asking.friction)
    group.command("export")(exporting.export)
    group.command("archive")(exporting.archive)
    group.command("forget")(forgetting.forget)
    app.add_typer(group, name="history")
