"""What a file holds, as far as it takes to tell later whether it still does."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64 << 20
_PIECE = 1 << 20
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class Content(NamedTuple):
    """The bytes of a file at one moment, by what they come to."""

    sha: str
    """SHA-256, in hex."""
    lines: int
    """How many; the last one need not end."""
    size: int
    """Bytes."""


def look(path: str | Path) -> Content | None:
    """Read a regular file to its end; links are followed.

    None for one that is larger than `MOST_BYTES`, or is no regular file.

    Raises:
        OSError: it cannot be read; `FileNotFoundError` if it is not there.
    """
    return look_at(os.open(path, _FLAGS))


def look_at(descriptor: int) -> Content | None:
    """Read what a descriptor is open for, as `look` does, and close it."""
    digest, newlines, size, last = hashlib.sha256(), 0, 0, b"\n"
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            return None
        while piece := file.read(_PIECE):
            digest.update(piece)
            newlines += piece.count(b"\n")
            size += len(piece)
            last = piece[-1:]
            if size > MOST_BYTES:
                return None
    return Content(digest.hexdigest(), newlines + (last != b"\n"), size)
