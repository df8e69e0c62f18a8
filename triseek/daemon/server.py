"""The daemon's server: connections, frames and limits. Its handlers are passed in.

Each connection has a thread with blocking sockets; a few threads wait for new connections. An event
loop would pass every request from its thread to a worker and back: two more thread switches in an
answer of a few milliseconds. Handlers are plain code that waits for disks, and there are never more
than a few dozen clients. A slow or hostile client costs one thread until its time limit.

Nothing a client sends ends the daemon: invalid frames and requests close the connection and are
logged. docs/reference/protocol.md describes the requests.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import os
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict

from triseek import __version__, logs
from triseek.daemon.streams import Streams
from triseek.daemon.thread_pool import ThreadPool
from triseek.errors import BackendFailure, Busy, InvalidRequest, TriseekError, VersionMismatch
from triseek.ipc import address, client, wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

logger = logging.getLogger(__name__)

BUG = 70
"""The exit status of a text answer that broke off because of a bug."""
ANY_VERSION = frozenset(("status", "shutdown", "ping"))
"""Verbs accepted from clients of any version: they serve to replace the daemon."""
WAITING = 8
"""Threads that wait for connections."""
_FULL_S = 0.1
"""Seconds to wait when the process is out of descriptors."""


@dataclass(frozen=True)
class Declined:
    """A handler's answer when the client should do the work itself."""

    reason: str
    """A reason for the client's report and the log: one word, which details may follow."""


Working: TypeAlias = "Callable[[], AbstractContextManager[None]]"
"""Makes a context for each request of a session; a stopping daemon waits for it for a while."""
Session: TypeAlias = "Callable[[socket.socket, Working], None]"
"""Serves an agent on its connection until it has left."""


class Result(TypedDict):
    """The result of a JSON verb: a JSON object, with fields of its own for each verb."""


Handler: TypeAlias = "Callable[[dict[str, Any], Streams], Result]"
"""Answers a JSON verb. It gets the parameters, unchecked, and may send pieces before the answer and
check whether the client is gone."""


@dataclass(frozen=True)
class Handlers:
    """The handlers of the verbs, passed in by the code that composes the program."""

    text: Callable[[dict[str, Any], Streams], int | Declined]
    """Runs a command: takes its parameters, writes to the streams, returns the exit status."""
    calls: Mapping[str, Handler] = field(default_factory=dict)
    """JSON verbs. The result of `status` is merged into the server's own."""
    agent: Callable[[dict[str, Any]], Session | Declined] = lambda _: Declined("agent")
    """Takes what an agent's pipe sends, and returns the function that serves its session."""


@dataclass(frozen=True)
class Limits:
    """Limits on what clients may use of the daemon."""

    frame: int = wire.REQUEST_LIMIT
    """Maximum bytes of a request."""
    connections: int = 64
    """Maximum connections with requests; those of agents' sessions do not count."""
    agents: int = 128
    """Maximum sessions of agents."""
    spare: int = 8
    """Connections beyond `connections` that may send only `ANY_VERSION` verbs; others get busy."""
    idle_s: float = 300.0
    """Seconds an open connection may send nothing."""
    gap_s: float = 5.0
    """Seconds between bytes of a frame that has begun."""
    whole_s: float = 30.0
    """Seconds for a whole frame."""
    drain_s: float = 2.0
    """Seconds that running requests have when the daemon ends."""


class Request(NamedTuple):
    """A parsed request."""

    verb: str
    params: dict[str, Any]
    same: bool
    """Whether the client has our protocol and version."""


class Answer(TypedDict, total=False):
    """An answer to a JSON verb, with a result or an error."""

    ok: bool
    result: Result
    error: client.ErrorReport


class Identity(TypedDict, total=False):
    """The answer to `ping` and `shutdown`."""

    pid: int
    version: str


class ServerStatus(Identity):
    """The server's part of the answer to `status`."""

    protocol: int
    uptime_s: float
    requests: int
    under_way: int
    connections: int
    agents: int


class NotARequest(Exception):
    """The frame does not contain a request."""


