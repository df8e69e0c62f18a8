"""Run a command again whose output the daemon began and broke off, and continue the output.

The whole command runs again, and the output that was already written is dropped, after a check
that it is the same. If it differs (the tree has changed, or it holds a time), no continuation
would make sense, and one line says so.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from triseek.cli.fast import WrittenOutput
from triseek.terminal import status
from triseek.terminal.command_context import CommandContext, to_stderr, to_stdout

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.fast import Left

DIFFERS = (
    "triseek: the daemon broke off in the middle of its answer, and what is found now begins "
    "otherwise. Search again."
)


class _Repeat:
    """A stream whose beginning has already been written."""

    def __init__(self, written: WrittenOutput, send: Callable[[bytes], None]) -> None:
        self.missing = written.size
        self._expected = written.digest.digest()
        self._seen = WrittenOutput()
        self._send = send

    def write(self, piece: bytes) -> bool:
        """Send the new part of a piece; return whether the repeated part is the same as before."""
        if self.missing:
            again, piece = piece[: self.missing], piece[self.missing :]
            self.missing -= len(again)
            self._seen.add(memoryview(again))
            if not self.missing and self._seen.digest.digest() != self._expected:
                return False
        if piece:
            self._send(piece)
        return True


class ResumedCommand:
    """The streams of a command that runs again."""

    def __init__(self, left: Left) -> None:
        self._out = _Repeat(left.out, to_stdout)
        self._err = _Repeat(left.err, _to_stderr)
        self._differs = False
        self._nobody_reads = False

    def context(self) -> CommandContext:
        """Return the context of this process, with streams that drop what was already written."""
        return CommandContext.here()._replace(out=self._to_out, err=self._to_err)

    def finish(self, code: int) -> int:
        """Return the exit status of the whole, from that of the repeated command."""
        whole = code in (status.FOUND, status.NOTHING, status.ERROR) and not self._nobody_reads
        if whole and (self._out.missing or self._err.missing):
            self._say_so()
        return status.ERROR if self._differs else code

    def _to_out(self, piece: bytes) -> None:
        if self._differs:
            raise BrokenPipeError  # ends the work: its output cannot be shown
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
    """Return a line for standard error, encoded as Python's own stream does."""
    return message.encode(errors="backslashreplace") + b"\n"


def _to_stderr(piece: bytes) -> None:
    try:
        sys.stderr.buffer.write(piece)
        sys.stderr.buffer.flush()
    except OSError:
        return  # nobody reads it; the exit status still reports the error
