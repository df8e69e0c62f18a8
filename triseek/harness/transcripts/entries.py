"""The entries of a transcript that an agent keeps as JSON lines."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Entry: TypeAlias = dict[str, Any]
READ_MAX = 4 << 20
"""Bytes, from the end: an agent waits for it, and what was shown long ago is not refused."""


def entries(path: str, *, without: tuple[bytes, ...] = ()) -> list[Entry] | None:
    """The objects of a file, in order; None if it cannot be read.

    A line that is no object is passed over: the last one may be half written.
    without: how lines begin that need not be parsed.
    """
    held = _held(path)
    if held is None:
        return None
    return list(_parsed(held, without))


def _held(path: str) -> bytes | None:
    """The end of a regular file; whole lines if it is cut."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return None
        cut = max(0, status.st_size - READ_MAX)
        with os.fdopen(file, "rb", closefd=False) as opened:
            opened.seek(cut)
            held = opened.read(READ_MAX)
    except OSError:
        return None
    finally:
        os.close(file)
    return held.partition(b"\n")[2] if cut else held


def _parsed(held: bytes, without: tuple[bytes, ...]) -> Iterator[Entry]:
    for line in held.split(b"\n"):
        if not line or (without and line.startswith(without)):
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield entry
