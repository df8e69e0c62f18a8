"""Host MCP sessions: in the daemon, in the process that an agent started, or by HTTP."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek import logs
from triseek.app import wings
from triseek.daemon import client_environment
from triseek.daemon.server import Declined
from triseek.errors import BackendFailure, InvalidRequest
from triseek.files.tree.root import git_root
from triseek.mcp.wire_lines import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import mcp_types as types

    from triseek.app.dispatch import Dispatch
    from triseek.app.tool_context import ToolContext
    from triseek.daemon.server import Session, Working
    from triseek.mcp.session import Loss
    from triseek.model.tool import Tool

logger = logging.getLogger(__name__)

ROOT_VARIABLES = ("TRISEEK_REPO_ROOT", "CLAUDE_PROJECT_DIR")
"""Name the root, in this order, if `--repo` does not."""
CONNECTION = "stdio"
"""The name of the connection in a session that has one client."""
END_S = 1.0
"""Seconds that closing waits for a session in this process."""


def chosen_toolsets(text: str) -> tuple[Tool, ...]:
    """Return the tools of the toolsets named in `text`, separated by commas or spaces.

    Raises:
        InvalidRequest: There is no such toolset, or none is named.
    """
    from triseek.app.registry import chosen

    names = text.replace(",", " ").split()
    unknown = wings.unknown_toolsets(text)
    if unknown or not names:
        raise InvalidRequest(
            f"no such toolset: {', '.join(unknown) or repr(text)}",
            next_step=f"Choose among {', '.join(wings.TOOLSETS)}.",
        )
    return chosen(names)


def choose_root(repo: str | None, environ: Mapping[str, str] = os.environ, folder: str = "") -> str:
    """Return the root that an agent's server answers for: an absolute path, which may not exist.

    It is the first that is set of: `repo`, the `ROOT_VARIABLES` in `environ`, the repository around
    the working folder, the working folder itself.

    Args:
        repo: The value of `--repo`; None or "" if not set.
        environ: The agent's environment.
        folder: The agent's working folder; "" for that of this process.
    """
    here = folder or os.getcwd()  # noqa: PTH109
    for chosen in (repo, *map(environ.get, ROOT_VARIABLES)):
        if chosen:
            return os.path.realpath(os.path.join(here, os.path.expanduser(chosen)))  # noqa: PTH111, PTH118
    return git_root(here) or os.path.realpath(here)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest(client_environment.ClientEnvironment):
    """What a pipe sends to have a session served."""

    repo: str
    toolsets: str
    state: str
    """The work session that an earlier daemon served, "" for none."""


def accept(context: Callable[[str], ToolContext], values: dict[str, Any]) -> Session | Declined:
    """Return the function that serves a requested session in the daemon, or why it is declined.

    Args:
        context: Makes the tool context of one session for a root.
        values: What the pipe sent, unchecked.

    Raises:
        InvalidRequest: There is no such toolset.
    """
    try:
        params = client_environment.read(HostRequest, values)
    except client_environment.MalformedRequest:
        return Declined("malformed")
    if values.get("pipe") != VERSION:
        return Declined("pipe")
    if not client_environment.is_shared(params):
        return Declined("place")
    if not client_environment.has_our_rules(params):
        return Declined("environ")
    tools = chosen_toolsets(params.toolsets)
    root = choose_root(params.repo, params.environ, params.cwd)

    def serve(sock: socket.socket, working: Working) -> None:
        tool_context = context(root)
        if params.state:
            tool_context.session.work_on(params.state, CONNECTION)
        preload = threading.Thread(
            target=_open_root, args=(tool_context,), name="triseek-preload", daemon=True
        )
        session = params.environ.get("TRISEEK_SESSION_ID", "")
        from triseek.app.dispatch import Local

        run(sock, tool_context, Local(tool_context), tools, preload.start, session, working)

    return serve


def _open_root(context: ToolContext) -> None:
    try:
        context.host.engine  # noqa: B018 - opening it starts its maintenance
    except Exception:
        logger.debug("root not opened", exc_info=True)


def run(
    sock: socket.socket,
    context: ToolContext,
    dispatch: Dispatch,
    tools: Sequence[Tool],
    begin: Callable[[], None],
    session: str = "",
    working: Working = contextlib.nullcontext,
) -> None:
    """Serve one agent until it has left.

    Args:
        sock: The socket connected to the agent's pipe.
        context: The tool context.
        dispatch: Calls tools on it.
        tools: The tools that the agent may call.
        begin: Called once, after the first answer.
        session: The agent's session, used where its client does not name it.
        working: Makes a context manager that is entered for each call.
    """
    import anyio

    from triseek.mcp import server
    from triseek.mcp import session as sessions

    mcp_server = server.create(dispatch, tools, begin, session=session, working=working)
    anyio.run(
        sessions.serve,
        mcp_server,
        sock,
        partial(_lost, tools),
        lambda: context.session.current(CONNECTION),
    )


def _lost(tools: Sequence[Tool], request: types.JSONRPCRequest) -> Loss:
    """Return what to do with a request if the process that works on it ends."""
    import mcp_types as types

    from triseek.mcp import server
    from triseek.mcp.session import Loss

    message = "the daemon ended before this was answered"
    name = (request.params or {}).get("name")
    tool = next((tool for tool in tools if tool.name == name), None)
    if request.method != "tools/call" or tool is None:
        data = types.ErrorData(code=types.INTERNAL_ERROR, message=message)
        return Loss(True, types.JSONRPCError(jsonrpc="2.0", id=request.id, error=data))
    error = BackendFailure(message, next_step="Call it again.")
    if not tool.read_only:
        error = BackendFailure(
            f"{message}; it may have been done or not", next_step="Look before you call it again."
        )
    result = server.failure(tool, error).model_dump(by_alias=True, exclude_none=True)
    return Loss(tool.read_only, types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result))


class LocalSession:
    """A session in a thread of this process, for when no daemon can be used.

    It searches here. Tools that need the daemon are called by it, if one can be started.

    Raises on creation:
        InvalidRequest: There is no such toolset.
    """

    def __init__(
        self, repo: str, toolsets: str, state: str, peer: socket.socket | None = None
    ) -> None:
        """Serve on one end of a socket.

        Args:
            repo: The folder to answer for, "" to detect it.
            toolsets: Names of toolsets, separated by commas.
            state: The state that the previous session reported.
            peer: The session's end; None to make a socket, whose other end is then `sock`.
        """
        logs.configure("mcp")
        from triseek.daemon.standalone import Standalone

        tools = chosen_toolsets(toolsets)
        self._alone = Standalone(choose_root(repo))
        if state:
            self._alone.context.session.work_on(state, CONNECTION)
        self.sock, peer = (peer, peer) if peer else socket.socketpair()
        self._thread = threading.Thread(
            target=self._run, args=(peer, tools), name="triseek-session", daemon=True
        )
        self._thread.start()

    def _run(self, sock: socket.socket, tools: Sequence[Tool]) -> None:
        with sock:
            run(sock, self._alone.context, self._alone.here, tools, self._alone.begin)

    def wait(self) -> None:
        """Wait until the agent has left."""
        self._thread.join()

    def close(self) -> None:
        """End the session and the work it has started."""
        self.sock.close()
        self._thread.join(END_S)
        self._alone.close()
        self._alone.outbox.send()


def serve_http(repo: str, toolsets: str, http: str) -> None:
    """Serve clients by HTTP at `HOST:PORT` until the process is told to end.

    The daemon runs the tools; without a usable daemon, this process does.

    Args:
        repo: The folder to answer for; "" to detect it.
        toolsets: Names of toolsets, separated by commas.
        http: HOST:PORT.

    Raises:
        InvalidRequest: the address is not this machine's, or there is no such toolset.
        Busy: the port is in use.
        StateUnwritable: the token file cannot be written.
    """
    logs.configure("mcp")
    from triseek.daemon.standalone import front
    from triseek.loopback.address import Address
    from triseek.mcp import http as over_http
    from triseek.mcp import server

    tools = chosen_toolsets(toolsets)
    with front(choose_root(repo)) as dispatch:
        over_http.serve(server.create(dispatch, tools, dispatch.prepare), Address.parse(http))
