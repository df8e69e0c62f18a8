"""The line protocol between an agent's pipe and its session, one connection per session.

Lines that the pipe sends; `data` is the agent's line without its end:

    N data    line number N
    ~N data   line N once more, to establish a new session: its answer is not sent to the agent
    .         there will be no more lines

Lines that the session sends:

    {...}     a message for the agent that settles no line
    N {...}   the answer to line N, for the agent
    =N        line N is settled and has no answer
    +N        line N establishes the session: keep a copy for the next one
    ?N {...}  line N may be sent again; this is the answer after too many losses
    !N {...}  line N must not be sent again; if its answer is lost, this is the answer
    %state    the state to send with the next handshake
    .         the session is over
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1
"""Version of this protocol; incremented when a line changes its meaning."""
LINE_MAX = 8 << 20
"""Limit of an agent's line in bytes. A longer one is cut to one byte more, and refused."""


class LineBuffer:
    """Splits a stream of bytes into lines."""

    __slots__ = ("_begun", "_most")

    def __init__(self, most: int = sys.maxsize) -> None:
        """Cut each line to `most` bytes."""
        self._begun = bytearray()
        self._most = most

    def add(self, data: bytes) -> Iterator[bytes]:
        """Yield the lines that `data` completes, without their line ends."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            self._begun += part
            yield bytes(self._begun[: self._most])
            self._begun.clear()
        self._begun += rest
        del self._begun[self._most :]

    def rest(self) -> bytes:
        """Return the line that has begun."""
        return bytes(self._begun)

    def clear(self) -> None:
        """Forget the line that has begun."""
        self._begun.clear()
