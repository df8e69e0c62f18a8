"""Files somebody is working on: those a caller names, and what git has not committed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.files import git
from triseek.files.root import git_root

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMED_MAX = 500
"""Paths of a caller that are looked at."""
UNCOMMITTED_MAX = 200
"""Where more files than this are not committed they say nothing of what is worked on."""


def changed_files(root: str, named: Iterable[str]) -> list[bytes]:
    """Return a caller's paths relative to the root, each once, in order; they need not exist.

    Raises:
        InvalidRequest: a path leads out of the root, or can name no file.
    """
    found: dict[bytes, None] = {}
    for path in list(named)[:NAMED_MAX]:
        if path.strip():
            found[_below(root, path.strip())] = None
    return list(found)


def uncommitted(root: str) -> list[bytes]:
    """Return what git says was changed or added since the last commit, sorted; often nothing."""
    if git_root(root) is None:
        return []
    head = git.head(root)
    changed = git.changed_since(root, head.commit) if head is not None and head.commit else None
    return changed if changed is not None and len(changed) <= UNCOMMITTED_MAX else []


def _below(root: str, path: str) -> bytes:
    try:
        raw, top = os.fsencode(path), os.fsencode(root)
    except UnicodeEncodeError:
        raw, top = b"\0", b""
    relative = os.path.relpath(raw, top) if raw.startswith(b"/") else os.path.normpath(raw)
    if b"\0" in raw or relative in (b".", b"..") or relative.startswith(b"../"):
        raise InvalidRequest(
            f"outside of the searched folder: {path[:200]!r}",
            next_step="Name changed files inside it, relative to it.",
        )
    return relative
