"""The verbs that only read the history: they run without Typer, in the daemon if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.history.commands import asking, searching, stats, timeline
from triseek.terminal import plain_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.terminal.command_context import CommandContext

VERBS: dict[str, Callable[..., int]] = {
    "search": searching.search,
    "show": searching.show,
    "timeline": timeline.timeline,
    "resume": searching.resume,
    "stats": stats.stats,
    "fix": asking.fix,
    "how": asking.how,
    "blame": asking.blame,
    "friction": asking.friction,
}
"""`app.wings.QUICK` has the same names."""


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run a verb with its arguments; return None if they are left to Typer.

    Raises:
        NeedsClient: A daemon cannot run the command.
        TriseekError: As the verb.
    """
    command = VERBS[words[0]]
    values = plain_words.read(command, words[1:])
    return None if values is None else command(context, **values)
