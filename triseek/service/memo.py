"""memo_status, memo_check and memo_session: what a context was shown, asked of the daemon.

Only the daemon knows, for hooks tell it. Nothing is guessed in its place: without one the answer is
an error, and an agent that gets it reads its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from triseek.errors import InvalidQuery
from triseek.files import containment
from triseek.service import daemon_client

if TYPE_CHECKING:
    from triseek.model.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.model.tools import MemoCheckRequest, MemoSessionRequest, MemoStatusRequest
    from triseek.service.desk import Call, Desk

PATIENCE_S = 10.0
FILES_MAX = 100


def status(desk: Desk, request: MemoStatusRequest, call: Call) -> MemoStatusAnswer:
    """Which of some files the context has as they are now.

    Raises:
        InvalidQuery: no file is named, or too many are.
        PathRefused: a path leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
        BackendFailure: no daemon answers.
    """
    if not request.files:
        raise InvalidQuery("files is empty", next_step="Name at least one file.")
    if len(request.files) > FILES_MAX:
        raise InvalidQuery(f"{len(request.files)} files are asked for, {FILES_MAX} are allowed")
    for path in request.files:
        containment.locate(desk.root, path)
    return cast(
        "MemoStatusAnswer", _asked(desk, "memo_status", {"files": list(request.files)}, call)
    )


def check(desk: Desk, request: MemoCheckRequest, call: Call) -> MemoCheckAnswer:
    """Whether one file has to be read again.

    Raises: as `status`.
    """
    containment.locate(desk.root, request.path)
    return cast("MemoCheckAnswer", _asked(desk, "memo_check", {"path": request.path}, call))


def session(desk: Desk, _request: MemoSessionRequest, call: Call) -> MemoSessionAnswer:
    """Everything the context was shown, and what knowing it has saved.

    Raises:
        BackendFailure: no daemon answers.
    """
    return cast("MemoSessionAnswer", _asked(desk, "memo_session", {}, call))


def _asked(desk: Desk, verb: str, params: dict[str, Any], call: Call) -> dict[str, Any]:
    asked = {"target_root": desk.root, **params, **call.who}
    return daemon_client.ask("memo", verb, asked, PATIENCE_S)
