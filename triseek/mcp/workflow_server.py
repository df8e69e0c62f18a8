"""Serve the workflow tools by HTTP as zoekt-mcp does: SSE on one port, streamable HTTP on another.

Both listen on loopback only and want the token, as `mcp.http` does. `/health` and `/ready` answer
without it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mcp.server.sse import SseServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response

from triseek import config, logs
from triseek.daemon.standalone import front
from triseek.loopback import serving
from triseek.loopback.address import Address, listening
from triseek.loopback.host_guard import ServerNames
from triseek.loopback.token import Token
from triseek.mcp import server
from triseek.mcp.hosting import choose_root, chosen_tools
from triseek.mcp.http import BODY_MAX, GRACE_S, SESSIONS_MAX, HttpSessions, RequestGuard
from triseek.mcp.tool_handlers import ToolHandlers

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Mapping

    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

TOOLSET = "workflows"
INSTRUCTIONS = """\
Answers questions on code in many repositories in one call. Find a workflow by search_capabilities \
(2-5 keywords), read how to call it by read_capability, run it by run_workflow_cli. Write a script \
for run_custom_workflow_code only if no workflow fits.
"""
"""How agents are to use the server."""
HTTP_PATH, SSE_PATH, MESSAGES_PATH = "/zoekt/mcp", "/zoekt/sse", "/zoekt/messages/"
SERVICE = "zoekt-mcp"
"""The name by which clients of zoekt-mcp know the service."""
PROBES: Mapping[str, Mapping[str, str]] = {
    "/health": {"status": "ok", "service": SERVICE},
    "/ready": {"status": "ready", "service": SERVICE, "mode": "capability-workflow-executor"},
}


def serve(repo: str, host: str, sse_port: int, http_port: int) -> None:
    """Serve clients until the process is told to end.

    The daemon runs the tools, with the variables of `surroundings.WORKFLOWS` as this process has
    them; without a usable daemon, this process does.

    Args:
        repo: The folder to answer for; "" to detect it.
        host: A loopback address.
        sse_port: Port of the SSE transport; 0 for any free one.
        http_port: Port of streamable HTTP; likewise.

    Raises:
        InvalidRequest: The address is not this machine's, or a setting or the token is invalid.
        Busy: A port is in use.
        StateUnwritable: The token file cannot be written.
    """
    logs.configure("mcp")
    tools, structured = chosen_tools(TOOLSET), config.read().mcp_structured
    addresses = [Address.parse(_authority(host, port)) for port in (sse_port, http_port)]
    with front(choose_root(repo)) as dispatch:
        handlers = ToolHandlers(dispatch, tools, structured=structured)
        mcp_server = server.create(lambda: handlers, dispatch.prepare, {TOOLSET}, text=INSTRUCTIONS)
        _listen(mcp_server, *addresses)


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host and not host.startswith("[") else f"{host}:{port}"


def _listen(mcp_server: Server[Any], sse: Address, http: Address) -> None:
    token = Token(TOOLSET)
    sse_socket, sse = listening(sse)
    with sse_socket:
        http_socket, http = listening(http)
        streamable = mcp_server.streamable_http_app(
            streamable_http_path=HTTP_PATH,
            max_request_body_size=BODY_MAX,
            max_sessions=SESSIONS_MAX,
            # `RequestGuard` does this.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        ports = Ports(
            streamable,
            {
                sse.port: Door(SseApp(mcp_server), sse, token.value),
                http.port: Door(HttpSessions(streamable, SESSIONS_MAX), http, token.value),
            },
        )

        def ready(leaving: contextlib.ExitStack) -> None:
            for address, path in ((sse, SSE_PATH), (http, HTTP_PATH)):
                shown = leaving.enter_context(token.shown(address))
                print(  # noqa: T201 - output for the user
                    f"triseek: workflows on http://{address.authority}{path}\n"
                    f"triseek: clients send `Authorization: Bearer {shown}`",
                    file=sys.stderr,
                    flush=True,
                )

        serving.run(
            ports, http_socket, ready, grace_s=GRACE_S + 1, ended=ports.end, also=[sse_socket]
        )


class Ports:
    """ASGI application that serves each port by its own."""

    def __init__(self, lifespan: ASGIApp, doors: Mapping[int, Door]) -> None:
        """Serve by `doors`; `lifespan` is what has to start and end with the server."""
        self._lifespan = lifespan
        self._doors = doors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request to the application of the port it came to."""
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
            return
        await self._doors[scope["server"][1]](scope, receive, send)

    async def end(self) -> None:
        """End the open requests of all ports."""
        import anyio

        async with anyio.create_task_group() as tasks:
            for door in self._doors.values():
                tasks.start_soon(door.guard.end)


class Door:
    """ASGI middleware that answers probes, and forwards other requests through a guard."""

    def __init__(self, app: ASGIApp, address: Address, token: str) -> None:
        """Guard `app` as `RequestGuard` does."""
        self.guard = RequestGuard(app, address, token)
        self._names = ServerNames(address)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer or forward a request."""
        probe = PROBES.get(scope["path"])
        if probe is None or scope["method"] not in ("GET", "HEAD"):
            await self.guard(scope, receive, send)
            return
        refusal = self._names.refusal(Headers(scope=scope))
        response: Response = JSONResponse(dict(probe))
        if refusal is not None:
            response = PlainTextResponse(refusal.reason, refusal.status)
        await response(scope, receive, send)


class SseApp:
    """ASGI application of the SSE transport: a stream for each client, and its messages."""

    def __init__(self, mcp_server: Server[Any]) -> None:
        """Serve `mcp_server`."""
        self._server = mcp_server
        self._transport = SseServerTransport(
            MESSAGES_PATH,
            TransportSecuritySettings(enable_dns_rebinding_protection=False),
            BODY_MAX,
        )
        self._open_streams = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a client's stream, or take one of its messages."""
        path, method = scope["path"], scope["method"]
        if path == SSE_PATH and method == "GET":
            if self._open_streams >= SESSIONS_MAX:
                await PlainTextResponse("Too many streams are open", 503)(scope, receive, send)
                return
            self._open_streams += 1
            try:
                async with self._transport.connect_sse(scope, receive, send) as streams:
                    options = self._server.create_initialization_options()
                    await self._server.run(streams[0], streams[1], options)
            finally:
                self._open_streams -= 1
        elif path.startswith(MESSAGES_PATH) and method == "POST":
            await self._transport.handle_post_message(scope, receive, send)
        else:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
