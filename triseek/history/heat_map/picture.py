"""A picture of rectangles and text, written as PNG.

A library for pictures would bring megabytes for two kinds of shapes; PNG itself is a header, a
checksum and what `zlib` does. See the PNG specification (W3C), sections 5 and 11.
"""

from __future__ import annotations

import struct
import zlib
from typing import TypeAlias

import numpy as np

from triseek.history.heat_map import strokes

Color: TypeAlias = tuple[int, int, int]


class Picture:
    """Pixels of a picture, rows by columns by red, green and blue."""

    def __init__(self, width: int, height: int, ground: Color) -> None:
        self._pixels = np.empty((height, width, 3), dtype=np.uint8)
        self._pixels[:] = ground

    def rectangle(self, x: int, y: int, width: int, height: int, color: Color) -> None:
        """Fill a rectangle; what is outside the picture is cut off."""
        self._pixels[max(y, 0) : max(y + height, 0), max(x, 0) : max(x + width, 0)] = color

    def text(self, x: int, y: int, text: str, color: Color, unit: float = 2.0) -> None:
        """Write a text whose capitals begin at a point; what is outside is cut off.

        unit: Pixels of a unit of the letters' grid; capitals are 6 units high.
        """
        margin = round(unit)
        for number, character in enumerate(text):
            left = x + round(number * strokes.ADVANCE * unit) - margin
            top = y - margin
            covered = strokes.glyph(character, unit)
            if left < 0 or top < 0:
                continue
            place = self._pixels[top : top + covered.shape[0], left : left + covered.shape[1]]
            part = covered[: place.shape[0], : place.shape[1], None]
            place[:] = np.rint(place * (1 - part) + np.array(color) * part)

    def png(self) -> bytes:
        """Return the picture as a PNG file: 8 bits a colour, not interlaced."""
        height, width, _ = self._pixels.shape
        rows = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # 0: a row without a filter
        rows[:, 1:] = self._pixels.reshape(height, 3 * width)
        return b"".join(
            (
                b"\x89PNG\r\n\x1a\n",
                _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
                _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
                _chunk(b"IEND", b""),
            )
        )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
