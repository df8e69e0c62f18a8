"""Room for new clients by HTTP: where there are too many sessions, the one idle for longest ends.

The SDK refuses new sessions at its limit until one has been idle for half an hour. Clients that
end without a DELETE would keep everybody out for so long. A session is ended here as a client
would end it, by a DELETE; its client, if there is one, gets 404 with its next request and
initializes anew, as the protocol has it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADER = "mcp-session-id"


class Sessions:
    """An ASGI application around the SDK's, whose requests have been authorized."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        """Keep at most so many sessions in `app`."""
        self._app = app
        self._most = most
        self._idle: OrderedDict[str, None] = OrderedDict()
        """Sessions by their last request, the oldest first."""
        self._working: Counter[str] = Counter()
        """Requests under way by session; streams (GET) do not count."""
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; before one that opens a session, make room for it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        session = headers.get(HEADER)
        # Requests of the protocol without sessions name their method in a header.
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

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] < 400:
                    opened = Headers(raw=message["headers"]).get(HEADER)
                    if opened is not None:
                        self._idle[opened] = None
                await send(message)

            await self._app(scope, receive, noting)
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
        """End the session that has been idle for longest, if any is."""
        session = next((one for one in self._idle if not self._working[one]), None)
        if session is None:
            return
        del self._idle[session]
        headers = [(HEADER.encode(), session.encode())]
        headers += [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unread(_: Message) -> None:
            """Nobody waits for the answer."""

        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, unread)
