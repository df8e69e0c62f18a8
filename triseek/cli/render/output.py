"""Standard output as bytes, written in big pieces and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.world import to_stdout

if TYPE_CHECKING:
    from collections.abc import Callable

CHUNK = 1 << 18


class Output:
    """Collects pieces and writes them when there are enough."""

    def __init__(self, send: Callable[[bytes], None] = to_stdout, *, eager: bool = False) -> None:
        self.written = 0
        """Bytes accepted so far."""
        self._send = send
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
        """Hand everything over."""
        if self._pieces:
            # What cannot be sent is lost, and must not be sent again by whoever cleans up.
            pieces, self._pieces, self._pending = self._pieces, [], 0
            self._send(b"".join(pieces))
