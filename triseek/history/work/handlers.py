"""Handlers of history_fix, history_how, history_blame and history_friction."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.history import operations
from triseek.history.handlers import checks

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.history.context import HistoryContext
    from triseek.history.operations import AnswerReply
    from triseek.history.work import requests
    from triseek.model.call import Call

FIXES, WAYS, CHANGES, ERRORS = 5, 8, 10, 10
"""The most results of each tool."""


def history_fix(
    context: HistoryContext, request: requests.HistoryFixRequest, _call: Call
) -> AnswerReply:
    """Return what was done after an error when it went away, in this project or else in any.

    Raises:
        InvalidQuery: The argument is empty.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be read.
    """
    error = checks.not_empty(request.error, "error")
    return _here_or_anywhere(
        context, lambda project: operations.fix(context.service, error, project, FIXES)
    )


def history_how(
    context: HistoryContext, request: requests.HistoryHowRequest, _call: Call
) -> AnswerReply:
    """Return how a command is run, in this project or else in any. Raises as `history_fix`."""
    command = checks.not_empty(request.command, "command")
    return _here_or_anywhere(
        context, lambda project: operations.how(context.service, command, project, WAYS)
    )


def history_blame(
    context: HistoryContext, request: requests.HistoryBlameRequest, _call: Call
) -> AnswerReply:
    """Return which conversations have changed a file. Raises as `history_fix`."""
    path = checks.not_empty(request.path, "path")
    here = os.path.join(context.place.root, path)  # noqa: PTH118
    is_here = "\0" not in path and os.path.lexists(here)
    return operations.blame(context.service, os.path.normpath(here) if is_here else path, CHANGES)


def history_friction(
    context: HistoryContext, request: requests.HistoryFrictionRequest, _call: Call
) -> AnswerReply:
    """Return the errors that come again in a project. Raises as `history_fix`."""
    project = request.project or context.place.root
    return operations.friction(context.service, project, 0, ERRORS)


def _here_or_anywhere(context: HistoryContext, ask: Callable[[str], AnswerReply]) -> AnswerReply:
    """Return the answer from this project; from all projects if it has none."""
    reply = ask(context.place.root)
    return reply if reply["found"] else ask("")
