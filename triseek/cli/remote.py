"""Run the command line on behalf of a client, in a thread of the daemon.

A client sends its arguments and its environment; the same code runs as in a process of its own, and
its output is streamed back. A command whose output would differ here is declined, with a reason,
before anything is written, and the client runs it itself: another view of the file system, other
settings of git, standard input to be read. Nothing in a request is trusted.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.app import wings
from triseek.cli.error_boundary import settled
from triseek.cli.quick import HOOKS, is_quick, perform
from triseek.cli.resume import as_bytes
from triseek.daemon import client_environment
from triseek.daemon.client_environment import ClientEnvironment, MalformedRequest
from triseek.daemon.server import Declined
from triseek.errors import Cancelled
from triseek.ipc import surroundings
from triseek.model import budget
from triseek.terminal import status
from triseek.terminal.command_context import CommandContext, NeedsClient

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.app.hook_handler import HookHandler
    from triseek.daemon.streams import Streams
    from triseek.engine.service import Service

WIDTH_MAX = 100_000
"""Most columns accepted; no terminal has so many."""
PATH_MAX = 4096
"""Bytes of the longest path a system call takes; one prefixed by a working folder may be longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Client(ClientEnvironment):
    """A request whose types and sizes have been checked."""

    words: list[str]
    terminal: bool
    width: int
    stdin: bool
    input: bytes | None
    """Standard input, if the client sent it."""


def answer(
    service: Service,
    params: Mapping[str, object],
    streams: Streams,
    hook_handler: HookHandler | None = None,
    kept: Mapping[str, object] | None = None,
) -> int | Declined:
    """Run the client's command, as `cli.main` does, and return the exit status.

    Args:
        service: Shared with every other request, left open.
        params: Parameters of the request, unchecked.
        streams: Streams to the client, written to while this call lasts.
        hook_handler: Handles the events of agents' hooks; without one they are ignored.
        kept: By verb, what the daemon keeps for the wings whose commands it runs.

    If the client has left, the work ends at the next output, and 0 is returned.
    """
    try:
        client = read(params)
    except MalformedRequest:
        return Declined("malformed")
    reason = _obstacle(client)
    if reason:
        return Declined(reason)
    if wings.is_quick(client.words) and client.words[0] not in (kept or {}):
        return Declined("words")
    context = _command_context(client, streams)._replace(kept=(kept or {}).get(client.words[0]))

    def perform_words() -> int:
        code = perform(client.words, context, service)
        if code is None:
            raise NeedsClient("words")
        return code

    try:
        if client.words[0] in HOOKS:
            if hook_handler is None:
                return status.FOUND
            from triseek.cli.commands.hook import hook

            session = client.environ.get("TRISEEK_SESSION_ID", "")
            return hook(client.words, context, hook_handler, session)
        with budget.limited(ask=lambda: _stop_if_gone(streams)):
            return settled(perform_words, context.err, client.words)
    except NeedsClient as error:
        return Declined(str(error))
    except (BrokenPipeError, Cancelled):
        return status.FOUND


def _stop_if_gone(streams: Streams) -> None:
    """Raise if nobody waits for the answer.

    Raises:
        Cancelled: The client has left.
    """
    if streams.gone():
        raise Cancelled("the client is gone")


def _command_context(client: Client, streams: Streams) -> CommandContext:
    def check() -> None:
        if streams.gone():
            raise BrokenPipeError

    is_quick_verb = wings.is_quick(client.words)
    return CommandContext(
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
        environ=client_environment.of_workflows(client.environ) if is_quick_verb else os.environ,
    )


def _no_stdin() -> bytes:
    raise NeedsClient("stdin")


# Reasons to decline


def _obstacle(client: Client) -> str:
    """Return why the command cannot run here, as one word; "" if it can."""
    words = client.words
    if not is_quick(words) or "--no-daemon" in words:
        return "words"
    if not client_environment.is_shared(client):
        return "place"
    if words[0] in HOOKS:
        return ""  # nothing is searched
    if not client_environment.has_our_rules(client):
        return "environ"
    asks_for_backend = any(word.startswith("--engine") for word in words)
    if asks_for_backend and client.environ.get("PATH") != os.environ.get("PATH"):
        return "path"  # PATH decides whether there is an rg
    if wings.is_quick(words) and not _has_our_zone(client):
        return "zone"
    return "long" if _grows_too_long(client) else ""


def _has_our_zone(client: Client) -> bool:
    """Return whether local times are the same here, after a look at the system's zone."""
    if client.environ.get("TZ") != os.environ.get("TZ"):
        return False
    if hasattr(time, "tzset"):
        time.tzset()  # /etc/localtime may have been replaced since this process started
    return True


def _grows_too_long(client: Client) -> bool:
    """Return whether an argument is short enough for a path, but not behind the working folder."""
    lead = len(os.fsencode(client.cwd)) + 1
    sizes = [len(os.fsencode(word)) for word in client.words]
    return any(size < PATH_MAX <= lead + size for size in sizes)


# The request


def read(params: Mapping[str, object]) -> Client:
    """Check a request's types and sizes.

    Raises:
        MalformedRequest: A type or a size is wrong.
    """
    client = client_environment.read(Client, params)
    if not (client.words and 0 < client.width <= WIDTH_MAX):
        raise MalformedRequest
    return client
