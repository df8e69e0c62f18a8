"""Connections and frames: what the daemon says to whom. What it answers comes from outside.

A thread per connection, with blocking sockets; a few threads wait for the next ones. An event loop
would hand every request from its own thread to a worker and back, two more switches of threads in
an answer of a few milliseconds, and handlers are plain code that waits for disks; there are never
more than a few dozen clients. What is slow or hostile costs one thread until its time is over.

Nothing a client sends ends the daemon: what is no frame, or no request, closes that connection and
leaves a line in the log. Requests are described in docs/reference/protocol.md.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek import __version__, logs
from triseek.daemon.crew import Crew
from triseek.daemon.streams import Streams
from triseek.errors import Busy, InvalidRequest, TriseekError, VersionMismatch
from triseek.ipc import address, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

logger = logging.getLogger(__name__)

BUG = 70
"""The exit status of a text answer that broke off by a mistake of ours."""
ANY_VERSION = frozenset(("status", "shutdown", "ping"))
"""Verbs for which the client's version does not matter: they are how versions are changed."""
WAITING = 8
"""Threads that wait for connections."""
_FULL_S = 0.1
"""Seconds to wait when the system gives no more descriptors."""


@dataclass(frozen=True)
class Declined:
    """A text handler's answer when the client had better do the work itself."""

    reason: str
    """One word, for the client's report and the log."""


@dataclass(frozen=True)
class Handlers:
    """What the daemon can do, given to it by whoever puts the program together."""

    text: Callable[[dict[str, Any], Streams], int | Declined]
    """A command's words to its exit status; its output goes into the streams."""
    calls: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = field(default_factory=dict)
    """JSON verbs. What `status` returns is added to the server's own answer."""


@dataclass(frozen=True)
class Limits:
    """What one client may ask of the daemon."""

    frame: int = wire.REQUEST_LIMIT
    """Bytes of a request."""
    connections: int = 64
    spare: int = 8
    """Connections above that which may still ask for status and shutdown; others hear busy."""
    idle_s: float = 300.0
    """Seconds an open connection may say nothing."""
    gap_s: float = 5.0
    """Seconds between bytes of a frame that has begun."""
    whole_s: float = 30.0
    """Seconds for a whole frame."""
    drain_s: float = 2.0
    """Seconds that requests under way have when the daemon ends."""


class Request(NamedTuple):
    """One request as it was understood."""

    verb: str
    params: dict[str, Any]
    same: bool
    """Whether it is of our protocol and version."""


class NotARequest(Exception):
    """The frame holds something else."""


