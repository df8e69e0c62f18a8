"""Run tools for fronts in other processes: the MCP server by HTTP and the page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, TypedDict

from cachetools import LRUCache, cachedmethod

from triseek.app.dispatch import NEED_DAEMON, Local
from triseek.app.registry import TOOLS
from triseek.daemon import client_environment
from triseek.errors import DaemonUnreachable, InvalidRequest
from triseek.ipc import surroundings
from triseek.ipc.client import ErrorReport, report
from triseek.model.call import Call

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.app.tool_context import ToolContext
    from triseek.daemon.streams import Streams

FRONTS_MAX = 64
"""Maximum number of pairs of front and root whose conversations are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest(client_environment.ClientEnvironment):
    """The parameters of the verb `tool`: a call as a front has received it."""

    front: str
    """An id of the front's process."""
    root: str
    tool: str
    arguments: dict[str, Any]
    """As they came from the agent."""
    connection: str
    who: dict[str, str]
    session: str
    """The work session of the connection, "" for none: an earlier daemon may have opened it."""
    record: bool
    """Whether the call is an agent's work."""


class ToolReply(TypedDict):
    """The result of the verb `tool`."""

    arguments: Mapping[str, object]
    envelope: Mapping[str, object]
    error: ErrorReport | None
    session: str


class ToolCalls:
    """The handler of the verb `tool`."""

    def __init__(self, context: Callable[[str, Mapping[str, str]], ToolContext]) -> None:
        """`context` makes the tool context of one front for a root, in an environment."""
        self._context = context
        self._fronts: LRUCache[tuple[str, str], Local] = LRUCache(FRONTS_MAX)
        self._lock = Lock()

    def __call__(self, values: dict[str, Any], streams: Streams) -> ToolReply:
        """Run a tool; send its progress to the stream, and cancel it when the client leaves.

        Raises:
            InvalidRequest: The parameters are malformed, or the tool does not exist.
            DaemonUnreachable: The front resolves paths differently, or searches by other rules.
        """
        try:
            params = client_environment.read(ToolRequest, values)
        except client_environment.MalformedRequest:
            raise InvalidRequest("the parameters of a tool's call are malformed") from None
        tool = next((tool for tool in TOOLS if tool.name == params.tool), None)
        if tool is None:
            raise InvalidRequest(f"there is no tool {params.tool[:80]!r}")
        # Memory of sessions and contexts is the daemon's, whatever ignore rules the front has.
        differs = tool.toolset not in NEED_DAEMON and not client_environment.has_our_rules(params)
        if differs or not client_environment.is_shared(params):
            raise DaemonUnreachable("the daemon sees other files than this process")
        names = surroundings.of_workflows(params.environ)
        variables = tuple((name, params.environ[name]) for name in names)
        local = self._local(params.front, params.root, variables)
        sessions, connection = local.context.session, params.connection
        if params.session and not sessions.current(connection):
            sessions.work_on(params.session, connection)
        conversation = values.get("conversation")  # any text: it is only compared
        call = Call(
            conversation=conversation if isinstance(conversation, str) else None,
            who=params.who,
            connection=connection,
            is_recorded=params.record,
            cancelled=streams.gone,
            progress=lambda *step: streams.out(json.dumps(step).encode()),
        )
        answer = local(tool, params.arguments, call)
        return {
            "arguments": answer.arguments,
            "envelope": answer.envelope,
            "error": None if answer.error is None else report(answer.error),
            "session": sessions.current(connection),
        }

    @cachedmethod(attrgetter("_fronts"), lock=attrgetter("_lock"))
    def _local(self, _front: str, root: str, variables: tuple[tuple[str, str], ...]) -> Local:
        return Local(self._context(root, client_environment.of_workflows(dict(variables))))
