"""What git knows of a root: the hidden files that it tracks, and its linked working trees."""

from __future__ import annotations

import os
from threading import Lock
from typing import NamedTuple

from cachetools import LRUCache

from triseek.files.tree import git
from triseek.files.tree.root import git_root

ROOTS_MAX = 64
"""Roots whose hidden files are kept in memory."""
_HIDDEN = (":(glob)**/.*", ":(glob)**/.*/**")


class _Listing(NamedTuple):
    """Hidden files, and the state of git's index by which they were listed."""

    state: tuple[int, int, int] | None
    files: frozenset[bytes] | None


_listings: LRUCache[str, _Listing] = LRUCache(ROOTS_MAX)
_lock = Lock()


def hidden_files(root: str) -> frozenset[bytes] | None:
    """Return the hidden files below a root that git tracks, whether or not they exist.

    A file is hidden if a part of its path begins with a dot. Returns None if the root is in no
    repository, or git cannot be asked. The list is kept until git's index changes.
    """
    folder = _git_folder(root)
    if folder is None:
        return None
    state = _state(os.path.join(folder, b"index"))  # noqa: PTH118
    with _lock:
        kept = _listings.get(root)
    if kept is not None and kept.state == state:
        return kept.files
    output = git.ask(root, "ls-files", "-z", "--", *_HIDDEN)
    files = None if output is None else frozenset(filter(None, output.split(b"\0")))
    with _lock:
        _listings[root] = _Listing(state, files)
    return files


def worktrees_below(root: str) -> list[bytes]:
    """Return the linked working trees of a root's repository that lie below the root, sorted.

    They are other versions of the same files (`git worktree add`). Paths are relative to the root.
    """
    folder = _git_folder(root)
    if folder is None:
        return []
    common = _line(os.path.join(folder, b"commondir"))  # noqa: PTH118
    registry = os.path.join(folder, common or b"", b"worktrees")  # noqa: PTH118
    try:
        names = os.listdir(registry)  # noqa: PTH208 - bytes
    except OSError:
        return []
    links = (_line(os.path.join(registry, name, b"gitdir")) for name in names)  # noqa: PTH118
    trees = {os.path.realpath(os.path.dirname(link)) for link in links if link}  # noqa: PTH120
    inside = os.fsencode(root).rstrip(b"/") + b"/"
    return sorted(tree.removeprefix(inside) for tree in trees if tree.startswith(inside))


def _git_folder(root: str) -> bytes | None:
    """Return the folder with git's index of the working tree around a root; None if none."""
    top = git_root(root)
    if top is None:
        return None
    entry = os.path.join(os.fsencode(top), b".git")  # noqa: PTH118
    if os.path.isdir(entry):  # noqa: PTH112
        return entry
    line = _line(entry)
    if line is None or not line.startswith(b"gitdir: "):
        return None
    return os.path.join(os.fsencode(top), line.removeprefix(b"gitdir: "))  # noqa: PTH118


def _state(path: bytes) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _line(path: bytes) -> bytes | None:
    """Return a file's only line; None if it cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(4096).strip() or None
    except OSError:
        return None