class Server:
    """Serves one listening socket until it is told to stop.

    Args:
        listener: bound and listening; the server closes it.
        handlers: what to answer.
        token: what a client by TCP must show first, "" for none.
        limits: see there.
        closing: called once, before the answer to shutdown is sent, so that whoever reads that
            answer finds no trace of this daemon but its lock (dmypy removes its status file then).
        ending: called once, when no more connections are taken.
    """

    def __init__(
        self,
        listener: socket.socket,
        handlers: Handlers,
        *,
        token: str = "",
        limits: Limits | None = None,
        closing: Callable[[], None] = lambda: None,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        self._listener = listener
        self._handlers = handlers
        self._token = token
        self._limits = limits or Limits()
        self._closing = closing
        self._ending = ending
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._crew = Crew(self._converse, WAITING)
        self._state = threading.Condition()
        self._open: dict[int, socket.socket] = {}
        self._under_way = 0
        self._requests = 0
        self._last = self._started = time.monotonic()
        self._stopping = ""
        self._ids = itertools.count(1)

    def serve(self, idle_exit_s: float = 0.0, busy: Callable[[], bool] = lambda: False) -> str:
        """Take connections until `stop`, or until nothing was asked for `idle_exit_s` seconds.

        Args:
            idle_exit_s: 0 is for ever. An open connection that asks nothing does not count.
            busy: whether background work wants the daemon to stay.

        Returns:
            Why it ended: what `stop` was told, or "idle".
        """
        self._crew.assemble()
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while not self._stopping:
                left = self._idle_left(idle_exit_s, busy)
                if left is not None and left <= 0:
                    self._stopping = "idle"
                elif any(key.fileobj is self._listener for key, _ in selector.select(left)):
                    self._accept()
        self._ending()
        self._drain()
        return self._stopping

    def stop(self, why: str) -> None:
        """Make `serve` return soon. For any thread, and for signal handlers: it takes no lock."""
        self._stopping = self._stopping or why
        try:
            self._waker.send(b"!")
        except OSError:
            return  # awake already, or gone

    def _idle_left(self, idle_exit_s: float, busy: Callable[[], bool]) -> float | None:
        """Seconds until the idle exit, at most until it has to be reckoned again; None: never."""
        if not idle_exit_s:
            return None
        with self._state:
            if self._under_way:
                return idle_exit_s
            left = self._last + idle_exit_s - time.monotonic()
        return idle_exit_s if left <= 0 and busy() else left

    def _accept(self) -> None:
        try:
            sock, _ = self._listener.accept()
        except OSError as error:
            logger.warning("accept failed", extra={"reason": str(error)})
            time.sleep(
                _FULL_S
            )  # no descriptors left: they come back, and until then we do not spin
            return
        sock.setblocking(True)
        with self._state:
            count = len(self._open)
            if count < self._limits.connections + self._limits.spare:
                self._open[sock.fileno()] = sock
        if count >= self._limits.connections + self._limits.spare:
            self._turn_away(sock)
            return
        full = count >= self._limits.connections
        try:
            self._crew.take(sock, full)
        except RuntimeError:  # no more threads
            with self._state:
                self._open.pop(sock.fileno(), None)
            self._turn_away(sock)

    def _turn_away(self, sock: socket.socket) -> None:
        logger.warning("connection turned away", extra={"connections": len(self._open)})
        sock.setblocking(False)
        try:
            wire.send(sock, _declined("busy"))
        except OSError:
            pass  # it has left already
        finally:
            sock.close()

    def _converse(self, sock: socket.socket, full: bool) -> None:
        """Everything on one connection, in a thread of its own. Never raises."""
        try:
            if self._is_welcome(sock):
                while not self._stopping and self._one(sock, full=full):
                    pass
        except (wire.BadFrame, NotARequest) as error:
            logger.warning("connection closed: no request", extra={"reason": str(error)})
        except TimeoutError:
            logger.info("connection closed: time is over")
        except OSError as error:
            logger.info("connection lost", extra={"reason": str(error)})
        except BaseException:
            logger.exception("connection closed: a bug")
        finally:
            with self._state:
                self._open.pop(sock.fileno(), None)
                sock.close()
                self._state.notify_all()

    def _is_welcome(self, sock: socket.socket) -> bool:
        if not address.is_own(sock):
            logger.warning("connection closed: another user's")
            return False
        if not self._token:
            return True
        from hmac import compare_digest

        sock.settimeout(self._limits.gap_s)
        shown = self._receive(sock)
        if compare_digest(shown, bytes((wire.TOKEN,)) + self._token.encode()):
            return True
        logger.warning("connection closed: no token")
        return False

    def _receive(self, sock: socket.socket) -> bytes:
        return wire.receive(
            sock, self._limits.frame, gap_s=self._limits.gap_s, whole_s=self._limits.whole_s
        )

    def _one(self, sock: socket.socket, *, full: bool) -> bool:
        """Take one request and answer it; whether another may follow."""
        sock.settimeout(self._limits.gap_s if full else self._limits.idle_s)
        payload = self._receive(sock)
        if not payload:
            return False
        with self._state:
            self._under_way += 1
            self._requests += 1
        token = logs.request.set(f"{os.getpid()}-{next(self._ids)}")
        try:
            sock.settimeout(None)
            return self._answer(sock, understand(payload), full=full) and not full
        finally:
            logs.request.reset(token)
            with self._state:
                self._under_way -= 1
                self._last = time.monotonic()
                self._state.notify_all()

    def _answer(self, sock: socket.socket, request: Request, *, full: bool) -> bool:
        started = time.perf_counter()
        if request.verb == "text":
            outcome, going_on = self._text(sock, request, full=full)
        else:
            outcome = self._call(sock, request, full=full)
            going_on = True
        logger.info(
            "request",
            extra={
                "verb": request.verb[:40],
                "root": str(request.params.get("cwd") or request.params.get("root", ""))[:4096],
                "ms": round((time.perf_counter() - started) * 1e3, 3),
                "outcome": outcome,
            },
        )
        return going_on

    def _text(self, sock: socket.socket, request: Request, *, full: bool) -> tuple[str, bool]:
        """Answer by pieces and an exit status; how it went, and whether the client is there."""
        streams = Streams(sock)
        try:
            if not request.same:
                last = _declined(f"version {__version__}")
            elif full:
                last = _declined("busy")
            else:
                last = self._by_handler(request, streams)
            wire.send(sock, last)
        except OSError:
            return "gone", False
        return last.decode(errors="replace"), True

    def _by_handler(self, request: Request, streams: Streams) -> bytes:
        try:
            outcome = self._handlers.text(request.params, streams)
        except BaseException as error:
            if isinstance(error, OSError) and streams.gone():
                raise BrokenPipeError("the client is gone") from error
            logger.exception("handler failed")
            outcome = Declined("internal")
        if isinstance(outcome, int):
            return b"=%d" % outcome
        if not streams.started:
            return _declined(outcome.reason)
        streams.err(b"triseek: the daemon broke off; see `triseek daemon logs`\n")
        return b"=%d" % BUG

    def _call(self, sock: socket.socket, request: Request, *, full: bool) -> str:
        """Answer by one JSON object; how it went."""
        try:
            if request.verb not in ANY_VERSION:
                _require(request, full=full)
            answer, code = {"ok": True, "result": self._result(request)}, "ok"
        except TriseekError as error:
            answer, code = failure(error), error.code
        except BaseException as error:
            logger.exception("handler failed")
            code = "INTERNAL"
            answer = failure(
                TriseekError(f"a bug: {error!r}", next_step="See `triseek daemon logs`.")
            )
        if request.verb != "shutdown":
            wire.send(sock, _encoded(answer))
            return code
        self._closing()
        try:
            wire.send(sock, _encoded(answer))
        finally:
            self.stop("shutdown")
        return code

    def _result(self, request: Request) -> dict[str, Any]:
        handler = self._handlers.calls.get(request.verb)
        if request.verb == "ping":
            return {"pid": os.getpid(), "version": __version__}
        if request.verb == "shutdown":
            return {"pid": os.getpid()}
        if request.verb == "status":
            return {**self._status(), **(handler(request.params) if handler else {})}
        if handler is None:
            raise InvalidRequest(f"{request.verb[:40]}: the daemon knows no such verb")
        return handler(request.params)

    def _status(self) -> dict[str, Any]:
        with self._state:
            return {
                "pid": os.getpid(),
                "version": __version__,
                "protocol": wire.PROTOCOL,
                "uptime_s": round(time.monotonic() - self._started, 3),
                "requests": self._requests,
                "under_way": self._under_way,
                "connections": len(self._open),
            }

    def _drain(self) -> None:
        """Take no more connections, give requests under way their time, close what is left."""
        self._listener.close()
        self._crew.dismiss()
        with self._state:
            left = list(self._open.values())
            if not self._state.wait_for(lambda: not self._under_way, self._limits.drain_s):
                logger.warning("requests cut off", extra={"under_way": self._under_way})
            for sock in left:
                _hang_up(sock)
            self._state.wait_for(lambda: not self._open, _FULL_S)
        self._wake.close()
        self._waker.close()


def understand(payload: bytes) -> Request:
    """The request in a frame.

    Raises:
        NotARequest: the payload is something else.
    """
    if payload[0] != wire.OBJECT:
        raise NotARequest(f"a frame begins with {payload[:1]!r}")
    try:
        document = json.loads(payload.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise NotARequest(f"no JSON: {str(error)[:80]}") from None
    protocol, version = document.get("protocol"), document.get("version")
    verb, params = document.get("verb"), document.get("params")
    if not (isinstance(verb, str) and isinstance(params, dict) and isinstance(version, str)):
        raise NotARequest("verb, params or version is missing")
    return Request(verb, params, protocol == wire.PROTOCOL and version == __version__)


def failure(error: TriseekError) -> dict[str, Any]:
    """An error as the answer that carries it."""
    return {
        "ok": False,
        "error": {
            "code": error.code,
            "message": error.message,
            "retryable": error.retryable,
            "next_step": error.next_step,
        },
    }


def _require(request: Request, *, full: bool) -> None:
    if not request.same:
        raise VersionMismatch(f"the daemon is triseek {__version__}")
    if full:
        raise Busy("the daemon has as many connections as it takes")


def _declined(reason: str) -> bytes:
    return bytes((wire.DECLINED,)) + reason.encode("utf-8", "replace")


def _encoded(answer: dict[str, Any]) -> bytes:
    try:
        return json.dumps(answer).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        logger.exception("handler failed: its result is no JSON")
        return json.dumps(failure(TriseekError(f"a bug: {error}"))).encode("ascii")


def _hang_up(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # gone by itself
