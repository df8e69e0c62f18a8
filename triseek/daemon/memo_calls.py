"""The daemon's JSON verbs about the memo: parameters from outside in, plain values out."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek.daemon.params import asker, repository, target_root
from triseek.errors import InvalidRequest
from triseek.service.roots import project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.model.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.sessions.memo.memo import Memo

FILES_MAX = 1_000
"""Files of one question."""


def calls(memo: Memo) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
    """Every verb about the memo."""
    found = (memo_status, memo_check, memo_session, memo_forget)
    return {call.__name__: partial(call, memo) for call in found}


def memo_status(memo: Memo, params: dict[str, Any]) -> MemoStatusAnswer:
    """`{target_root, files, …who}`: what a context was shown of files, as its agent named them."""
    folder = target_root(params)
    files = params.get("files")
    if not isinstance(files, list) or len(files) > FILES_MAX:
        raise InvalidRequest(f"files has to be a list of at most {FILES_MAX:,} paths")
    there = [_path(folder, file) for file in files]
    told = memo.status(project(folder), there, asker(params))
    for result, file in zip(told["results"], files, strict=True):
        result["path"] = file
    return told


def memo_check(memo: Memo, params: dict[str, Any]) -> MemoCheckAnswer:
    """`{target_root, path, …who}`: whether a context has a file as it is now."""
    folder, path = target_root(params), params.get("path")
    told = memo.check(project(folder), _path(folder, path), asker(params))
    return {**told, "path": str(path)}


def memo_session(memo: Memo, params: dict[str, Any]) -> MemoSessionAnswer:
    """`{target_root, …who}`: all that a context was shown, and what that has saved."""
    return memo.session(repository(params), asker(params))


def memo_forget(memo: Memo, params: dict[str, Any]) -> dict[str, Any]:
    """`{target_root?}`: erase what is kept of a root, or all of it."""
    root = None if params.get("target_root") is None else repository(params)
    return {"target_root": root, "forgotten": memo.erase(root)}


def _path(folder: str, path: object) -> str:
    """A file as the agent named it, made absolute."""
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidRequest(f"{path!r} is not the path of a file")
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118
