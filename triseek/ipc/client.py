"""Send the daemon one JSON request and return its result.

Nothing here starts a daemon (`ipc.spawn` does) and nothing imports asyncio, whose wake-ups break
where a sandbox forbids sockets.
"""

from __future__ import annotations

import contextlib
import json
from _socket import MSG_PEEK
from time import monotonic
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from triseek import __version__, errors, paths
from triseek.ipc import address, surroundings, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


REST_S = 10.0
"""Seconds for which a process does not contact a daemon again that has not answered."""
CANCEL_S = 0.1
"""Seconds between checks whether the caller has cancelled."""
GAP_S = 4.0
"""Longest gap within an answer, in seconds."""

_stuck_until: dict[str, float] = {}
"""By the daemon's folder: the `monotonic` time until which it is not contacted again."""


class Lost(errors.DaemonUnreachable):
    """The daemon ended or stopped answering after the request was sent."""


class ErrorReport(TypedDict):
    """An error as an answer of the daemon reports it."""

    code: str
    message: str
    retryable: bool
    next_step: str
    tool_step: NotRequired[str]
    """Older versions have none."""


def report(error: errors.TriseekError) -> ErrorReport:
    """Return an error in the form in which answers report it."""
    return {
        "code": error.code,
        "message": error.message,
        "retryable": error.retryable,
        "next_step": error.next_step,
        "tool_step": error.tool_step,
    }


def reported(body: ErrorReport) -> errors.TriseekError:
    """Return the error that an answer reports, as an instance of the class of its code.

    Raises:
        KeyError, TypeError: `body`, which came from another process, is no report.
    """
    next_step, tool_step = str(body["next_step"]), str(body.get("tool_step", ""))
    error = errors.named(
        str(body["code"]), str(body["message"]), next_step=next_step, tool_step=tool_step
    )
    error.retryable = body["retryable"] is True
    return error


def ask(
    verb: str,
    params: Mapping[str, Any] | None = None,
    timeout_s: float = 5.0,
    *,
    place: str = "",
    step: Callable[[bytes], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Send the daemon a request and return its result.

    A daemon that works on the request may take up to `timeout_s`. For one that is stopped or stuck
    this waits at most 4.5 s (see `address.SILENCE_S`), and within the next `REST_S` not at all.

    Args:
        verb: status, shutdown, ping, or a verb of the daemon's handlers.
        params: The parameters of the verb, JSON values.
        timeout_s: Seconds for the answer to begin, and then for each part of it.
        place: `surroundings.place`, for a verb that has it among its parameters.
        step: Called with each piece that arrives before the result.
        cancelled: Returns whether the caller has given up; the daemon then stops.

    Raises:
        DaemonUnreachable: None runs, this process may not reach it, or it does not answer.
        Lost: The daemon ended or stopped answering after the request was sent.
        Cancelled: `cancelled` returned True.
        VersionMismatch: The daemon belongs to another version of triseek.
        TriseekError: The error that the daemon reports.
    """
    if is_stuck():
        raise _not_answering(errors.DaemonUnreachable)
    try:
        sock = address.connect(min(timeout_s, address.CONNECT_S))
    except address.Stuck as error:
        raise _not_answering(errors.DaemonUnreachable) from error
    except address.Unreached as error:
        raise errors.DaemonUnreachable(str(error)) from error
    try:
        sock.settimeout(address.SILENCE_S)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            # If the peer has closed, its last reply can still be read.
            wire.send(sock, request(verb, params or {}, place))
        while True:
            _wait(sock, timeout_s, cancelled)
            piece = wire.receive(sock, wire.ANSWER_LIMIT, gap_s=min(timeout_s, GAP_S))
            if not piece:
                raise Lost("the daemon closed the connection without an answer")
            if piece[0] != wire.OUT:
                return _result(piece)
            step(piece[1:])
    except TimeoutError as error:
        raise Lost("the daemon does not answer in time") from error
    except (OSError, wire.BadFrame) as error:
        raise Lost(f"the daemon's answer was cut short: {error}") from error
    finally:
        sock.close()


def _wait(sock: wire.Socket, timeout_s: float, cancelled: Callable[[], bool]) -> None:
    """Wait for the next piece while the daemon is alive and `cancelled` returns False.

    Raises:
        TimeoutError: `timeout_s` passed.
        Lost: The daemon no longer answers any request.
        Cancelled: `cancelled` returned True.
    """
    began = monotonic()
    until, check_at = began + timeout_s, began + address.SILENCE_S
    while True:
        sock.settimeout(max(0.001, min(CANCEL_S, until - monotonic())))
        try:
            sock.recv(1, MSG_PEEK)
        except TimeoutError:
            if cancelled():
                raise errors.Cancelled("cancelled") from None
            if monotonic() >= until:
                raise
            if monotonic() >= check_at:
                if not address.is_alive():
                    raise _not_answering(Lost) from None
                check_at = monotonic() + address.SILENCE_S
        else:
            return


def is_stuck() -> bool:
    """Return whether the daemon failed to answer this process within the last `REST_S`."""
    return monotonic() < _stuck_until.get(paths.daemon(), 0.0)


def request(verb: str, params: Mapping[str, Any], place: str = "") -> bytes:
    """Return the payload of a request of this version. place: Further parameters, as JSON."""
    members = json.dumps(dict(params))[1:-1]
    return surroundings.request(verb, ",".join(filter(None, (place, members))))


def _not_answering(kind: type[errors.DaemonUnreachable]) -> errors.DaemonUnreachable:
    """Return the error for a stopped or stuck daemon; later requests then fail without waiting."""
    if not is_stuck():
        _stuck_until[paths.daemon()] = monotonic() + REST_S
    return kind(
        "the daemon does not answer",
        next_step="Run `triseek daemon restart --force`.",
        tool_step=kind.tool_step,
    )


def _result(answer: bytes) -> dict[str, Any]:
    """Return the result in an answer. Raises the error in it."""
    if answer[0] == wire.DECLINED:
        raise _declined(answer[1:].decode(errors="replace"))
    try:
        document = json.loads(answer.decode("utf-8"))
        result = document["result"] if document["ok"] is True else reported(document["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        result = None
    if isinstance(result, errors.TriseekError):
        raise result
    if not isinstance(result, dict):
        raise errors.DaemonUnreachable("the daemon's answer cannot be decoded")
    return result


def _declined(reason: str) -> errors.TriseekError:
    """Return the error for a request that the daemon declined."""
    word, _, rest = reason.partition(" ")
    if word == "busy":
        return errors.Busy("the daemon has as many connections as it takes")
    if word == "version":
        return errors.VersionMismatch(f"the daemon is version {rest}, and this is {__version__}")
    return errors.DaemonUnreachable(f"the daemon declines: {reason}")
