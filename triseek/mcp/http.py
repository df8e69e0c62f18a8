"""Serve MCP by streamable HTTP to clients on this machine.

Any page in a browser and any user of this machine can send requests to a local port. So the server
listens on loopback only, and accepts only requests whose Host header names it (under DNS rebinding,
where a page's name resolves to 127.0.0.1, that header has the page's name), that come from no
foreign page, and that carry the token. It checks all of this in the request's headers, before
reading the body.
"""

from __future__ import annotations

import sys
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from triseek.loopback import serving
from triseek.loopback.address import listening
from triseek.loopback.host_guard import ServerNames, knows
from triseek.loopback.token import Token

if TYPE_CHECKING:
    import contextlib

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from triseek.loopback.address import Address

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
BODY_MAX = 4 << 20
"""Size limit of a request's body in bytes."""
SESSIONS_MAX = 256
GRACE_S = 2
"""Seconds that open requests have when the process is told to end."""


def serve(server: Server[Any], address: Address) -> None:
    """Serve clients until the process is told to end.

    Raises:
        Busy: the port is in use.
        InvalidRequest: the address is not this machine's, or the token is invalid.
        StateUnwritable: the token file cannot be written.
    """
    bound, address = listening(address)
    token = Token("mcp")
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_MAX,
        max_sessions=SESSIONS_MAX,
        # `RequestGuard` does this.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    guard = RequestGuard(HttpSessions(app, SESSIONS_MAX), address, token.value)

    def ready(leaving: contextlib.ExitStack) -> None:
        """Announce the URL with a shell expression that expands to the token without showing it."""
        shown = leaving.enter_context(token.shown(address))
        print(  # noqa: T201 - output for the user
            f"triseek: MCP server on http://{address.authority}{PATH}\n"
            f"triseek: clients send `Authorization: Bearer {shown}`",
            file=sys.stderr,
            flush=True,
        )

    serving.run(guard, bound, ready, grace_s=GRACE_S + 1, ended=guard.end)


class HttpSessions:
    """ASGI middleware that limits the sessions: a new one beyond the limit ends the idlest one.

    At its limit the SDK refuses new sessions until one has been idle for half an hour. For that
    long, clients that end without a DELETE would block all new ones. This class ends a session as a
    client would, by a DELETE. The session's client, if it still exists, gets 404 for its next
    request and initializes again, as the protocol specifies.
    """

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
        session = headers.get(SESSION_HEADER)
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
                    opened = Headers(raw=message["headers"]).get(SESSION_HEADER)
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
        headers = [(SESSION_HEADER.encode(), session.encode())]
        headers += [(name, value) for name, value in scope["headers"] if name == b"host"]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def unread(_: Message) -> None:
            """Discard the answer."""

        await self._app({**scope, "method": "DELETE", "headers": headers}, nothing, unread)


class RequestGuard:
    """ASGI middleware that admits only requests with our host name, the token, no foreign origin.

    It also ends the open requests when the process ends.
    """

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        self._app = app
        self._names = ServerNames(address)
        self._token = token
        self._open: dict[anyio.CancelScope, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._refusal(Headers(scope=scope))) is not None:
            await refusal(scope, receive, send)
        else:
            with anyio.CancelScope() as cancel_scope:
                self._open[cancel_scope] = scope["method"]
                try:
                    await self._app(scope, receive, send)
                finally:
                    del self._open[cancel_scope]

    async def end(self) -> None:
        """Cancel the streams, which would never end, and after `GRACE_S` all open requests."""
        for scope in [scope for scope, method in self._open.items() if method == "GET"]:
            scope.cancel()
        await anyio.sleep(GRACE_S)
        for scope in list(self._open):
            scope.cancel()

    def _refusal(self, headers: Headers) -> PlainTextResponse | None:
        refusal = self._names.refusal(headers)
        if refusal is not None:
            return PlainTextResponse(refusal.reason, refusal.status)
        if not knows(headers, self._token):
            return PlainTextResponse(
                "A bearer token is needed", 401, {"WWW-Authenticate": 'Bearer realm="triseek"'}
            )
        return None
