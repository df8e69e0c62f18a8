"""Limit the HTTP sessions: a new one beyond the limit ends the one that has been idle longest.

At its limit the SDK refuses new sessions until one has been idle for half an hour. For that long,
clients that end without a DELETE would block all new ones. This module ends a session as a client
would, by a DELETE. The session's client, if it still exists, gets 404 for its next request and
initializes again, as the protocol specifies.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "mcp-session-id"


class HttpSessions:
    """ASGI middleware around the SDK's application; its requests are already authorized."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Keep at most `most` sessions in `app`."""
        self._app = app
        self._most = most
        self._idle: OrderedDict[str, None] = OrderedDict()
        """Session ids in order of their last request, oldest first."""
        self._working: Counter[str] = Counter()
        """Number of open requests per session; streams (GET) do not count."""
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request; end the idlest session first if it opens one above the limit."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session = headers.get(HEADER)
        # Requests of the sessionless protocol have their method in a header.
        if session is None and scope["method"] == "POST" and "mcp-method" not in headers:
            await self._open(scope, receive, send)
        elif session is not None and session in self._idle:
            await self._use(session, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _open(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._opening += 1
        try:
            if len(self._idle) + self._opening > self._most:
                await self._end_idlest(scope)

            async def record_session(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] < 400:
                    opened = Headers(raw=message["headers"]).get(HEADER)
                    if opened is not None:
                        self._idle[opened] = None
                await send(message)

            await self._app(scope, receive, record_session)
        finally:
            self._opening -= 1

    async def _use(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._idle.move_to_end(session)
        counts = scope["method"] != "GET"
        self._working[session] += counts
        try:
            await self._app(scope, receive, send)
        finally:
            self._working -= Counter({session: int(counts)})  # removes what is zero
            if scope["method"] == "DELETE":
                self._idle.pop(session, None)

    async def _end_idlest(self, scope: Scope) -> None:
        """End the session that has been idle for longest, if any is idle."""
        session = next((key for key in self._idle if not self._working[key]), None)
        if session is None:
            return
        del self._idle[session]
        headers = [(HEADER.encode(), session.encode())]
        headers += [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unread(_: Message) -> None:
            """Discard the answer."""

        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, unread)
