"""`triseek history timeline`: what was kept around a record or a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from triseek.history.commands.calling import call
from triseek.terminal import report_text, status
from triseek.terminal.plain_words import Argument, Json, Option

if TYPE_CHECKING:
    from triseek.terminal.command_context import CommandContext

Depth = Annotated[int, Option("N", "Records, at most 50.")]


def timeline(
    context: CommandContext,
    around: Annotated[
        list[str] | None,
        Argument(
            "ANCHOR|QUERY",
            "12, S4, P7, a date, a conversation's id, or words; the newest records if none.",
        ),
    ] = None,
    before: Depth = 10,
    after: Depth = 10,
    project: Annotated[str, Option("NAME", "Only this project's: its name or root folder.")] = "",
    json: Json = False,
) -> int:
    """Show prompts, observations and summaries around a record, a date or the best match.

    Exit status 1: there is nothing.

    Examples: triseek history timeline 12 · triseek history timeline 2026-10-01 --after 30 ·
    triseek history timeline discount bug --before 3
    """
    params = {
        "around": " ".join(around or []), "before": before, "after": after, "project": project,
        "root": context.folder(),
    }  # fmt: skip
    reply = call("timeline", params, context)
    answer = reply["answer"]
    context.print(report_text.as_json(answer) if json else report_text.readable(reply["text"]))
    return status.FOUND if answer.get("items") else status.NOTHING
