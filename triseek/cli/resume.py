"""A command that a daemon has begun and left, done again from where it was left.

All of it is done anew, and what has been written is held back, once it has been seen that it is
the same. Where it is not (the tree has changed, or a time is in it), nothing can follow that would
make sense: one line says so.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from triseek.cli import status
from triseek.cli.fast import Written
from triseek.cli.world import World, to_stderr, to_stdout

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.fast import Left

DIFFERS = (
    "triseek: the daemon broke off in the middle of its answer, and what is found now begins "
    "otherwise. Search again."
)


class _Repeat:
    """A stream whose beginning has been written."""

    def __init__(self, written: Written, send: Callable[[bytes], None]) -> None:
        self.missing = written.size
        self._expected = written.digest.digest()
        self._seen = Written()
        self._send = send

    def write(self, piece: bytes) -> bool:
        """Send what is new of a piece; whether what is not new is as it was."""
        if self.missing:
            again, piece = piece[: self.missing], piece[self.missing :]
            self.missing -= len(again)
            self._seen.add(memoryview(again))
            if not self.missing and self._seen.digest.digest() != self._expected:
                return False
        if piece:
            self._send(piece)
        return True


class Resumed:
    """The streams of a command that is done again."""

    def __init__(self, left: Left) -> None:
        self._out = _Repeat(left.out, to_stdout)
        self._err = _Repeat(left.err, _to_stderr)
        self._differs = False
        self._nobody_reads = False

    def world(self) -> World:
        """The world of this process, but for what has been written."""
        return World.here()._replace(out=self._to_out, err=self._to_err)

    def finish(self, code: int) -> int:
        """The exit status of the whole, given that of the command."""
        whole = code in (status.FOUND, status.NOTHING, status.ERROR) and not self._nobody_reads
        if whole and (self._out.missing or self._err.missing):
            self._say_so()
        return status.ERROR if self._differs else code

    def _to_out(self, piece: bytes) -> None:
        if self._differs:
            raise BrokenPipeError  # ends the work: nothing of it can be shown
        try:
            same = self._out.write(piece)
        except BrokenPipeError:
            self._nobody_reads = True
            raise
        if not same:
            self._say_so()
            raise BrokenPipeError

    def _to_err(self, message: str) -> None:
        if not self._differs and not self._err.write(as_bytes(message)):
            self._say_so()

    def _say_so(self) -> None:
        if not self._differs:
            self._differs = True
            to_stderr(DIFFERS)


def as_bytes(message: str) -> bytes:
    """A line for standard error, as Python's own stream writes it."""
    return message.encode(errors="backslashreplace") + b"\n"


def _to_stderr(piece: bytes) -> None:
    try:
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()
    except OSError:
        return  # nobody listens; the status still speaks
