"""The world around a command: where it stands, its terminal, its streams.

A command reads nothing of the process it runs in but by way of its world, so that the daemon can
run many of them, for many clients, in threads of one process.
"""

from __future__ import annotations

import os
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

from triseek.cli import surroundings

if TYPE_CHECKING:
    from collections.abc import Callable


_OF_A_PROCESS = ("/dev/", "/proc/")


class NeedsClient(Exception):
    """Only the process the user started can go on; nothing has been written yet."""


def to_stdout(piece: bytes) -> None:
    """Write to this process's standard output, now."""
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def to_stderr(message: str) -> None:
    """Write a line to this process's standard error, if anybody listens."""
    try:
        print(message, file=sys.stderr)
    except OSError:
        return  # nobody listens; the status still speaks


def _unchecked() -> None:
    """A reader of this process's output makes itself felt when it is written to."""


def _from_stdin() -> bytes:
    return sys.stdin.buffer.read()


def _device_of_proc() -> int:
    """`st_dev` of /proc; -1 where there is none."""
    try:
        return os.stat("/proc").st_dev
    except OSError:
        return -1


class World(NamedTuple):
    """What a command depends on besides its words; a test can make one up."""

    terminal: bool
    """Standard output is a terminal."""
    width: int
    """Its columns."""
    plain: bool
    """The environment asks for no colour."""
    stdin_readable: bool
    """Standard input is a file, a pipe or a socket: something to search."""
    cwd: str = ""
    """The working folder, absolute; empty for that of this process."""
    out: Callable[[bytes], None] = to_stdout
    """Writes to standard output at once. Raises `BrokenPipeError` when nobody reads any more."""
    err: Callable[[str], None] = to_stderr
    """Writes a line to standard error; its end is added."""
    read_stdin: Callable[[], bytes] = _from_stdin
    """All of standard input. Raises `NeedsClient` where that is another process's."""
    check: Callable[[], None] = _unchecked
    """Called where a search may stop. Raises `BrokenPipeError` when nobody waits for the answer."""
    stdin: int = 0
    """Descriptor of standard input; used where `has_stdin` only."""
    has_stdin: bool = True
    """This process has the standard input of the one that was started."""
    is_remote: bool = False
    """The command was typed in another process, and runs here on its behalf."""

    @classmethod
    def here(cls) -> World:
        """The world this process is in."""
        return cls(
            terminal=sys.stdout.isatty(),
            width=surroundings.width(os.environ),
            plain=surroundings.plain(os.environ),
            stdin_readable=surroundings.stdin_readable(),
        )

    def at(self, typed: str) -> str:
        """A path as it was typed, as this process can open it."""
        return os.path.join(self.cwd, typed) if typed else ""

    def stat(self, typed: str) -> os.stat_result:
        """The status of what a typed path leads to, links followed.

        Raises:
            NeedsClient: The command runs for another process, and the path names a device, a FIFO
                or a socket, which that process alone may wait for; or a file of /dev or /proc,
                which may be another one there (`/dev/stdin`, `/dev/fd/63`, `/proc/self/maps`).
            OSError: There is nothing, or it cannot be looked up.
            ValueError: It holds a NUL.
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
        """The canonical path of a folder that was typed; nothing typed is the working folder."""
        return os.path.realpath(self.at(typed or os.curdir))