class Server:
    """Serves one listening socket until it is told to stop.

    Args:
        listener: bound and listening; the server closes it.
        handlers: the handlers of the verbs.
        token: the token that a client by TCP must send first, "" for none.
        limits: limits on clients.
        closing: called once, before the answer to shutdown is sent, so that a client that has the
            answer finds no trace of this daemon but its lock (dmypy removes its status file then).
        ending: called once, when no more connections are accepted.
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
        self._pool = ThreadPool(self._converse, WAITING)
        self._state = threading.Condition()
        self._open: dict[int, socket.socket] = {}
        self._agents = 0
        self._under_way = 0
        self._requests = 0
        self._last = self._started = time.monotonic()
        self._stopping = ""
        self._ids = itertools.count(1)

    def serve(self, idle_exit_s: float = 0.0, busy: Callable[[], bool] = lambda: False) -> str:
        """Accept connections until `stop`, or until no request has come for `idle_exit_s` seconds.

        Args:
            idle_exit_s: 0 means no limit. An open connection without requests does not count.
            busy: returns whether background work requires the daemon to stay.

        Returns:
            Why it ended: the reason passed to `stop`, or "idle".
        """
        self._pool.assemble()
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
        """Make `serve` return soon. Safe in any thread and in signal handlers: it takes no lock."""
        self._stopping = self._stopping or why
        with contextlib.suppress(OSError):  # already woken or closed
            self._waker.send(b"!")

    def _idle_left(self, idle_exit_s: float, busy: Callable[[], bool]) -> float | None:
        """Return the seconds until the idle exit or the next check for it; None for never."""
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
            time.sleep(_FULL_S)  # probably out of descriptors: wait instead of spinning
            return
        sock.setblocking(True)
        with self._state:
            count = len(self._open) - self._agents
            is_taken = count < self._limits.connections + self._limits.spare
            if is_taken:
                self._open[sock.fileno()] = sock
        if is_taken:
            try:
                self._pool.take(sock, count >= self._limits.connections)
            except RuntimeError:  # no more threads
                with self._state:
                    self._open.pop(sock.fileno(), None)
            else:
                return
        self._turn_away(sock)

    def _turn_away(self, sock: socket.socket) -> None:
        logger.warning("connection turned away", extra={"connections": len(self._open)})
        sock.setblocking(False)
        with sock, contextlib.suppress(OSError):  # the client may have left already
            wire.send(sock, _declined("busy"))

    def _converse(self, sock: socket.socket, full: bool) -> None:
        """Serve one connection, in a thread of the pool. Never raises."""
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
        payload = self._receive(sock)
        if compare_digest(payload, bytes((wire.TOKEN,)) + self._token.encode()):
            return True
        logger.warning("connection closed: no token")
        return False

    def _receive(self, sock: socket.socket) -> bytes:
        return wire.receive(
            sock, self._limits.frame, gap_s=self._limits.gap_s, whole_s=self._limits.whole_s
        )

    def _one(self, sock: socket.socket, *, full: bool) -> bool:
        """Receive one request and answer it; return whether another may follow."""
        sock.settimeout(self._limits.gap_s if full else self._limits.idle_s)
        payload = self._receive(sock)
        if not payload:
            return False
        token = logs.request.set(f"{os.getpid()}-{next(self._ids)}")
        try:
            with self._working():
                sock.settimeout(None)
                return self._answer(sock, understand(payload), full=full) and not full
        finally:
            logs.request.reset(token)

    @contextlib.contextmanager
    def _working(self) -> Iterator[None]:
        """Count a request as running while the context is open."""
        with self._state:
            self._under_way += 1
            self._requests += 1
        try:
            yield
        finally:
            with self._state:
                self._under_way -= 1
                self._last = time.monotonic()
                self._state.notify_all()

    def _answer(self, sock: socket.socket, request: Request, *, full: bool) -> bool:
        started = time.perf_counter()
        is_open = request.verb != "agent"
        if request.verb == "agent":
            outcome = self._agent(sock, request)
        elif request.verb == "text":
            outcome, is_open = self._text(sock, request, full=full)
        else:
            outcome = self._call(sock, request, full=full)
        logger.info(
            "request",
            extra={
                "verb": request.verb[:40],
                "root": str(request.params.get("cwd") or request.params.get("root", ""))[:4096],
                "ms": round((time.perf_counter() - started) * 1e3, 3),
                "outcome": outcome,
            },
        )
        return is_open

    def _agent(self, sock: socket.socket, request: Request) -> str:
        """Serve an agent's session until it ends, if accepted; return the outcome for the log."""
        try:
            serve = self._accepted(request)
        except TriseekError as error:
            wire.send(sock, _encoded(failure(error)))
            return error.code
        if isinstance(serve, Declined):
            wire.send(sock, _declined(serve.reason))
            return serve.reason
        self._count_agents(1)
        try:
            wire.send(sock, _encoded({"ok": True, "result": {}}))
            serve(sock, self._working)
        except OSError:
            return "gone"
        except BaseException:
            logger.exception("an agent's session failed")
            return "failed"
        finally:
            self._count_agents(-1)
        return "ended"

    def _accepted(self, request: Request) -> Session | Declined:
        # A pipe outlives its first daemon, and also works with a daemon of the next version.
        if not request.same and request.params.get("resumed") is not True:
            return Declined(f"version {__version__}")
        with self._state:
            if self._agents >= self._limits.agents:
                return Declined("busy")
        return self._handlers.agent(request.params)

    def _count_agents(self, change: int) -> None:
        """Count sessions. Unlike a running request, a session does not prevent an idle exit."""
        with self._state:
            self._agents += change
            self._under_way -= change
            self._state.notify_all()

    def _text(self, sock: socket.socket, request: Request, *, full: bool) -> tuple[str, bool]:
        """Answer by pieces and an exit status; return the outcome and if the client is there."""
        try:
            outcome = self._by_handler(sock, request, full=full)
            if isinstance(outcome, Declined):
                wire.send(sock, _declined(outcome.reason))
                return outcome.reason, True
            wire.send(sock, b"=%d" % outcome)
        except OSError:
            return "gone", False
        return f"exit status {outcome}", True

    def _by_handler(self, sock: socket.socket, request: Request, *, full: bool) -> int | Declined:
        """Return the exit status of a command that was run, or why it was not.

        Raises:
            BrokenPipeError: the client is gone.
        """
        if not request.same:
            return Declined(f"version {__version__}")
        if full:
            return Declined("busy")
        streams = Streams(sock)
        try:
            outcome = self._handlers.text(request.params, streams)
        except BaseException as error:
            if isinstance(error, OSError) and streams.gone():
                raise BrokenPipeError("the client is gone") from error
            logger.exception("handler failed")
            outcome = Declined("internal")
        if isinstance(outcome, Declined) and streams.started:
            streams.err(b"triseek: the daemon broke off; see `triseek daemon logs`\n")
            return BUG
        return outcome

    def _call(self, sock: socket.socket, request: Request, *, full: bool) -> str:
        """Answer by one JSON object; return the outcome for the log."""
        answer: Answer
        code = "ok"
        try:
            answer = {"ok": True, "result": self._result(sock, request, full=full)}
        except TriseekError as error:
            answer, code = failure(error), error.code
        except BaseException as error:
            logger.exception("handler failed")
            code = "INTERNAL"
            answer = failure(
                TriseekError(
                    f"a bug: {error!r}",
                    next_step="See `triseek daemon logs`.",
                    tool_step=BackendFailure.tool_step,
                )
            )
        is_last = request.verb == "shutdown"
        if is_last:
            self._closing()
        try:
            wire.send(sock, _encoded(answer))
        finally:
            if is_last:
                self.stop("shutdown")
        return code

    def _result(self, sock: socket.socket, request: Request, *, full: bool) -> Result:
        identity: Identity = {"pid": os.getpid()}
        if request.verb == "shutdown":
            return identity
        if request.verb == "ping":
            identity["version"] = __version__
            return identity
        if request.verb not in ANY_VERSION:
            if not request.same:
                raise VersionMismatch(f"the daemon is triseek {__version__}")
            if full:
                raise Busy("the daemon has as many connections as it takes")
        handler = self._handlers.calls.get(request.verb)
        result = handler(request.params, Streams(sock)) if handler else None
        if request.verb == "status":
            status = self._status()
            if result is not None:
                status = {**status, **result}
            return status
        if result is None:
            raise InvalidRequest(f"{request.verb[:40]}: the daemon knows no such verb")
        return result

    def _status(self) -> ServerStatus:
        with self._state:
            return {
                "pid": os.getpid(),
                "version": __version__,
                "protocol": wire.PROTOCOL,
                "uptime_s": round(time.monotonic() - self._started, 3),
                "requests": self._requests,
                "under_way": self._under_way,
                "connections": len(self._open) - self._agents,
                "agents": self._agents,
            }

    def _drain(self) -> None:
        """Stop accepting, give running requests `drain_s` seconds, then close what is left."""
        self._listener.close()
        self._pool.dismiss()
        with self._state:
            sockets = list(self._open.values())
            if not self._state.wait_for(lambda: not self._under_way, self._limits.drain_s):
                logger.warning("requests cut off", extra={"under_way": self._under_way})
            for sock in sockets:
                with contextlib.suppress(OSError):  # already closed
                    sock.shutdown(socket.SHUT_RDWR)
            self._state.wait_for(lambda: not self._open, _FULL_S)
        self._wake.close()
        self._waker.close()


def understand(payload: bytes) -> Request:
    """Parse the request in a frame.

    Raises:
        NotARequest: the payload is no request.
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


def failure(error: TriseekError) -> Answer:
    """Return the answer that reports an error."""
    return {"ok": False, "error": client.report(error)}


def _declined(reason: str) -> bytes:
    return bytes((wire.DECLINED,)) + reason.encode("utf-8", "replace")


def _encoded(answer: Answer) -> bytes:
    try:
        return json.dumps(answer).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        logger.exception("handler failed: its result is no JSON")
        return json.dumps(failure(TriseekError(f"a bug: {error}"))).encode("ascii")
