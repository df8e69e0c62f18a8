"""The world around a command: terminal, environment, standard input."""

from __future__ import annotations

import os
import stat
import sys
from typing import NamedTuple


class World(NamedTuple):
    """What the decision depends on besides the words; a test can make one up."""

    terminal: bool
    """Standard output is a terminal."""
    width: int
    """Its columns."""
    plain: bool
    """The environment asks for no colour."""
    stdin_readable: bool
    """Standard input is a file, a pipe or a socket: something to search."""

    @classmethod
    def here(cls) -> World:
        """The world this process is in."""
        return cls(
            terminal=sys.stdout.isatty(),
            width=_width(),
            plain="NO_COLOR" in os.environ or os.environ.get("TERM", "dumb") == "dumb",
            stdin_readable=_stdin_readable(),
        )


def _stdin_readable() -> bool:
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80
