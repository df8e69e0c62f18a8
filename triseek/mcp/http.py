"""Streamable HTTP for clients of this machine.

Any page in a browser can send requests to a port of this machine, and so can any user of it. So the
server listens on loopback only, takes requests that name it (a page whose name was made to resolve
to 127.0.0.1 names itself, which is DNS rebinding) and come from no page but its own, and answers
nobody who does not know a token. All of that is decided by a request's head, before its body is
read.
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
from triseek.loopback.heads import Names, knows
from triseek.mcp.http_sessions import Sessions

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterable, Callable, Iterator

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
BODY_MAX = 4 << 20
"""Bytes of a request's body."""
SESSIONS_MAX = 256
GRACE_S = 2
"""What is under way when the process is told to end has so long."""
TOKEN, TOKEN_FILE = "TRISEEK_MCP_TOKEN", "TRISEEK_MCP_TOKEN_FILE"
TOKEN_MIN = 16
"""Characters of a token that somebody chose."""


def serve(server: Server[Any], address: Address, ending: Callable[[], None] = lambda: None) -> None:
    """Serve clients until the process is told to end; `ending` is called when it is.

    Raises:
        Busy: the port is in use.
        InvalidRequest: the address is not this machine's, or the token is none.
        StateUnwritable: the token cannot be kept where clients find it.
    """
    with contextlib.closing(listening(address)) as bound:
        anyio.run(_serve, server, bound, Address(address.host, bound.getsockname()[1]), ending)


def application(server: Server[Any]) -> ASGIApp:
    """The SDK's application; who may ask it is the guard's to say."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_MAX,
        max_sessions=SESSIONS_MAX,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Sessions(app, SESSIONS_MAX)


class Guard:
    """Lets those requests through that name this server, come from no foreign page, have the token.

    An ASGI application around another.
    """

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        self._app = app
        self._names = Names(address)
        self._token = token
        self._open: dict[anyio.CancelScope, str] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif (refusal := self._refusal(Headers(scope=scope))) is not None:
            await refusal(scope, receive, send)
        else:
            with anyio.CancelScope() as until_told:
                self._open[until_told] = scope["method"]
                try:
                    await self._app(scope, receive, send)
                finally:
                    del self._open[until_told]

    async def end(self) -> None:
        """End the streams, which would never end, and after a while whatever else is open."""
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
    """The token, and how a shell is told it without showing it."""
    chosen = chosen_token()
    if chosen is not None:
        yield chosen, f"${TOKEN}"
        return
    made = secrets.token_urlsafe(32)
    with kept(address, made) as file:
        yield made, f"$(cat {shlex.quote(str(file))})"


def chosen_token() -> str | None:
    """The token that somebody chose by a variable or a file that one names; None if nobody did.

    The variable is taken out of the environment: children have no need to know it.

    Raises:
        InvalidRequest: it is too short, or no token; or the file cannot be read.
    """
    given, file = os.environ.pop(TOKEN, None), os.environ.get(TOKEN_FILE)
    if given is None and file:
        try:
            given = Path(file).read_text("ascii", "replace").strip()
        except OSError as error:
            raise InvalidRequest(
                f"cannot read {file}: {error.strerror}",
                next_step=f"Write a token into it, or unset {TOKEN_FILE}.",
            ) from None
    if given is None:
        return None
    if len(given) < TOKEN_MIN or not all("!" <= character <= "~" for character in given):
        raise InvalidRequest(
            f"a token has {TOKEN_MIN} or more printable ASCII characters and no space",
            next_step="Make one with `openssl rand -hex 32`, or let the server make one.",
        )
    return given


@contextlib.contextmanager
def kept(address: Address, token: str) -> Iterator[Path]:
    """Have a token in a file that nobody else may read, named after the port; that file."""
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
    finally:  # the port was ours until now, so the file was too
        file.unlink(missing_ok=True)


def _announce(address: Address, shown: str) -> None:
    """Say on standard error where the server is and how it is asked; the token is not said."""
    print(  # noqa: T201 - what the user waits for
        f"triseek: MCP server on http://{address.authority}{PATH}\n"
        f"triseek: clients send `Authorization: Bearer {shown}`",
        file=sys.stderr,
        flush=True,
    )


async def _serve(
    server: Server[Any], bound: socket.socket, address: Address, ending: Callable[[], None]
) -> None:
    """Serve until a signal; whatever is to be undone then begins when signals are heard."""
    with (
        anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP) as signals,
        _token(address) as (token, shown),
    ):
        guard = Guard(application(server), address, token)
        asgi = serving.server(guard, grace_s=GRACE_S + 1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_end_when_told, signals, asgi, guard, ending)
            _announce(address, shown)
            await asgi.serve(sockets=[bound])
            tasks.cancel_scope.cancel()


async def _end_when_told(
    signals: AsyncIterable[signal.Signals],
    asgi: serving.Uvicorn,
    guard: Guard,
    ending: Callable[[], None],
) -> None:
    async for _ in signals:
        ending()
        asgi.should_exit = True
        await guard.end()
