"""What a terminal, an environment and a standard input say of themselves.

For `cli.world` and for `cli.fast`, which may import nothing.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def width(environ: Mapping[str, str]) -> int:
    """Columns of the terminal; 80 where nothing says."""
    columns = environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def plain(environ: Mapping[str, str]) -> bool:
    """Whether the environment asks for no colour."""
    return "NO_COLOR" in environ or environ.get("TERM", "dumb") == "dumb"


def stdin_readable() -> bool:
    """Whether standard input is a file, a pipe or a socket: something to search."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def space() -> str:
    """A name of the mounts this process sees; empty where the system has but one set of them."""
    try:
        return os.readlink("/proc/self/ns/mnt")
    except OSError:
        return ""


def user() -> list[int]:
    """Who this process is to the file system: user, group and further groups."""
    if not hasattr(os, "geteuid"):
        return []  # Windows: the daemon's folder is in the user's own profile
    return [os.geteuid(), os.getegid(), *sorted(set(os.getgroups()))]
