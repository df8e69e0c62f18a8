"""Host agents' sessions: in the daemon, or in the process that the agent started."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

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

    from triseek.app.tool_context import ToolContext
    from triseek.daemon.server import Request, Session, Working
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


class SessionAcceptor:
    """Accepts sessions in the daemon."""

    def __init__(self, context: Callable[[str], ToolContext]) -> None:
        """`context` makes the tool context of one session for a root."""
        self._context = context

    def accept(self, request: Request) -> Session | Declined:
        """Return the function that serves the requested session, or why it is declined.

        Raises:
            InvalidRequest: There is no such toolset.
        """
        try:
            params = client_environment.read(HostRequest, request.params)
        except client_environment.MalformedRequest:
            return Declined("malformed")
        if request.params.get("pipe") != VERSION:
            return Declined("pipe")
        if not client_environment.is_shared(params):
            return Declined("place")
        if not client_environment.has_our_rules(params):
            return Declined("environ")
        tools = chosen_toolsets(params.toolsets)
        root = choose_root(params.repo, params.environ, params.cwd)
        session = params.environ.get("TRISEEK_SESSION_ID", "")
        return partial(self._serve, root, tools, params.state, session)

    def _serve(
        self,
        root: str,
        tools: Sequence[Tool],
        state: str,
        session: str,
        sock: socket.socket,
        working: Working,
    ) -> None:
        context = self._context(root)
        if state:
            context.session.work_on(state, CONNECTION)
        run(sock, context, tools, lambda: _preload(context), session, working)


def _preload(context: ToolContext) -> None:
    """Open the root in a thread, which starts its maintenance."""

    def keep() -> None:
        try:
            context.engine  # noqa: B018 - opening it starts its maintenance
        except Exception:
            logger.debug("root not opened", exc_info=True)

    threading.Thread(target=keep, name="triseek-preload", daemon=True).start()


def run(
    sock: socket.socket,
    context: ToolContext,
    tools: Sequence[Tool],
    begin: Callable[[], None],
    session: str = "",
    working: Working = contextlib.nullcontext,
) -> None:
    """Serve one agent until it has left.

    Args:
        sock: The socket connected to the agent's pipe.
        context: The tool context.
        tools: The tools that the agent may call.
        begin: Called once, after the first answer.
        session: The agent's session, used where its client does not name it.
        working: Makes a context manager that is entered for each call.
    """
    import anyio

    from triseek.app.dispatch import Local
    from triseek.mcp import server
    from triseek.mcp import session as sessions

    mcp_server = server.create(Local(context), tools, begin, session=session, working=working)
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
    """A session in a thread of this process, for when no daemon can be used; searches only.

    Raises on creation:
        InvalidRequest: There is no such toolset.
    """

    def __init__(self, repo: str, toolsets: str) -> None:
        """For the folder `repo`, "" to detect it, and comma-separated `toolsets`."""
        logs.configure("mcp")
        from triseek.daemon.standalone import Outbox, Startup, context_alone

        tools = chosen_toolsets(toolsets)
        self._startup = Startup()
        self._outbox = Outbox()
        self._service, context = context_alone(self._startup, choose_root(repo), self._outbox)
        self.sock, peer = socket.socketpair()
        self._thread = threading.Thread(
            target=self._run,
            args=(peer, context, tools),
            name="triseek-session",
            daemon=True,
        )
        self._thread.start()

    def _run(self, sock: socket.socket, context: ToolContext, tools: Sequence[Tool]) -> None:
        with sock:
            run(sock, context, tools, lambda: self._startup.begin(context))

    def close(self) -> None:
        """End the session and the work it has started."""
        self.sock.close()
        self._thread.join(END_S)
        self._startup.end()
        self._service.close()
        self._outbox.send()
