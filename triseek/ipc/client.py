"""Ask the daemon one thing and take its answer: the JSON verbs.

Nothing here starts a daemon (`ipc.spawn` does) and nothing imports asyncio, whose wake-ups break
where a sandbox forbids sockets.
"""

from __future__ import annotations

import contextlib
import json
from _socket import MSG_PEEK
from time import monotonic
from typing import TYPE_CHECKING, Any, NoReturn

from triseek import __version__, errors, paths
from triseek.ipc import address, wire

if TYPE_CHECKING:
    from collections.abc import Mapping


REST_S = 10.0
"""For so long a daemon that has not answered is not asked again by the same process."""
GAP_S = 4.0
"""Longest gap in the middle of an answer."""

_stuck_until: dict[str, float] = {}
"""By the daemon's folder: until when it is not asked again, by `monotonic`."""


def ask(
    verb: str, params: Mapping[str, Any] | None = None, timeout_s: float = 5.0
) -> dict[str, Any]:
    """Ask the daemon and return its result.

    A daemon that works on it may take as long as `timeout_s` says; one that is stopped or stuck is
    waited for 4.5 s at most (see `address.SILENCE_S`), and not at all in the next `REST_S`.

    Args:
        verb: status, shutdown, ping, or one of those the daemon was given.
        params: the verb's own, JSON values.
        timeout_s: for the answer to begin, and then for each part of it.

    Raises:
        DaemonUnreachable: none runs, this process may not reach it, or it does not answer.
        VersionMismatch: it is another version's.
        TriseekError: whatever the daemon says is wrong.
    """
    if is_stuck():
        raise _not_answering()
    try:
        sock = address.connect(min(timeout_s, address.CONNECT_S))
    except address.Stuck as error:
        raise _not_answering() from error
    except address.Unreached as error:
        raise errors.DaemonUnreachable(str(error)) from error
    try:
        return _result(_exchange(sock, request(verb, params or {}), timeout_s))
    finally:
        sock.close()


def is_stuck() -> bool:
    """Whether the daemon has not answered this process a moment ago, so that it is not asked."""
    return monotonic() < _stuck_until.get(paths.daemon(), 0.0)


def request(verb: str, params: Mapping[str, Any]) -> bytes:
    """The payload of a request by this version."""
    document = {
        "protocol": wire.PROTOCOL,
        "version": __version__,
        "verb": verb,
        "params": dict(params),
    }
    return json.dumps(document).encode("ascii")


def _not_answering() -> errors.DaemonUnreachable:
    """The error of a daemon that is stopped or stuck; others that ask soon need not wait again."""
    if not is_stuck():
        _stuck_until[paths.daemon()] = monotonic() + REST_S
    return errors.DaemonUnreachable(
        "the daemon does not answer", next_step="Run `triseek daemon restart --force`."
    )


def _wait(sock: wire.Socket, timeout_s: float) -> None:
    """Wait for the first byte of the answer, as long as the daemon lives.

    Raises:
        TimeoutError: `timeout_s` passed, and it lives.
        DaemonUnreachable: it does not answer anybody.
    """
    until = monotonic() + timeout_s
    while True:
        sock.settimeout(max(0.001, min(address.SILENCE_S, until - monotonic())))
        try:
            sock.recv(1, MSG_PEEK)
        except TimeoutError:
            if monotonic() < until and not address.is_alive():
                raise _not_answering() from None
            if monotonic() >= until:
                raise
        else:
            return


def _exchange(sock: wire.Socket, payload: bytes, timeout_s: float) -> bytes:
    try:
        sock.settimeout(address.SILENCE_S)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            wire.send(sock, payload)  # if it has left, what it said before is worth reading
        _wait(sock, timeout_s)
        answer = wire.receive(sock, wire.ANSWER_LIMIT, gap_s=min(timeout_s, GAP_S))
    except TimeoutError as error:
        raise errors.DaemonUnreachable("the daemon does not answer in time") from error
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
