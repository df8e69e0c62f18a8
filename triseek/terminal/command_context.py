"""The context of a command: working folder, terminal, streams, buffered output.

A command reads the state of its process only through its context, so that the daemon can run many
commands, for many clients, in threads of one process.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.ipc import surroundings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


CHUNK = 1 << 18
"""Bytes that `Output` collects before it writes them."""
_OF_A_PROCESS = ("/dev/", "/proc/")


class NeedsClient(Exception):
    """Only the process that the user started can run the command; no output is written yet."""


def to_stdout(piece: bytes) -> None:
    """Write to this process's standard output and flush it."""
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def to_stderr(message: str) -> None:
    """Write a line to this process's standard error; ignore a failure."""
    try:
        print(message, file=sys.stderr)
    except OSError:
        return  # nobody reads it; the exit status still reports the error


def _from_stdin() -> bytes:
    return sys.stdin.buffer.read()


def _device_of_proc() -> int:
    """Return `st_dev` of /proc; -1 if there is none."""
    try:
        return os.stat("/proc").st_dev
    except OSError:
        return -1


class CommandContext(NamedTuple):
    """Everything a command depends on besides its arguments; a test can make one up."""

    terminal: bool
    """Standard output is a terminal."""
    width: int
    """Columns of the terminal."""
    plain: bool
    """The environment asks for no colour."""
    stdin_readable: bool
    """Standard input is a file, a pipe or a socket: something to search."""
    cwd: str = ""
    """The working folder, absolute; empty for that of this process."""
    out: Callable[[bytes], None] = to_stdout
    """Writes to standard output at once. Raises `BrokenPipeError` if the reader has left."""
    err: Callable[[str], None] = to_stderr
    """Writes a line to standard error; adds the line end."""
    read_stdin: Callable[[], bytes] = _from_stdin
    """Returns all of standard input. Raises `NeedsClient` if it is another process's."""
    check: Callable[[], None] = lambda: None
    """Called where a search may stop. Raises `BrokenPipeError` if nobody waits for the answer.

    By default it does nothing, as writing shows whether the reader has left.
    """
    stdin: int = 0
    """Descriptor of standard input; used only if `has_stdin`."""
    has_stdin: bool = True
    """This process has the standard input of the process that the user started."""
    is_remote: bool = False
    """The command was started as another process, and runs here on its behalf."""
    encoding: str = "utf-8"
    """Of the text that `print` writes."""
    environ: Mapping[str, str] = os.environ
    """Environment variables that hold settings of workflows and of clusters."""
    kept: Any = None
    """What the daemon keeps for the verb's wing; None in a process that the user started."""

    @classmethod
    def here(cls) -> CommandContext:
        """The context of this process."""
        return cls(
            terminal=sys.stdout.isatty(),
            width=surroundings.width(os.environ),
            plain=surroundings.plain(os.environ),
            stdin_readable=surroundings.stdin_readable(),
            encoding=sys.stdout.encoding or "utf-8",
        )

    def print(self, text: str) -> None:
        """Write a text and a line end. Raises `BrokenPipeError` if the reader has left."""
        self.out(f"{text}\n".encode(self.encoding, "backslashreplace"))

    def at(self, typed: str) -> str:
        """Return a typed path in the form in which this process can open it."""
        return os.path.join(self.cwd, typed) if typed else ""

    def stat(self, typed: str) -> os.stat_result:
        """Return the `os.stat` result of a typed path, links followed.

        Raises:
            NeedsClient: The command runs for another process, and the path names a device, a FIFO
                or a socket, which only that process may wait for; or a file of /dev or /proc,
                which may be another one there (`/dev/stdin`, `/dev/fd/63`, `/proc/self/maps`).
            OSError: The path does not exist, or it cannot be looked up.
            ValueError: The path holds a NUL.
        """
        path = self.at(typed)
        if self.is_remote and os.path.normpath(path).startswith(_OF_A_PROCESS):
            raise NeedsClient("special file")
        status = os.stat(path)
        is_plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        if self.is_remote and (not is_plain or status.st_dev == _device_of_proc()):
            raise NeedsClient("special file")
        return status

    def folder(self, typed: str = "") -> str:
        """Return the canonical path of a typed folder; "" is the working folder."""
        return os.path.realpath(self.at(typed or os.curdir))


class Output:
    """Buffered standard output: collects pieces, writes them when there are enough, counts them."""

    def __init__(self, send: Callable[[bytes], None] = to_stdout, *, eager: bool = False) -> None:
        self.written = 0
        """Bytes accepted so far."""
        self._send = send
        self._eager = eager
        self._pieces: list[bytes] = []
        self._pending = 0

    def write(self, piece: bytes) -> None:
        """Accept a piece. Raises `BrokenPipeError` if the reader has left."""
        self.written += len(piece)
        self._pending += len(piece)
        self._pieces.append(piece)
        if self._eager or self._pending >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write all collected pieces."""
        if self._pieces:
            # Pieces that cannot be sent are lost, and a later clean-up must not send them again.
            pieces, self._pieces, self._pending = self._pieces, [], 0
            self._send(b"".join(pieces))
