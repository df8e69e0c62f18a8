"""Calls an operation of the history: in the daemon if one runs, else in this process."""

from __future__ import annotations

from typing import Any

from triseek.history.verbs import OPERATIONS
from triseek.ipc import ask


def call(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Call an operation by its name in `verbs.OPERATIONS`.

    Raises: as the operation, and as `ask.if_running`.
    """
    reply = ask.if_running(f"history_{name}", params)
    if reply is not None:
        return reply
    from triseek.history.service import History

    history = History()
    try:
        return OPERATIONS[name](history, params)
    finally:
        history.close()
