"""Resources: records of the history at their `claude-mem://` addresses, read by the tool for them.

They are offered where the tools of the history are.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from triseek.history import resources
from triseek.model.call import Call

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from triseek.mcp.tool_handlers import ToolHandlers

TOOL = "get_observations"
"""Takes addresses of all records."""
NOT_FOUND = -32002
"""The protocol's code for a resource that is not there."""


class ResourceHandlers:
    """The handlers of `resources/list`, `resources/templates/list` and `resources/read`."""

    def __init__(self, handlers: Callable[[], ToolHandlers]) -> None:
        """Read by the tools of `handlers`."""
        self._handlers = handlers

    async def listed(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Return none: there are too many records to list, and searches cite them."""
        return types.ListResourcesResult(resources=[])

    async def templates(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the forms of addresses."""
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    name=name, uri_template=template, mime_type=resources.MIME_TYPE
                )
                for name, template in resources.TEMPLATES.items()
            ]
        )

    async def read(
        self, _ctx: ServerRequestContext[Any], params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Return the record at an address in the full format."""
        from triseek.app.dispatch import text

        handlers, uri = self._handlers(), str(params.uri)
        tool = handlers.by_name(TOOL)
        if tool is None or not uri.startswith(resources.SCHEME):
            raise MCPError(code=NOT_FOUND, message=f"no resource {uri[:200]!r}")
        call = functools.partial(handlers.dispatch, tool, {"ids": [uri]}, Call(is_recorded=False))
        with handlers.working():
            answer = await anyio.to_thread.run_sync(call, abandon_on_cancel=True)
        shown = text(tool, answer.arguments, answer.envelope)
        if "error" in answer.envelope or answer.envelope["missing"]:
            raise MCPError(code=NOT_FOUND, message=shown)
        contents = types.TextResourceContents(uri=uri, mime_type=resources.MIME_TYPE, text=shown)
        return types.ReadResourceResult(contents=[contents])
