"""Standard output as bytes, written in big pieces and counted."""

from __future__ import annotations

import sys

CHUNK = 1 << 18


class Output:
    """Collects pieces and writes them when there are enough."""

    def __init__(self, *, eager: bool = False) -> None:
        self.written = 0
        """Bytes accepted so far."""
        self._eager = eager
        self._pieces: list[bytes] = []
        self._pending = 0

    def write(self, piece: bytes) -> None:
        """Accept a piece. Raises `BrokenPipeError` when nobody reads any more."""
        self.written += len(piece)
        self._pending += len(piece)
        self._pieces.append(piece)
        if self._eager or self._pending >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Hand everything to the operating system."""
        if self._pieces:
            sys.stdout.buffer.write(b"".join(self._pieces))
            self._pieces.clear()
            self._pending = 0
        sys.stdout.buffer.flush()
