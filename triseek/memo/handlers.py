"""Handlers of memo_status, memo_check and memo_session, and what the daemon's verbs share of them.

Only the daemon has the data, because hooks report to it. There is no fallback: without a daemon the
answer is an error, and an agent that gets an error reads its file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.engine.roots import project
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.files import containment
from triseek.memo.resolve_context import Asked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.tool_host import ToolHost
    from triseek.memo.memo import Memo
    from triseek.memo.requests import MemoCheckRequest, MemoSessionRequest, MemoStatusRequest
    from triseek.memo.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.model.call import Call

FILES_MAX = 100


class MemoContext:
    """What the memo tools of one agent work on."""

    def __init__(self, host: ToolHost) -> None:
        """Work on the root of `host`."""
        self.root = host.root
        self._host = host

    @property
    def memo(self) -> Memo:
        """The daemon's memo. Raises as `ToolHost.daemon_service`."""
        memo: Memo = self._host.daemon_service("memo")
        return memo


def status(context: MemoContext, request: MemoStatusRequest, call: Call) -> MemoStatusAnswer:
    """Return which of some files the context has as they are now.

    Raises:
        InvalidQuery: no file is named, or too many are.
        PathRefused: a path leads out of the root, or is neither a regular file nor a folder.
        RepoNotDetected: the root does not exist any more.
        BackendFailure: no daemon runs.
    """
    if not request.files:
        raise InvalidQuery("files is empty", next_step="Name at least one file.")
    if len(request.files) > FILES_MAX:
        raise InvalidQuery(
            f"{len(request.files)} files are asked for, {FILES_MAX} are allowed",
            next_step="Ask for fewer at a time.",
        )
    for path in request.files:
        containment.locate(context.root, path)
    return files_status(context.memo, context.root, request.files, Asked.read(call.who))


def check(context: MemoContext, request: MemoCheckRequest, call: Call) -> MemoCheckAnswer:
    """Return whether one file has to be read again.

    Raises: as `status`.
    """
    containment.locate(context.root, request.path)
    return file_check(context.memo, context.root, request.path, Asked.read(call.who))


def session(context: MemoContext, _request: MemoSessionRequest, call: Call) -> MemoSessionAnswer:
    """Return every file that the context was shown, and what the memo has saved.

    Raises:
        BackendFailure: no daemon runs.
    """
    return context.memo.session(project(context.root), Asked.read(call.who))


def files_status(memo: Memo, folder: str, files: Sequence[str], who: Asked) -> MemoStatusAnswer:
    """Return what a context was shown of files; the answer names them as `files` does.

    Args:
        memo: The memo.
        folder: What the paths are relative to, absolute.
        files: Paths.
        who: The context.

    Raises:
        InvalidRequest: a path is empty, or holds a NUL.
    """
    absolute = [_absolute(folder, file) for file in files]
    answer = memo.status(project(folder), absolute, who)
    for result, file in zip(answer["results"], files, strict=True):
        result["path"] = file
    return answer


def file_check(memo: Memo, folder: str, path: str, who: Asked) -> MemoCheckAnswer:
    """Return whether a context has a file's current contents. Arguments as `files_status`."""
    answer = memo.check(project(folder), _absolute(folder, path), who)
    return {**answer, "path": path}


def _absolute(folder: str, path: str) -> str:
    if not path or "\0" in path:
        raise InvalidRequest(f"{path!r} is not the path of a file")
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
