"""The MCP server on the SDK: list the tools, call them, render their answers.

Handlers run in threads, so that a long search does not delay a short one. They end when their
request is cancelled. This module knows no transport: `mcp.session` and `mcp.http` do.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from triseek import __version__
from triseek.app.dispatch import digest, failed
from triseek.errors import OutOfTime, TriseekError
from triseek.mcp import conversations, schemas
from triseek.mcp.instructions import INSTRUCTIONS
from triseek.model.call import Call
from triseek.model.plain_text import encodable
from triseek.search import envelopes
from triseek.search.envelopes import DEADLINE_S, GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from mcp.server.context import ServerRequestContext

    from triseek.app.dispatch import Dispatch
    from triseek.model.index import Stage
    from triseek.model.tool import Tool

logger = logging.getLogger(__name__)

TIMED = frozenset(("search_content", "search_path_and_content", "find_files", "context_pack"))
LIMIT_S = DEADLINE_S + GRACE_S + 2.0
"""Seconds after which a call of a tool in `TIMED` is answered in any case."""
THREADS = 8
"""Calls that run at once; further calls wait."""


def create(
    dispatch: Dispatch,
    tools: Sequence[Tool],
    begin: Callable[[], None],
    *,
    session: str = "",
    working: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
) -> Server[Any]:
    """Return a server for some tools on one root.

    Args:
        dispatch: Calls the tools.
        tools: The tools that are offered.
        begin: Called once, after the first request: does work that would have delayed its answer.
        session: The agent's session, used where its client does not name it.
        working: Makes a context manager that is entered for each call.
    """
    handlers = Tools(dispatch, tools, session, working)
    server: Server[Any] = Server(
        "triseek",
        version=__version__,
        title="triseek: code search",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.listed,
        on_call_tool=handlers.call,
    )
    server.add_request_handler("shutdown", types.RequestParams, _shut_down)
    begin_once = functools.cache(begin)

    async def first(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401 - the SDK's
        try:
            return await call_next(ctx)
        finally:
            begin_once()

    server.middleware.append(first)
    return server


async def _shut_down(_ctx: object, _params: object) -> types.EmptyResult:
    """Acknowledge the request: a transport with one client ends once the answer is written."""
    return types.EmptyResult()


@dataclass
class Tools:
    """The handlers of `tools/list` and `tools/call`; the fields are as `create` has them."""

    dispatch: Dispatch
    tools: Sequence[Tool]
    session: str
    working: Callable[[], AbstractContextManager[None]]

    def __post_init__(self) -> None:
        self._by_name = {tool.name: tool for tool in self.tools}
        self._limiter = anyio.CapacityLimiter(THREADS)

    async def listed(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Return all tools in one page."""
        return types.ListToolsResult(tools=self._listing)

    @functools.cached_property
    def _listing(self) -> list[types.Tool]:
        return [_listed(tool) for tool in self.tools]

    async def call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer one call; an error of the tool is an answer, too."""
        tool = self._by_name.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"unknown tool {params.name[:80]!r}")
        cancelled = threading.Event()
        client, connection = _client(ctx), _connection(ctx)
        call = Call(
            conversation=conversations.conversation(ctx.meta, client, connection),
            who=conversations.asker(ctx.meta, client, self.session),
            connection=connection or "",
            cancelled=cancelled.is_set,
            progress=_progress(ctx),
        )
        try:
            # A search checks its own time limit. If it cannot (a file server that does not answer,
            # a long step of a library), its thread is abandoned.
            with (
                self.working(),
                anyio.move_on_after(LIMIT_S if tool.name in TIMED else None) as time_scope,
            ):
                answer = await anyio.to_thread.run_sync(
                    functools.partial(self.dispatch, tool, params.arguments, call),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
            if time_scope.cancelled_caught:
                error = OutOfTime(f"no answer within {LIMIT_S:g} s")
                answer = failed(params.arguments, error)
        finally:
            cancelled.set()  # tells an abandoned thread to stop
        return result(tool, answer.arguments, answer.envelope)


@functools.cache  # deriving the schemas takes longer than all else of a session's start
def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=schemas.description(tool),
        input_schema=dict(schemas.input_schema(tool)),
        output_schema=dict(schemas.output_schema(tool)),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def failure(tool: Tool, error: TriseekError) -> types.CallToolResult:
    """Return the result of a failed call."""
    return result(tool, {}, envelopes.failure(error))


def result(tool: Tool, arguments: dict[str, Any], envelope: dict[str, Any]) -> types.CallToolResult:
    """Return an answer both as text and as structured content."""
    envelope = encodable(envelope)
    text = encodable(digest(tool, arguments, envelope))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=envelope,
        is_error="error" in envelope,
    )


def _connection(ctx: ServerRequestContext[Any]) -> str | None:
    # By HTTP a request may belong to no session; otherwise a header names the session.
    return "stdio" if ctx.request is None else ctx.request.headers.get("mcp-session-id")


def _client(ctx: ServerRequestContext[Any]) -> str | None:
    client = ctx.session.client_params
    return client.client_info.name if client else None


def _progress(ctx: ServerRequestContext[Any]) -> Callable[[Stage, int, int], None]:
    """Return a callback that reports a call's progress to the client.

    It is called from the call's thread, and reports increasing numbers only.
    """
    stages: dict[Stage, int] = {}
    last = -1.0

    def tell(stage: Stage, done: int, total: int) -> None:
        nonlocal last
        stages.setdefault(stage, len(stages))
        share = done / total if total else 0.0
        progress = stages[stage] + min(share, 1.0)
        if progress <= last:
            return
        last = progress
        message = f"{stage} {done:,}/{total:,}" if total else f"{stage} {done:,}"
        with contextlib.suppress(RuntimeError):  # the client has left
            anyio.from_thread.run(ctx.session.report_progress, progress, None, message)

    return tell
