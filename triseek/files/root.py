"""Which folder is searched, and under which key its state is kept."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

import xxhash

from triseek.errors import RepoNotDetected


class Root(NamedTuple):
    """An existing folder in its one spelling."""

    path: str
    """Absolute, links resolved; what is not UTF-8 is in surrogates (`os.fsencode` undoes it)."""
    key: str
    """Name of its state folder: `<slug>-<16 hex digits>`."""


def resolve(path: str | bytes | os.PathLike[str]) -> Root:
    """Find the folder `path` leads to; every spelling of it gives the same root.

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
    """A descriptor of a root that was there a moment ago.

    Raises:
        RepoNotDetected: It is there no more.
    """
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise RepoNotDetected(f"cannot search {path!r}: {error.strerror}") from error


def key(canonical: bytes) -> str:
    """Name the state folder of a canonical path: readable, and unique by its hash."""
    name = os.path.basename(canonical).decode("utf-8", "replace")  # noqa: PTH119 - bytes
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") if name else "root"
    return f"{slug}-{xxhash.xxh3_64_hexdigest(canonical)}"


def git_root(path: str | bytes | os.PathLike[str]) -> str | None:
    """The nearest folder at or above `path` that holds `.git`; `None` outside of repositories."""
    folder = os.path.realpath(os.fsencode(path))
    while not os.path.lexists(folder.rstrip(b"/") + b"/.git"):
        parent = os.path.dirname(folder)  # noqa: PTH120 - bytes
        if parent == folder:
            return None
        folder = parent
    return os.fsdecode(folder)
