"""Calls an operation of the history: in the daemon if one runs, else in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.history.verbs import OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.history.own_sessions import OwnSessions
    from triseek.history.service import History
    from triseek.terminal.command_context import CommandContext

_own: list[Callable[[], OwnSessions]] = []


def provide(own: Callable[[], OwnSessions]) -> None:
    """Set what makes triseek's own sessions known to the history of this process's commands."""
    _own[:] = [own]


def open_history() -> History:
    """Return the history, with triseek's own sessions where they are provided."""
    from triseek.history.service import History

    return History(own=_own[0]() if _own else None)


def call(
    name: str,
    params: dict[str, Any],
    context: CommandContext | None = None,
    timeout_s: float | None = None,
) -> dict[str, Any]:
    """Call an operation by its name in `verbs.OPERATIONS`.

    Args:
        name: The operation.
        params: Its parameters.
        context: The command's; if the daemon runs it, on the history that the daemon keeps.
        timeout_s: Seconds to wait for the daemon; None for as long as for any answer.

    Raises: as the operation, and as `ask.if_running`.
    """
    if context is not None and context.kept is not None:
        return OPERATIONS[name](context.kept, params)
    from triseek.ipc import ask

    reply = ask.if_running(f"history_{name}", params, timeout_s or ask.ANSWER_S)
    if reply is not None:
        return reply
    history = open_history()
    try:
        return OPERATIONS[name](history, params)
    finally:
        history.close()
