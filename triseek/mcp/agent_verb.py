"""The daemon's verb `agent`: accept the MCP session of an agent, which its pipe asks for."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from triseek import config
from triseek.daemon import client_environment
from triseek.daemon.server import Declined
from triseek.mcp.backends import SENT_VARIABLES
from triseek.mcp.hosting import CONNECTION, choose_root, chosen_tools, run
from triseek.mcp.wire_lines import VERSION

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from triseek.app.tool_context import ToolContext
    from triseek.daemon.server import Session, Working

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest(client_environment.ClientEnvironment):
    """What a pipe sends to have a session served."""

    repo: str
    toolsets: str
    state: str
    """The work session that an earlier daemon served, "" for none."""


def accept(
    context: Callable[[str, Mapping[str, str]], ToolContext], values: dict[str, Any]
) -> Session | Declined:
    """Return the function that serves a requested session in the daemon, or why it is declined.

    Args:
        context: Makes the tool context of one session for a root, in the agent's environment.
        values: What the pipe sent, unchecked.

    Raises:
        InvalidRequest: There is no such toolset, or a setting is invalid.
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
    tools = chosen_tools(params.toolsets)
    root = choose_root(params.repo, params.environ, params.cwd)
    environ = client_environment.environ_with(params.environ, SENT_VARIABLES)
    settings = config.read(environ=environ)

    def serve(sock: socket.socket, working: Working) -> None:
        from triseek.app.dispatch import Local
        from triseek.mcp.tool_handlers import ToolHandlers

        tool_context = context(root, environ)
        if params.state:
            tool_context.session.work_on(params.state, CONNECTION)
        preload = threading.Thread(
            target=_open_root, args=(tool_context,), name="triseek-preload", daemon=True
        )
        session = params.environ.get("TRISEEK_SESSION_ID", "")
        handlers = ToolHandlers(
            Local(tool_context),
            tools,
            session,
            settings.mcp_structured,
            bool(settings.zoekt_api_url),
            working,
        )
        current = partial(tool_context.session.current, CONNECTION)
        toolsets = {tool.toolset for tool in tools}
        run(sock, lambda: handlers, preload.start, current, toolsets)

    return serve


def _open_root(context: ToolContext) -> None:
    try:
        context.host.engine  # noqa: B018 - opening it starts its maintenance
    except Exception:
        logger.debug("root not opened", exc_info=True)
