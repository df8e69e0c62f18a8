"""The daemon's memo: one for all roots, saved in the background, and the verbs about it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from triseek import paths
from triseek.daemon import params
from triseek.daemon.autosave import Autosave
from triseek.daemon.params import Verb
from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.memo import handlers
from triseek.memo.memo import Memo
from triseek.memo.resolve_context import Asked  # noqa: TC001 - read at run time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.memo.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer

FILES_MAX = 1_000
"""Maximum number of files in one request."""
SAVE_S = 5.0
"""Seconds between saves, and so the most that is lost if the daemon is killed. No hook waits for a
disk: a lost entry only means that a file is read again."""
FINISH_S = 0.8
"""Seconds that `close` waits for a save that is running."""


class MemoService:
    """Owns the memo, and saves it periodically and at the end."""

    def __init__(self, *, keep: bool = True) -> None:
        """Load the saved memo; without `keep`, delete it and save nothing."""
        if not keep:
            shutil.rmtree(paths.memo(), ignore_errors=True)
        self.memo = Memo(paths.memo() if keep else None)
        self._saving = Autosave("memo", self.memo.save, SAVE_S)

    def start(self) -> None:
        """Start saving periodically."""
        self._saving.start()

    def busy(self) -> bool:
        """Return False: `close` saves what is not saved yet, so an idle exit need not wait."""
        return False

    def close(self) -> None:
        """Save a last time and stop."""
        self._saving.stop(FINISH_S)
        self.memo.close()


def _path(params: Mapping[str, object], name: str) -> str:
    return _checked(params.get(name))


def _paths(params: Mapping[str, object], name: str) -> list[str]:
    files = params.get(name)
    if not isinstance(files, list) or len(files) > FILES_MAX:
        raise InvalidRequest(f"{name} has to be a list of at most {FILES_MAX:,} paths")
    return [_checked(path) for path in files]


def _checked(path: object) -> str:
    if not isinstance(path, str):
        raise InvalidRequest(f"{path!r:.200} is not the path of a file")
    return path


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """`{target_root, …who}`: a context."""

    target_root: Annotated[str, params.target_root]
    who: Annotated[Asked, params.asker]


@dataclass(frozen=True, slots=True)
class MemoStatusParams(ContextRequest):
    """`{target_root, files, …who}`: files, named as the agent wrote them."""

    files: Annotated[list[str], _paths]


@dataclass(frozen=True, slots=True)
class CheckRequest(ContextRequest):
    """`{target_root, path, …who}`: a file, named as the agent wrote it."""

    path: Annotated[str, _path]


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """`{target_root?}`: a root, or all of them."""

    target_root: Annotated[str, params.optional_root]


class Forgotten(TypedDict):
    """Answer of `memo_forget`."""

    target_root: str | None
    forgotten: int
    """Number of contexts."""


def _status(memo: Memo, request: MemoStatusParams) -> MemoStatusAnswer:
    return handlers.files_status(memo, request.target_root, request.files, request.who)


def _check(memo: Memo, request: CheckRequest) -> MemoCheckAnswer:
    return handlers.file_check(memo, request.target_root, request.path, request.who)


def _session(memo: Memo, request: ContextRequest) -> MemoSessionAnswer:
    return memo.session(project(request.target_root), request.who)


def _forget(memo: Memo, request: ForgetRequest) -> Forgotten:
    root = project(request.target_root) if request.target_root else None
    return {"target_root": root, "forgotten": memo.erase(root)}


VERBS: Mapping[str, Verb[Memo, Any]] = {
    "memo_status": Verb(MemoStatusParams, _status),
    "memo_check": Verb(CheckRequest, _check),
    "memo_session": Verb(ContextRequest, _session),
    "memo_forget": Verb(ForgetRequest, _forget),
}
"""What a context was shown of files, and erasing the memo of a root or the whole memo."""
