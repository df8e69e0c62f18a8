"""The verbs that run without Typer; those that only read, in the daemon if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.memory.commands import graph, palaces, reading, writing
from triseek.terminal import plain_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.terminal.command_context import CommandContext

VERBS: dict[str, Callable[..., int]] = {
    "remember": writing.remember,
    "recall": reading.recall,
    "list": reading.list_,
    "show": reading.show,
    "update": writing.update,
    "forget": writing.forget,
    "restore": writing.restore,
    "palaces": palaces.palaces,
    "identity": palaces.identity,
    "stats": palaces.stats,
}
"""`app.wings.QUICK` has the same names, and `kg`."""
KG_VERBS: dict[str, Callable[..., int]] = {
    "assert": graph.assert_,
    "query": graph.query,
    "retract": graph.retract,
    "history": graph.history,
}
"""The second words of `triseek memory kg`."""


def perform(words: Sequence[str], context: CommandContext) -> int | None:
    """Run a verb with its arguments; return None if they are left to Typer.

    Raises:
        NeedsClient: A daemon cannot run the command.
        TriseekError: As the verb.
    """
    verbs = VERBS
    if words[0] == "kg":
        verbs, words = KG_VERBS, words[1:]
    command = verbs.get(words[0]) if words else None
    values = plain_words.read(command, words[1:]) if command else None
    return None if command is None or values is None else command(context, **values)
