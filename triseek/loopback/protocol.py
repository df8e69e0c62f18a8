"""HTTP connections that cannot be kept open for nothing, by whichever user of this machine.

uvicorn has a time-out between two requests and none for the head of one, and refuses everybody
once it has as many connections as it takes. So 700 connections that said nothing locked out the
page's owner. Here the head of a request has to come within `HEAD_S`, whatever drips in, and a
connection too many closes the one that has been idle for longest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.h11_impl import RequestResponseCycle

HEAD_S = 5.0
"""From the connection, or the end of a response, to the end of the next request's head."""
CONNECTIONS_MAX = 512


class Protocol(H11Protocol):
    """uvicorn's protocol with a time-out for heads, and room for who is new."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin the connection; where there are too many, close the one idle for longest."""
        super().connection_made(transport)
        idle = _idle_of(self.server_state)
        idle[self] = None
        self._await_head()
        if len(self.connections) > CONNECTIONS_MAX:
            next(iter(idle)).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Read what has come; with a whole head a request has begun."""
        super().handle_events()
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is not None and not cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        _idle_of(self.server_state)[self] = None
        self._await_head()
        super().on_response_complete()

    def _await_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
        self._head_timer = self.loop.call_later(HEAD_S, self.transport.abort)

    def _stop_waiting(self) -> None:
        _idle_of(self.server_state).pop(self, None)
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _idle_of(server_state: Any) -> dict[Protocol, None]:  # noqa: ANN401 - uvicorn's ServerState
    """The connections of a server without a request, idle for longest first."""
    idle: dict[Protocol, None] = server_state.__dict__.setdefault("triseek_idle", {})
    return idle
