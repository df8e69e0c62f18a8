"""Serve MCP by streamable HTTP to clients on this machine.

Any page in a browser and any user of this machine can send requests to a local port. So the server
listens on loopback only, and accepts only requests whose Host header names it (under DNS rebinding,
where a page's name resolves to 127.0.0.1, that header has the page's name), that come from no
foreign page, and that carry the token. It checks all of this in the request's headers, before
reading the body.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from triseek import private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.ipc import folder
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.loopback.host_guard import ServerNames, knows
from triseek.mcp.http_sessions import HttpSessions

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterable, Callable, Iterator

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
BODY_MAX = 4 << 20
"""Size limit of a request's body in bytes."""
SESSIONS_MAX = 256
GRACE_S = 2
"""Seconds that open requests have when the process is told to end."""
TOKEN, TOKEN_FILE = "TRISEEK_MCP_TOKEN", "TRISEEK_MCP_TOKEN_FILE"
TOKEN_MIN = 16
"""Minimum characters of a token set by the user."""


def serve(server: Server[Any], address: Address, ending: Callable[[], None] = lambda: None) -> None:
    """Serve clients until the process is told to end, and call `ending` then.

    Raises:
        Busy: the port is in use.
        InvalidRequest: the address is not this machine's, or the token is invalid.
        StateUnwritable: the token file cannot be written.
    """
    with contextlib.closing(listening(address)) as bound:
        anyio.run(_serve, server, bound, Address(address.host, bound.getsockname()[1]), ending)


def application(server: Server[Any]) -> ASGIApp:
    """Return the SDK's application. Access control is left to `RequestGuard`."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_MAX,
        max_sessions=SESSIONS_MAX,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return HttpSessions(app, SESSIONS_MAX)


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


@contextlib.contextmanager
def _token(address: Address) -> Iterator[tuple[str, str]]:
    """Yield the token, and a shell expression that expands to it without showing it."""
    chosen = chosen_token()
    if chosen is not None:
        yield chosen, f"${TOKEN}"
        return
    token = secrets.token_urlsafe(32)
    with kept(address, token) as file:
        yield token, f"$(cat {shlex.quote(str(file))})"


def chosen_token() -> str | None:
    """Return the token set by the variable `TOKEN` or the file in `TOKEN_FILE`; None if not set.

    `TOKEN` is removed from the environment, so that child processes do not inherit it.

    Raises:
        InvalidRequest: the token is too short or has invalid characters, or the file is unreadable.
    """
    token, file = os.environ.pop(TOKEN, None), os.environ.get(TOKEN_FILE)
    if token is None and file:
        try:
            token = Path(file).read_text("ascii", "replace").strip()
        except OSError as error:
            raise InvalidRequest(
                f"cannot read {file}: {error.strerror}",
                next_step=f"Write a token into it, or unset {TOKEN_FILE}.",
            ) from None
    if token is None:
        return None
    if len(token) < TOKEN_MIN or not all("!" <= character <= "~" for character in token):
        raise InvalidRequest(
            f"a token has {TOKEN_MIN} or more printable ASCII characters and no space",
            next_step="Make one with `openssl rand -hex 32`, or let the server make one.",
        )
    return token


@contextlib.contextmanager
def kept(address: Address, token: str) -> Iterator[Path]:
    """Write the token to a private file named after the port; yield its path, then remove it."""
    file = Path(folder.ensure(), f"mcp-{address.port}.token")
    aside = file.with_suffix(f".{os.getpid()}.partial")
    try:
        with open(aside, "x", encoding="ascii", opener=private.opener) as text:
            text.write(token)
        aside.replace(file)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise StateUnwritable(f"cannot write {file}: {error.strerror}") from None
    try:
        yield file
    finally:  # we held the port until now, so the file is ours
        file.unlink(missing_ok=True)


def _announce(address: Address, shown: str) -> None:
    """Print the server's URL and the required header to standard error, without the token."""
    print(  # noqa: T201 - output for the user
        f"triseek: MCP server on http://{address.authority}{PATH}\n"
        f"triseek: clients send `Authorization: Bearer {shown}`",
        file=sys.stderr,
        flush=True,
    )


async def _serve(
    server: Server[Any], bound: socket.socket, address: Address, ending: Callable[[], None]
) -> None:
    """Serve until a signal. Signals are caught before anything exists that must be undone."""
    with (
        anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals,
        _token(address) as (token, shown),
    ):
        guard = RequestGuard(application(server), address, token)
        asgi = serving.server(guard, grace_s=GRACE_S + 1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_when_told, signals, asgi, guard, ending)
            _announce(address, shown)
            await asgi.serve(sockets=[bound])
            tasks.cancel_scope.cancel()


async def _end_when_told(
    signals: AsyncIterable[signal.Signals],
    asgi: serving.Uvicorn,
    guard: RequestGuard,
    ending: Callable[[], None],
) -> None:
    async for _ in signals:
        ending()
        asgi.should_exit = True
        await guard.end()
