"""The MCP server on the SDK. It knows no transport: `mcp.session` and `mcp.http` do.

Without a daemon an agent's first call waits while the SDK is imported. So nothing else of weight is
imported before it: the handlers of the tools are made when they are first needed.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.lowlevel import Server

from triseek import __version__
from triseek.mcp.instructions import instructions
from triseek.mcp.prepared import WITH_RESOURCES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from mcp.server.context import ServerRequestContext

    from triseek.mcp.tool_handlers import ToolHandlers


def create(
    handlers: Callable[[], ToolHandlers],
    begin: Callable[[], None],
    toolsets: Collection[str] = (),
    text: str = "",
) -> Server[Any]:
    """Return a server for some tools on one root.

    Args:
        handlers: Returns the handlers of the tools, always the same.
        begin: Called once, after the first request: does work that would have delayed its answer.
        toolsets: The toolsets of the tools.
        text: What agents are told of the server, if it is not a search of one repository.
    """

    async def listed(
        ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return handlers().listed(ctx)

    async def call(
        ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        return await handlers().call(ctx, params)

    server: Server[Any] = Server(
        "triseek",
        version=__version__,
        title="triseek: code search",
        instructions=text or instructions(toolsets),
        on_list_tools=listed,
        on_call_tool=call,
    )
    if WITH_RESOURCES in toolsets:
        _add_resources(server, handlers)
    server.add_request_handler("shutdown", types.RequestParams, _shut_down)
    begin_once = functools.cache(begin)

    async def first(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401 - the SDK's
        try:
            return await call_next(ctx)
        finally:
            begin_once()

    server.middleware.append(first)
    return server


def _add_resources(server: Server[Any], handlers: Callable[[], ToolHandlers]) -> None:
    from triseek.mcp.resources import ResourceHandlers

    own = ResourceHandlers(handlers)
    paginated = types.PaginatedRequestParams
    server.add_request_handler("resources/list", paginated, own.listed)
    server.add_request_handler("resources/templates/list", paginated, own.templates)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, own.read)


async def _shut_down(_ctx: object, _params: object) -> types.EmptyResult:
    """Acknowledge the request: a transport with one client ends once the answer is written."""
    return types.EmptyResult()
