"""Describe this process to the daemon: terminal, environment, place in the file system.

Used by the fast path and the pipe, so it imports nothing heavy.
"""

from __future__ import annotations

import os
import stat

from triseek import __version__
from triseek.ipc import wire

try:
    from _json import encode_basestring_ascii
except ImportError:  # an interpreter without the C module
    from json.encoder import encode_basestring_ascii

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

RULES = ("HOME", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH")
"""Variables that set the ignore rules of git and rg, besides those that begin with GIT_CONFIG."""
WORKFLOWS = (
    "ZOEKT_API_URL", "TRISEEK_ZOEKT_API_URL",
    "EXECUTION_TIMEOUT_DEFAULT", "EXECUTION_TIMEOUT_MAX",
    "EXECUTION_STDOUT_MAX_BYTES", "EXECUTION_STDERR_MAX_BYTES",
)  # fmt: skip
"""Variables that say which cluster an agent's workflows search, and how long they may run."""
_WORKFLOWS = ("TRISEEK_ZOEKT_", "TRISEEK_WORKFLOWS_")
"""How all of our own variables for workflows and clusters begin."""
quoted = encode_basestring_ascii
"""Encode a string as JSON. Importing `json` takes longer than an answer of the daemon."""


def width(environ: Mapping[str, str]) -> int:
    """Return the columns of the terminal; 80 if unknown."""
    columns = environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def plain(environ: Mapping[str, str]) -> bool:
    """Return whether the environment asks for output without colour."""
    return "NO_COLOR" in environ or environ.get("TERM", "dumb") == "dumb"


def stdin_readable() -> bool:
    """Return whether standard input can be searched: a file, a pipe or a socket."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def space() -> str:
    """Return the id of this process's mount namespace; "" where the system has no namespaces."""
    try:
        return os.readlink("/proc/self/ns/mnt")
    except OSError:
        return ""


def user() -> list[int]:
    """Return the effective user id, the effective group id and the supplementary groups, sorted."""
    if not hasattr(os, "geteuid"):
        return []  # Windows: the daemon's folder is in the user's own profile
    return [os.geteuid(), os.getegid(), *sorted(set(os.getgroups()))]


def place(names: Collection[str] = RULES) -> str:
    """Return this process's working folder, root, user and environment as members of a JSON object.

    names: The environment variables to include, besides those that begin with GIT_CONFIG.

    Raises:
        OSError: the working folder is gone.
    """
    here, top = os.stat(os.curdir), os.stat("/")
    variables = ",".join(
        f"{quoted(name)}:{quoted(value)}" for name, value in chosen(names, os.environ).items()
    )
    return (
        f'"cwd":{quoted(os.getcwd())},"cwd_id":[{here.st_dev},{here.st_ino}],'
        f'"root_id":[{top.st_dev},{top.st_ino}],"space":{quoted(space())},'
        f'"user":{user()},"environ":{{{variables}}}'
    )


def chosen(names: Collection[str], environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of these names and all that begin with GIT_CONFIG."""
    return {
        name: value
        for name, value in environ.items()
        if name in names or name.startswith("GIT_CONFIG")
    }


def of_workflows(environ: Iterable[str]) -> tuple[str, ...]:
    """Return the names of variables that hold settings of workflows and of clusters."""
    return tuple(name for name in environ if name in WORKFLOWS or name.startswith(_WORKFLOWS))


def request(verb: str, params: str) -> bytes:
    """Return the payload of a request; `params` are the members of its parameters as JSON."""
    head = f'"protocol":{wire.PROTOCOL},"version":{quoted(__version__)},"verb":{quoted(verb)}'
    return f'{{{head},"params":{{{params}}}}}'.encode("ascii")
