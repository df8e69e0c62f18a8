"""uvicorn as both servers run it: without logs, and safe from idle connections of any user.

uvicorn has a time-out between two requests but none for the head of a request, and refuses new
connections once it has reached its limit. So 700 silent connections locked out the page's owner.
Here the whole head of a request has to arrive within `HEAD_S`, even if some of it keeps coming,
and a connection above the limit closes the one that has been idle for longest. A client that does
not take its answer is disconnected, too.
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from triseek.ipc import ending

if TYPE_CHECKING:
    import asyncio
    import socket
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_S = 5.0
"""Seconds from the connection, or the end of a response, to the end of the next request's head."""
STALL_S = 60.0
"""Seconds in which a client has to take some of an answer that waits for it."""
CONNECTIONS_MAX = 512


class Protocol(H11Protocol):
    """uvicorn's protocol with a time-out for heads and a limit that closes idle connections."""

    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin the connection; if there are too many, close the one idle for longest."""
        super().connection_made(transport)
        idle = _idle_of(self.server_state)
        idle[self] = None
        self._await_head()
        if len(self.connections) > CONNECTIONS_MAX:
            next(iter(idle)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        self._end_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Hold the rest of an answer back until the client has taken some."""
        super().pause_writing()
        self._await_progress()

    def resume_writing(self) -> None:
        """Go on with the answer."""
        self._end_stall()
        super().resume_writing()

    def handle_events(self) -> None:
        """Process received data; stop the time-out once a request's head is complete."""
        super().handle_events()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Mark the connection idle and start the time-out for the next request's head."""
        _idle_of(self.server_state)[self] = None
        self._await_head()
        super().on_response_complete()

    def _await_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = self.loop.call_later(HEAD_S, self._end_late)

    def _end_late(self) -> None:
        """Close the connection, unless the client still takes the last answer."""
        if self._stall_timer is None:
            self.transport.abort()
        else:
            self._await_head()

    def _stop_waiting(self) -> None:
        _idle_of(self.server_state).pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _await_progress(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(STALL_S, self._check_progress, left)

    def _check_progress(self, before: int) -> None:
        """Close the connection if the client has taken nothing of `before` bytes."""
        if self.transport.get_write_buffer_size() < before:
            self._await_progress()
        else:
            self.transport.abort()

    def _end_stall(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None


def _idle_of(server_state: Any) -> dict[Protocol, None]:  # noqa: ANN401 - uvicorn's ServerState
    """Return the connections of a server that have no request, idle for longest first."""
    idle: dict[Protocol, None] = server_state.__dict__.setdefault("triseek_idle", {})
    return idle


def server(app: ASGIApp, *, grace_s: int) -> Uvicorn:
    """Return a server of an application, to be run with `serve(sockets=[…])`.

    grace_s: Seconds that running requests have to finish once `should_exit` is set.
    """
    return Uvicorn(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http=Protocol,
            proxy_headers=False,
            timeout_graceful_shutdown=grace_s,
        )
    )


class Uvicorn(uvicorn.Server):
    """Server that captures no signals: uvicorn re-raises them, ending the process too early."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield


def run(
    app: ASGIApp,
    bound: socket.socket,
    ready: Callable[[contextlib.ExitStack], None],
    *,
    grace_s: int,
    ended: Callable[[], Awaitable[None]] = anyio.lowlevel.checkpoint,
    also: Sequence[socket.socket] = (),
) -> None:
    """Serve an application until a signal tells the process to end.

    Args:
        app: The application.
        bound: A socket that listens; it is closed.
        ready: Called once, when signals are caught. What it puts on the stack is undone at the end.
        grace_s: Seconds that running requests have to finish.
        ended: Awaited at the signal.
        also: Further sockets that listen; the caller closes them.
    """

    async def serve() -> None:
        with (
            anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals,
            contextlib.ExitStack() as leaving,
        ):
            asgi = server(app, grace_s=grace_s)

            async def end_when_told() -> None:
                async for _ in signals:
                    ending.within()
                    asgi.should_exit = True
                    await ended()

            ready(leaving)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(end_when_told)
                await asgi.serve(sockets=[bound, *also])
                tasks.cancel_scope.cancel()

    with bound:
        anyio.run(serve)
