"""Files being worked on: those that a caller names, and uncommitted changes in git."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.files import containment
from triseek.files.tree import git
from triseek.files.tree.root import git_root

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMED_MAX = 500
"""Paths accepted from a caller; further ones are ignored."""
UNCOMMITTED_MAX = 200
"""Uncommitted files beyond which they do not indicate what is worked on, and are ignored."""


def changed_files(root: str, named: Iterable[str]) -> list[bytes]:
    """Return a caller's paths relative to the root, each once, in order; they need not exist.

    Links are resolved, because all other data uses the tree's own names.

    Raises:
        InvalidRequest: a path names the root itself.
        PathRefused: a path leads out of the root, or names neither a regular file nor a folder.
        RepoNotDetected: the root is gone.
    """
    paths: dict[bytes, None] = {}
    for path in list(named)[:NAMED_MAX]:
        if path.strip():
            location = containment.locate(root, path.strip())
            if location.real == ".":
                raise InvalidRequest(
                    f"{path[:200]!r} is the searched folder itself",
                    next_step="Name changed files inside it, relative to it.",
                )
            paths[os.fsencode(location.real)] = None
    return list(paths)


def uncommitted(root: str) -> list[bytes]:
    """Return the files that git reports as changed or added since the last commit, sorted.

    Empty without git, without a commit, or beyond `UNCOMMITTED_MAX` files.
    """
    if git_root(root) is None:
        return []
    head = git.head(root)
    changed = git.changed_since(root, head.commit) if head is not None and head.commit else None
    return changed if changed is not None and len(changed) <= UNCOMMITTED_MAX else []
