"""Access control of the page, and the security headers of its responses.

The page's own files hold no data and are served to any request that names this server; its data
requires the run's token. The token travels in a URL's fragment, which no browser sends anywhere,
and then in a header, which no other page can set: a cookie would be sent to every port of this
machine. Browsers are started with a ticket in place of the token, because any user of the machine
can read the command line of a process; a ticket is valid once.
"""

from __future__ import annotations

import hmac
import secrets
from threading import Lock
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse

from triseek.loopback.host_guard import Refusal, ServerNames, knows, only

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from triseek.loopback.address import Address

API = "/api/"
ENTER = "/api/enter"
"""The path where a ticket is exchanged for the token."""
REST, HEALTH, SSE = "/api/v1", "/health", "/sse"
"""Where the memory is served, also to programs, whose errors are `{"error": MESSAGE}`."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    # No text becomes markup or a script, whatever the page's own code does.
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TICKETS_MAX = 16


class Keys:
    """The token of one run and the tickets for it; safe to use from several threads."""

    def __init__(self, token: str = "") -> None:
        """Keep a token; "" to make one."""
        self.token = token or secrets.token_urlsafe(32)
        self._tickets: list[str] = []
        self._lock = Lock()

    def ticket(self) -> str:
        """Return a new ticket; the oldest becomes invalid if there are too many."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._tickets = [*self._tickets, ticket][-TICKETS_MAX:]
        return ticket

    def enter(self, ticket: str) -> bool:
        """Use up a ticket; return whether it was valid."""
        encoded = ticket.encode()
        with self._lock:
            left = [
                issued
                for issued in self._tickets
                if not hmac.compare_digest(issued.encode(), encoded)
            ]
            is_known = len(left) < len(self._tickets)
            self._tickets = left
        return is_known


class Auth:
    """An ASGI application around another: refuses requests, and adds headers to responses."""

    def __init__(
        self, app: ASGIApp, address: Address, keys: Keys, *, public: Collection[str]
    ) -> None:
        """Wrap an application. public: The paths that need no token."""
        self._app = app
        self._names = ServerNames(address)
        self._keys = keys
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["path"], Headers(scope=scope))
        app = self._app
        if refusal is not None:
            app = _refused(scope["path"], refusal)
        await app(scope, receive, sent)

    def _refusal(self, path: str, headers: Headers) -> Refusal | None:
        refusal = self._names.refusal(headers)
        if refusal is not None:
            return refusal
        if only(headers, "sec-fetch-site") not in ("", "same-origin", "none"):
            return Refusal(403, "Another page may not ask")
        if path == ENTER:
            scheme, _, ticket = only(headers, "authorization").partition(" ")
            is_valid = scheme == "Ticket" and self._keys.enter(ticket)
            return None if is_valid else Refusal(401, "That link has been used")
        if path not in self._public and not knows(headers, self._keys.token):
            return Refusal(401, "The token of this run is needed")
        return None


def _refused(path: str, refusal: Refusal) -> JSONResponse:
    """Return a refusal in the form of the errors of its path."""
    error: object = refusal.reason
    if not path.startswith((f"{REST}/", HEALTH, SSE)):
        error = {"code": "REFUSED", "message": refusal.reason, "suggested_action": ""}
    return JSONResponse({"error": error}, refusal.status)
