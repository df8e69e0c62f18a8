"""The command line on behalf of a client, in a thread of the daemon.

A client sends its words and what surrounds it; the same code runs as in a process of its own, and
its output is streamed back. What would come out differently here is declined, with a reason, before
anything is written, and the client does it itself: another view of the file system, other settings
of git, standard input to be read. Nothing of a request is trusted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from triseek.cli import status, surroundings
from triseek.cli.edge import settled
from triseek.cli.quick import HOOKS, is_quick, perform
from triseek.cli.resume import as_bytes
from triseek.cli.world import NeedsClient, World
from triseek.daemon.server import Declined
from triseek.errors import Cancelled
from triseek.files.ignore import global_excludes_path
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.daemon.streams import Streams
    from triseek.service.observing import Observer
    from triseek.service.service import Service

WIDTH_MAX = 100_000
"""Columns no terminal has."""
WORDS_MAX = 100_000
PATH_MAX = 4096
"""Bytes of the longest path a system call takes; a working folder put in front may exceed it."""
COMPARED = ("HOME", "XDG_CONFIG_HOME", "RIPGREP_CONFIG_PATH")
"""Variables that decide which files are searched: rules of git and rg. GIT_CONFIG* too."""


class _Malformed(Exception):
    """A request that no client of ours sends."""


class Client(NamedTuple):
    """A request, its types and sizes checked."""

    words: list[str]
    cwd: str
    cwd_id: list[int]
    root_id: list[int]
    space: str
    user: list[int]
    terminal: bool
    width: int
    stdin: bool
    environ: dict[str, str]
    input: bytes | None
    """Standard input, where the client sent it along."""


def answer(
    service: Service,
    params: Mapping[str, object],
    streams: Streams,
    observer: Observer | None = None,
) -> int | Declined:
    """Do what the client's words say, as `cli.main` does, and return the exit status.

    Args:
        service: shared with every other request, left open.
        params: of the request, unchecked.
        streams: the way to the client, written to while this call lasts.
        observer: takes in what agents' hooks tell; without one nothing is done with it.

    A client that has gone ends the work at the next output, and 0 is returned to nobody.
    """
    try:
        client = read(params)
    except _Malformed:
        return Declined("malformed")
    reason = _obstacle(client)
    if reason:
        return Declined(reason)
    world = _world(client, streams)
    try:
        if client.words[0] in HOOKS:
            return _observe(client, world, observer)
        with budget.limited(ask=lambda: _stop_if_gone(streams)):
            return settled(lambda: _perform(client, world, service), world.err, client.words)
    except NeedsClient as error:
        return Declined(str(error))
    except (BrokenPipeError, Cancelled):
        return status.FOUND


def _stop_if_gone(streams: Streams) -> None:
    """Raise where nobody waits for the answer.

    Raises:
        Cancelled: the client has left.
    """
    if streams.gone():
        raise Cancelled("the client is gone")


def _observe(client: Client, world: World, observer: Observer | None) -> int:
    if observer is None:
        return status.FOUND
    from triseek.cli.commands.hook import hook

    session = client.environ.get("TRISEEK_SESSION_ID", "")
    return hook(client.words, world, observer, session)


def _world(client: Client, streams: Streams) -> World:
    def check() -> None:
        if streams.gone():
            raise BrokenPipeError

    return World(
        terminal=client.terminal,
        width=client.width,
        plain=surroundings.plain(client.environ),
        stdin_readable=client.stdin,
        cwd=client.cwd,
        out=streams.out,
        err=lambda message: streams.err(as_bytes(message)),
        check=check,
        read_stdin=_no_stdin if client.input is None else lambda: client.input or b"",
        has_stdin=False,
        is_remote=True,
    )


def _no_stdin() -> bytes:
    raise NeedsClient("stdin")


# What stands in the way


def _obstacle(client: Client) -> str:
    """Why this cannot be done here: one word, "" if it can."""
    words = client.words
    if not is_quick(words) or "--no-daemon" in words:
        return "words"
    if not _sees_what_we_see(client):
        return "place"
    if words[0] in HOOKS:
        return ""  # nothing is searched
    if not _has_our_rules(client.environ):
        return "environ"
    asks_for_road = any(word.startswith("--engine") for word in words)
    if asks_for_road and client.environ.get("PATH") != os.environ.get("PATH"):
        return "path"  # it decides whether there is an rg
    return "long" if _grows_too_long(client) else ""


def _sees_what_we_see(client: Client) -> bool:
    """Whether a path means the same file to the client, and may be read by both or by neither."""
    try:
        here, top = os.stat(client.cwd), os.stat("/")
    except (OSError, ValueError):
        return False
    return (
        client.cwd_id == [here.st_dev, here.st_ino]
        and client.root_id == [top.st_dev, top.st_ino]
        and client.space == surroundings.space()
        and client.user == surroundings.user()
    )


def _has_our_rules(environ: Mapping[str, str]) -> bool:
    excludes = global_excludes_path()
    if excludes is not None and not excludes.startswith(b"/"):
        return False  # counts from a working folder: the client's
    return _rules(environ) == _our_rules()


def _our_rules() -> dict[str, str]:
    """`_rules` of this process, without decoding all of its environment for each request."""
    others = [name for name in os.environb if name.startswith(b"GIT_CONFIG")]
    names = [*COMPARED, *map(os.fsdecode, others)]
    return {name: os.environ[name] for name in names if name in os.environ}


def _rules(environ: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in environ.items()
        if name in COMPARED or name.startswith("GIT_CONFIG")
    }


def _grows_too_long(client: Client) -> bool:
    """Whether a word that may be a path is one by itself, but not behind the working folder."""
    lead = len(os.fsencode(client.cwd)) + 1
    sizes = [len(os.fsencode(word)) for word in client.words]
    return any(size < PATH_MAX <= lead + size for size in sizes)


# The request


def _perform(client: Client, world: World, service: Service) -> int:
    code = perform(client.words, world, service)
    if code is None:
        raise NeedsClient("words")
    return code


def read(params: Mapping[str, object]) -> Client:
    """Check a request's types and sizes.

    Raises:
        _Malformed: it is none of ours.
    """
    environ = params.get("environ")
    if not isinstance(environ, dict):
        raise _Malformed
    client = Client(
        words=_strings(params.get("words")),
        cwd=_string(params.get("cwd")),
        cwd_id=_numbers(params.get("cwd_id")),
        root_id=_numbers(params.get("root_id")),
        space=_string(params.get("space")),
        user=_numbers(params.get("user")),
        terminal=_bool(params.get("terminal")),
        width=_numbers([params.get("width")])[0],
        stdin=_bool(params.get("stdin")),
        environ={_string(name): _string(value) for name, value in environ.items()},
        input=_bytes(params.get("input")),
    )
    if not (client.words and os.path.isabs(client.cwd) and 0 < client.width <= WIDTH_MAX):
        raise _Malformed
    return client


def _strings(value: object) -> list[str]:
    if not isinstance(value, list) or len(value) > WORDS_MAX:
        raise _Malformed
    return [_string(each) for each in value]


def _string(value: object) -> str:
    """A string as a process is given them: bytes, decoded, with no NUL."""
    try:
        if isinstance(value, str) and b"\0" not in os.fsencode(value):
            return value
    except UnicodeEncodeError:
        pass
    raise _Malformed


def _bytes(value: object) -> bytes | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            return os.fsencode(value)
    except UnicodeEncodeError:
        pass
    raise _Malformed


def _numbers(value: object) -> list[int]:
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise _Malformed
    return value


def _bool(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Malformed
    return value
