"""Roots: the folder that is searched, and the key of its state folder."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import xxhash

from triseek.errors import RepoNotDetected


class Root(NamedTuple):
    """An existing folder by its canonical path."""

    path: str
    """Absolute, links resolved. Bytes that are not UTF-8 are surrogates (see `os.fsencode`)."""
    key: str
    """Name of its state folder: `<slug>-<16 hex digits>`."""


def resolve(path: str | bytes | os.PathLike[str]) -> Root:
    """Return the root for `path`. All paths of one folder give the same root.

    Raises:
        RepoNotDetected: There is no such folder.
    """
    raw = os.fsencode(path)
    shown = os.fsdecode(raw)
    try:
        canonical = os.path.realpath(raw, strict=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RepoNotDetected(f"cannot search {shown!r}: {reason}") from error
    if not os.path.isdir(canonical):  # noqa: PTH112 - bytes
        raise RepoNotDetected(f"cannot search {shown!r}: not a folder")
    return Root(os.fsdecode(canonical), key(canonical))


def open_folder(path: str) -> int:
    """Open a root that existed a moment ago and return its descriptor.

    Raises:
        RepoNotDetected: It cannot be opened any more.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise RepoNotDetected(f"cannot search {path!r}: {error.strerror}") from error


def key(canonical: bytes) -> str:
    """Return the name of a canonical path's state folder: a readable slug and a unique hash."""
    name = os.path.basename(canonical).decode("utf-8", "replace")  # noqa: PTH119 - bytes
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") if name else "root"
    return f"{slug}-{xxhash.xxh3_64_hexdigest(canonical)}"


def git_root(path: str | bytes | os.PathLike[str]) -> str | None:
    """Return the nearest folder at or above `path` that holds `.git`; `None` if there is none."""
    folder = os.path.realpath(os.fsencode(path))
    while not os.path.lexists(folder.rstrip(b"/") + b"/.git"):
        parent = os.path.dirname(folder)  # noqa: PTH120 - bytes
        if parent == folder:
            return None
        folder = parent
    return os.fsdecode(folder)


def main_tree(folder: str) -> str:
    """Return the main working tree of the repository around a folder; itself if there is none."""
    root = git_root(folder)
    if root is None:
        return folder
    try:  # in a linked working tree, `.git` is a file that points to the main one's
        pointer = Path(root, ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        linked = Path(root, pointer)
        common = (linked / (linked / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return root
    return str(common.parent) if common.name == ".git" else root
