"""Host MCP sessions: those of `mcp.agent_verb`, in a process that an agent started, or by HTTP."""

from __future__ import annotations

import os
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING

from triseek import config, logs
from triseek.app import wings
from triseek.errors import BackendFailure, InvalidRequest
from triseek.files.tree.index_policy import repository

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import mcp_types as types

    from triseek.daemon.standalone import Standalone
    from triseek.mcp.session import Loss
    from triseek.mcp.tool_handlers import ToolHandlers
    from triseek.model.tool import Tool

ROOT_VARIABLES = ("TRISEEK_REPO_ROOT", "CLAUDE_PROJECT_DIR")
"""Name the root, in this order, if `--repo` does not."""
CONNECTION = "stdio"
"""The name of the connection in a session that has one client."""
END_S = 1.0
"""Seconds that closing waits for a session in this process."""


def known_toolsets(text: str) -> list[str]:
    """Return the names in `text`, separated by commas or spaces.

    Raises:
        InvalidRequest: There is no such toolset, or none is named.
    """
    names = text.replace(",", " ").split()
    unknown = wings.unknown_toolsets(text)
    if unknown or not names:
        raise InvalidRequest(
            f"no such toolset: {', '.join(unknown) or repr(text)}",
            next_step=f"Choose among {', '.join((wings.DEFAULT, *wings.TOOLSETS))}.",
        )
    return names


def chosen_tools(text: str) -> tuple[Tool, ...]:
    """Return the tools of the toolsets named in `text`. Raises as `known_toolsets`."""
    from triseek.app.registry import chosen

    return chosen(known_toolsets(text))


def choose_root(repo: str | None, environ: Mapping[str, str] = os.environ, folder: str = "") -> str:
    """Return the root that an agent's server answers for: an absolute path, which may not exist.

    It is the first that is set of: `repo`, the `ROOT_VARIABLES` in `environ`, the repository around
    the working folder (`files.tree.index_policy`), the working folder itself.

    Args:
        repo: The value of `--repo`; None or "" if not set.
        environ: The agent's environment.
        folder: The agent's working folder; "" for that of this process.
    """
    here = folder or os.getcwd()  # noqa: PTH109
    for chosen in (repo, *map(environ.get, ROOT_VARIABLES)):
        if chosen:
            return os.path.realpath(os.path.join(here, os.path.expanduser(chosen)))  # noqa: PTH111, PTH118
    return repository(here) or os.path.realpath(here)


def run(
    sock: socket.socket,
    handlers: Callable[[], ToolHandlers],
    begin: Callable[[], None],
    current: Callable[[], str],
    toolsets: Collection[str] = (),
) -> None:
    """Serve one agent until it has left.

    Args:
        sock: The socket connected to the agent's pipe.
        handlers: Returns the handlers of the tools, always the same.
        begin: Called once, after the first answer.
        current: Returns the agent's current work session, "" for none.
        toolsets: The toolsets of the tools.
    """
    import anyio

    from triseek.mcp import server
    from triseek.mcp import session as sessions

    mcp_server = server.create(handlers, begin, toolsets)
    anyio.run(sessions.serve, mcp_server, sock, partial(_lost, handlers), current)


def _lost(handlers: Callable[[], ToolHandlers], request: types.JSONRPCRequest) -> Loss:
    """Return what to do with a request if the process that works on it ends."""
    import mcp_types as types

    from triseek.mcp.session import Loss

    message = "the daemon ended before this was answered"
    is_call = request.method == "tools/call"
    tool = handlers().by_name((request.params or {}).get("name")) if is_call else None
    if tool is None:
        data = types.ErrorData(code=types.INTERNAL_ERROR, message=message)
        return Loss(True, types.JSONRPCError(jsonrpc="2.0", id=request.id, error=data))
    from triseek.mcp.tool_handlers import failure

    error = BackendFailure(message, next_step="Call it again.")
    if not tool.read_only:
        error = BackendFailure(
            f"{message}; it may have been done or not", next_step="Look before you call it again."
        )
    result = failure(tool, error).model_dump(by_alias=True, exclude_none=True)
    return Loss(tool.read_only, types.JSONRPCResponse(jsonrpc="2.0", id=request.id, result=result))


