"""Reads the entries of a transcript that an agent keeps as JSON lines."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from triseek.agents.payloads.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Iterator

READ_MAX = 4 << 20
"""Bytes, from the end: an agent waits for the read, and what was shown long ago is not refused."""


def entries(path: str, *, without: tuple[bytes, ...] = ()) -> list[Fields] | None:
    """Return the objects of a file, in order; None if it cannot be read.

    Lines that are not JSON objects are skipped: the last one may be half written.
    without: beginnings of lines that need not be parsed.
    """
    data = _held(path)
    if data is None:
        return None
    return list(_parsed(data, without))


def _held(path: str) -> bytes | None:
    """Return the last bytes of a regular file, cut at a line's start if it is longer."""
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
            data = opened.read(READ_MAX)
    except OSError:
        return None
    finally:
        os.close(file)
    return data.partition(b"\n")[2] if cut else data


def _parsed(data: bytes, without: tuple[bytes, ...]) -> Iterator[Fields]:
    for line in data.split(b"\n"):
        if not line or (without and line.startswith(without)):
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            yield Fields(entry)
