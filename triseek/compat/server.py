"""Serve local indexes by Zoekt's HTTP interface.

Zoekt has no access checks. On loopback this server asks for a token only if it was told to, because
Zoekt's clients send none; but a page in a browser can reach a local port, so a request has to name
this server and to come from no page. On any other address a token is needed, unless the user gives
that up by name.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import sys
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from triseek.compat.app import application, refused
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.loopback.host_guard import ServerNames, knows, only
from triseek.loopback.token import Token

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from triseek.model.code_search import CodeSource

GRACE_S = 2
"""Seconds that open requests have when the process is told to end."""
OPEN_PATHS = ("/healthz", "/readyz")
"""Paths by which a load balancer looks after the server: they need no token."""


def serve(
    source: CodeSource,
    address: Address,
    *,
    needs_token: bool,
    is_ready: Callable[[], bool],
) -> None:
    """Serve a source until the process is told to end.

    Raises:
        Busy: The port is in use.
        InvalidRequest: The token that is set is invalid.
        StateUnwritable: The token's file cannot be written.
    """
    bound, address = listening(address)
    token = Token("zoekt") if needs_token else None
    guard = Guard(application(source, is_ready), address, token.value if token else "")

    def ready(leaving: contextlib.ExitStack) -> None:
        lines = [f"triseek: Zoekt's interface on http://{address.authority}"]
        if token is not None:
            shown = leaving.enter_context(token.shown(address))
            lines.append(
                f"triseek: clients send `Authorization: Bearer {shown}`, or it as password"
            )
        print(*lines, sep="\n", file=sys.stderr, flush=True)  # noqa: T201 - output for the user

    serving.run(guard, bound, ready, grace_s=GRACE_S)


class Guard:
    """ASGI middleware that refuses requests of foreign pages, and those without the token."""

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        """Guard an application. token: "" if none is needed."""
        self._app = app
        # Behind a proxy or under a name of its network, a server does not know its own names; a
        # page that was made to ask it (DNS rebinding) does not know the token.
        self._names = ServerNames(address) if address.is_loopback else None
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        app: ASGIApp = self._app
        if scope["type"] == "http":
            app = self._refusal(scope["path"], Headers(scope=scope)) or app
        await app(scope, receive, send)

    def _refusal(self, path: str, headers: Headers) -> Response | None:
        refusal = self._names.refusal(headers) if self._names else None
        if refusal is not None:
            return refused(refusal.reason, refusal.status)
        if only(headers, "sec-fetch-site") not in ("", "same-origin", "none"):
            return refused("Another page may not ask", 403)
        if self._token and path not in OPEN_PATHS and not self._has_token(headers):
            response = refused("A bearer token is needed", 401)
            response.headers["WWW-Authenticate"] = 'Basic realm="triseek"'
            return response
        return None

    def _has_token(self, headers: Headers) -> bool:
        """Return whether a request has the token: as bearer, or as password of any user.

        Clients that know nothing of tokens take a URL with a password.
        """
        if knows(headers, self._token):
            return True
        scheme, _, credentials = only(headers, "authorization").partition(" ")
        try:
            _, _, password = base64.b64decode(credentials, validate=True).partition(b":")
        except (binascii.Error, ValueError):
            return False
        is_known = hmac.compare_digest(password, self._token.encode())
        return scheme.lower() == "basic" and is_known
