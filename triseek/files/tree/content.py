"""Content fingerprints, to tell later whether a file has changed."""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, NamedTuple

from triseek.files import access

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 64 << 20
_PIECE = 1 << 20


class Content(NamedTuple):
    """Fingerprint of a file's bytes at one moment."""

    sha: str
    """SHA-256, in hex."""
    lines: int
    """The number of lines; the last one need not end with a newline."""
    size: int
    """The size in bytes."""


def look(path: str | Path) -> Content | None:
    """Read a regular file to its end and return its fingerprint; links are followed.

    Returns None if it is larger than `MOST_BYTES`, or is not a regular file.

    Raises:
        OSError: it cannot be read; `FileNotFoundError` if it does not exist.
    """
    return look_at(os.open(path, access.READ))


def look_at(descriptor: int) -> Content | None:
    """Read the file behind a descriptor, as `look` does, and close the descriptor."""
    digest, newlines, size, last = hashlib.sha256(), 0, 0, b"\n"
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        while piece := file.read(_PIECE):
            digest.update(piece)
            newlines += piece.count(b"\n")
            size += len(piece)
            last = piece[-1:]
            if size > MOST_BYTES:
                return None
    return Content(digest.hexdigest(), newlines + (last != b"\n"), size)
