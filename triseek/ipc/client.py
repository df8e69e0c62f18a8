"""Ask the daemon one thing and take its answer: the JSON verbs.

Nothing here starts a daemon (`ipc.spawn` does) and nothing imports asyncio, whose wake-ups break
where a sandbox forbids sockets.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NoReturn

from triseek import __version__, errors
from triseek.ipc import address, wire

if TYPE_CHECKING:
    from collections.abc import Mapping


def ask(
    verb: str, params: Mapping[str, Any] | None = None, timeout_s: float = 5.0
) -> dict[str, Any]:
    """Ask the daemon and return its result.

    Args:
        verb: status, shutdown, ping, or one of those the daemon was given.
        params: the verb's own, JSON values.
        timeout_s: for the connection, and for each part of the answer.

    Raises:
        DaemonUnreachable: none runs, this process may not reach it, or it does not answer.
        VersionMismatch: it is another version's.
        TriseekError: whatever the daemon says is wrong.
    """
    try:
        sock = address.connect(timeout_s)
    except address.Unreached as error:
        raise errors.DaemonUnreachable(str(error)) from error
    try:
        return _result(_exchange(sock, request(verb, params or {})))
    finally:
        sock.close()


def request(verb: str, params: Mapping[str, Any]) -> bytes:
    """The payload of a request by this version."""
    document = {
        "protocol": wire.PROTOCOL,
        "version": __version__,
        "verb": verb,
        "params": dict(params),
    }
    return json.dumps(document).encode("ascii")


def _exchange(sock: wire.Socket, payload: bytes) -> bytes:
    try:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            wire.send(sock, payload)  # if it has left, what it said before is worth reading
        answer = wire.receive(sock, wire.ANSWER_LIMIT)
    except TimeoutError as error:
        raise errors.DaemonUnreachable("the daemon does not answer") from error
    except (OSError, wire.BadFrame) as error:
        raise errors.DaemonUnreachable(f"the daemon's answer was cut short: {error}") from error
    if not answer:
        raise errors.DaemonUnreachable("the daemon closed the connection without an answer")
    return answer


def _result(answer: bytes) -> dict[str, Any]:
    if answer[0] == wire.DECLINED:
        _raise_declined(answer[1:].decode(errors="replace"))
    try:
        document = json.loads(answer.decode("utf-8"))
        if document["ok"] is True:
            result = document["result"]
        else:
            result, told = None, document["error"]
            code, message = str(told["code"]), str(told["message"])
            retryable, next_step = bool(told["retryable"]), str(told["next_step"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise errors.DaemonUnreachable("the daemon's answer makes no sense") from error
    if result is None:
        told_of = errors.named(code, message, next_step=next_step)
        told_of.retryable = retryable
        raise told_of
    if not isinstance(result, dict):
        raise errors.DaemonUnreachable("the daemon's answer makes no sense")
    return result


def _raise_declined(reason: str) -> NoReturn:
    word, _, rest = reason.partition(" ")
    if word == "busy":
        raise errors.Busy("the daemon has as many connections as it takes")
    if word == "version":
        raise errors.VersionMismatch(f"the daemon is version {rest}, and this is {__version__}")
    raise errors.DaemonUnreachable(f"the daemon declines: {reason}")
