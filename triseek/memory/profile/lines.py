"""Splits what a descriptor delivers into lines of bounded length."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE_MAX = 16 << 20
"""Bytes of a line: a text of the most characters, all of them escaped, takes a tenth of it."""
_CHUNK = 1 << 16


def lines(descriptor: int) -> Iterator[bytes | None]:
    """Yield lines without their ends, and None for each that is longer than `LINE_MAX`.

    An error of reading is the end of the input.
    """
    begun = bytearray()
    is_skipping = False
    while chunk := _read(descriptor):
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            if not is_skipping:
                begun += part
                yield bytes(begun) if len(begun) <= LINE_MAX else None
            begun.clear()
            is_skipping = False
        if not is_skipping:
            begun += rest
        if len(begun) > LINE_MAX:
            yield None
            begun.clear()
            is_skipping = True
    if begun:
        yield bytes(begun)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
