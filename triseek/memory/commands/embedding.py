"""`triseek memory embed`: give vectors to drawers that have none."""

from __future__ import annotations

from triseek.errors import InvalidRequest
from triseek.memory.commands.calling import NOTHING_KEPT, opened
from triseek.memory.vectors.embedder import identity
from triseek.model.plain_text import counted
from triseek.terminal import options, report_text, status
from triseek.terminal.command_context import CommandContext


def embed(json: options.Json = False) -> int:
    """Give vectors to all drawers that have none, or those of another embedder.

    Drawers that are written while vectors are on have theirs at once. This is for older and
    imported ones, and after a change of the setting memory.embedder. It may be ended at any time
    and goes on where it was.

    Exit status 1: nothing is kept.

    Example: triseek memory embed
    """
    with opened(CommandContext.here()) as memory:
        lane = memory.vectors
        if lane is None:
            raise InvalidRequest(
                "vectors are off", next_step="Choose memory.embedder in the settings first."
            )
        if not memory.exists():
            print(report_text.as_json({"embedded": 0}) if json else NOTHING_KEPT)
            return status.NOTHING
        count = 0
        with report_text.progress_bars() as progress:

            def report(done: int, total: int) -> None:
                nonlocal count
                count = done
                progress("embed", done, total)

            left = memory.embed_missing(progress=report)
    document = {"embedder": identity(lane.embedder), "embedded": count, "left": left}
    print(report_text.as_json(document) if json else f"{counted(count, 'drawer')} embedded")
    return status.FOUND
