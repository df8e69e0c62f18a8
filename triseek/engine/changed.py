"""Files somebody is working on: those a caller names, and what git has not committed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.files import containment, git
from triseek.files.root import git_root

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMED_MAX = 500
"""Paths of a caller that are looked at."""
UNCOMMITTED_MAX = 200
"""Where more files than this are not committed they say nothing of what is worked on."""


def changed_files(root: str, named: Iterable[str]) -> list[bytes]:
    """Return a caller's paths relative to the root, each once, in order; they need not exist.

    Links are resolved, for the tree's own names are what else is known of its files.

    Raises:
        InvalidRequest: a path names the root itself.
        PathRefused: a path leads out of the root, or names neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
    """
    found: dict[bytes, None] = {}
    for path in list(named)[:NAMED_MAX]:
        if path.strip():
            inside = containment.locate(root, path.strip())
            if inside.real == ".":
                raise InvalidRequest(
                    f"{path[:200]!r} is the searched folder itself",
                    next_step="Name changed files inside it, relative to it.",
                )
            found[os.fsencode(inside.real)] = None
    return list(found)


def uncommitted(root: str) -> list[bytes]:
    """Return what git says was changed or added since the last commit, sorted; often nothing."""
    if git_root(root) is None:
        return []
    head = git.head(root)
    changed = git.changed_since(root, head.commit) if head is not None and head.commit else None
    return changed if changed is not None and len(changed) <= UNCOMMITTED_MAX else []