class LocalSession:
    """A session in a thread of this process, for when no daemon can be used.

    It searches here. Tools that need the daemon are called by it, if one can be started.

    Raises on creation:
        InvalidRequest: There is no such toolset, or a setting is invalid.
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
        self._toolsets = known_toolsets(toolsets)
        self._settings = config.read()
        self._root = choose_root(repo)
        self._state = state
        self._lock = threading.Lock()
        self._loaded: tuple[Standalone, ToolHandlers] | None = None
        self._is_closed = False
        self.sock, peer = (peer, peer) if peer else socket.socketpair()
        self._thread = threading.Thread(
            target=self._run, args=(peer,), name="triseek-session", daemon=True
        )
        self._thread.start()

    def _run(self, sock: socket.socket) -> None:
        loading = threading.Thread(target=self._begin, name="triseek-load", daemon=True)
        with sock:
            run(sock, lambda: self._load()[1], loading.start, self._current, self._toolsets)

    def _load(self) -> tuple[Standalone, ToolHandlers]:
        """Return what the tools work on, and their handlers; import and make them once."""
        with self._lock:
            if self._loaded is None:
                from triseek.app.registry import chosen
                from triseek.daemon.standalone import Standalone
                from triseek.mcp.tool_handlers import ToolHandlers

                alone = Standalone(self._root)
                if self._state:
                    alone.context.session.work_on(self._state, CONNECTION)
                tools = chosen(self._toolsets)
                handlers = ToolHandlers(
                    alone.local_searches,
                    tools,
                    structured=self._settings.mcp_structured,
                    has_cluster=bool(self._settings.zoekt_api_url),
                )
                self._loaded = alone, handlers
            return self._loaded

    def _begin(self) -> None:
        alone, _ = self._load()
        if not self._is_closed:
            alone.remote.begin_alone()

    def _current(self) -> str:
        if self._loaded is None:
            return self._state
        return self._loaded[0].context.session.current(CONNECTION)

    def wait(self) -> None:
        """Wait until the agent has left."""
        self._thread.join()

    def close(self) -> None:
        """End the session and the work it has started."""
        self.sock.close()
        self._thread.join(END_S)
        self._is_closed = True
        with self._lock:
            loaded = self._loaded
        if loaded is not None:
            loaded[0].close()
            loaded[0].outbox.send()


def serve_http(repo: str, toolsets: str, http: str) -> None:
    """Serve clients by HTTP at `HOST:PORT` until the process is told to end.

    The daemon runs the tools; without a usable daemon, this process does.

    Args:
        repo: The folder to answer for; "" to detect it.
        toolsets: Names of toolsets, separated by commas.
        http: HOST:PORT.

    Raises:
        InvalidRequest: the address is not this machine's, there is no such toolset, or a setting
            is invalid.
        Busy: the port is in use.
        StateUnwritable: the token file cannot be written.
    """
    logs.configure("mcp")
    from triseek.daemon.standalone import front
    from triseek.loopback.address import Address
    from triseek.mcp import http as over_http
    from triseek.mcp import server
    from triseek.mcp.tool_handlers import ToolHandlers

    tools = chosen_tools(toolsets)
    settings = config.read()
    with front(choose_root(repo)) as dispatch:
        handlers = ToolHandlers(
            dispatch,
            tools,
            structured=settings.mcp_structured,
            has_cluster=bool(settings.zoekt_api_url),
        )
        offered = {tool.toolset for tool in tools}
        mcp_server = server.create(lambda: handlers, dispatch.prepare, offered)
        over_http.serve(mcp_server, Address.parse(http))
