"""The server on the SDK: list the tools, call the service, render what it says.

Handlers run in threads, so that a long search does not hold up a short one, and end when their
request is cancelled. Nothing here knows how messages travel: `stdio` and `http` do.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import threading
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from triseek import __version__
from triseek.errors import BackendFailure, Cancelled, OutOfTime, TriseekError
from triseek.mcp import arguments, conversations, render, schemas
from triseek.mcp.instructions import INSTRUCTIONS
from triseek.model.plain_text import encodable
from triseek.service import envelopes, hydrated, telling
from triseek.service.desk import DEADLINE_S, GRACE_S, Call

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcp.server.context import ServerRequestContext

    from triseek.model.index import Stage
    from triseek.model.tool import Tool
    from triseek.service.desk import Desk

logger = logging.getLogger(__name__)

NAME = "triseek"
TIMED = frozenset(("search_content", "search_path_and_content", "find_files", "context_pack"))
LIMIT_S = DEADLINE_S + GRACE_S + 2.0
"""Seconds after which these tools are answered in any case."""
THREADS = 8
"""Calls that run at once; the next wait."""


def create(desk: Desk, tools: Sequence[Tool], begin: Callable[[], None]) -> Server[Any]:
    """A server for some tools, on one root.

    begin: called once, behind the first request: time for whatever would have held up its answer.
    """
    handlers = Tools(desk, tools)
    server: Server[Any] = Server(
        NAME,
        version=__version__,
        title="triseek: code search",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.listed,
        on_call_tool=handlers.call,
    )
    server.add_request_handler("shutdown", types.RequestParams, _shut_down)
    started = threading.Event()

    async def first(ctx: Any, call_next: Any) -> Any:  # noqa: ANN401 - the SDK's
        try:
            return await call_next(ctx)
        finally:
            if not started.is_set():
                started.set()
                begin()

    server.middleware.append(first)
    return server


async def _shut_down(_ctx: object, _params: object) -> types.EmptyResult:
    """Agree: the transport that has this one client ends when the answer is written."""
    return types.EmptyResult()


class Tools:
    """The two handlers."""

    def __init__(self, desk: Desk, tools: Sequence[Tool]) -> None:
        self._desk = desk
        self._by_name = {tool.name: tool for tool in tools}
        self._limiter: anyio.CapacityLimiter | None = None

    async def listed(
        self, _ctx: ServerRequestContext[Any], _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Every tool, in one page."""
        return types.ListToolsResult(tools=self._tools)

    @functools.cached_property
    def _tools(self) -> list[types.Tool]:
        return [_listed(tool) for tool in self._by_name.values()]

    async def call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer one call; what goes wrong in it is an answer too."""
        tool = self._by_name.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"unknown tool {params.name[:80]!r}")
        cancelled = threading.Event()
        call = Call(
            conversation=_conversation(ctx),
            who=conversations.asker(ctx.meta, _client(ctx)),
            connection=_connection(ctx) or "",
            cancelled=cancelled.is_set,
            progress=_progress(ctx),
        )
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        try:
            # A search looks at the time itself. What cannot (a file server that does not answer, a
            # long step of a library) is left to its thread, which nobody waits for.
            with anyio.move_on_after(LIMIT_S if tool.name in TIMED else None) as time:
                meant, envelope = await anyio.to_thread.run_sync(
                    functools.partial(self._answer, tool, params.arguments, call),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
            if time.cancelled_caught:
                error = OutOfTime(f"no answer within {LIMIT_S:g} s")
                meant, envelope = params.arguments or {}, envelopes.failure(error)
        finally:
            cancelled.set()  # whoever still works on it, works for nobody
        return _result(tool.name, meant, envelope)

    def _answer(
        self, tool: Tool, given: dict[str, Any] | None, call: Call
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments as they were understood, and the envelope, be it of an error."""
        meant = noted = given or {}
        try:
            request = arguments.read(tool, given)
            meant, noted = dataclasses.asdict(request), telling.chosen(request)
            envelope = tool.answer(self._desk, request, call)
            if tool.kind == "search":
                envelope = hydrated.beside(self._desk, tool.name, request, envelope)
        except Cancelled as error:
            return meant, envelopes.failure(error)
        except TriseekError as error:
            envelope = envelopes.failure(error)
        except Exception as error:
            logger.exception("%s failed", tool.name)
            envelope = envelopes.failure(BackendFailure(f"internal error: {type(error).__name__}"))
        self._desk.record(tool, noted, envelope, call)
        return meant, envelope


def _listed(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=schemas.description(tool),
        input_schema=schemas.input_schema(tool),
        output_schema=schemas.output_schema(tool),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=False,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _result(tool: str, given: dict[str, Any], envelope: dict[str, Any]) -> types.CallToolResult:
    envelope = encodable(envelope)
    text = encodable(render.digest(tool, given, envelope))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=envelope,
        is_error="error" in envelope,
    )


def _conversation(ctx: ServerRequestContext[Any]) -> str | None:
    return conversations.conversation(ctx.meta, _client(ctx), _connection(ctx))


def _connection(ctx: ServerRequestContext[Any]) -> str | None:
    # By HTTP a request may stand for itself; where it belongs to a session its header says so.
    return "stdio" if ctx.request is None else ctx.request.headers.get("mcp-session-id")


def _client(ctx: ServerRequestContext[Any]) -> str | None:
    client = ctx.session.client_params
    return client.client_info.name if client else None


def _progress(ctx: ServerRequestContext[Any]) -> Callable[[Stage, int, int], None]:
    """Tell the client how far a call has come; from its thread, in rising numbers."""
    stages: dict[Stage, int] = {}
    last = -1.0

    def tell(stage: Stage, done: int, total: int) -> None:
        nonlocal last
        stages.setdefault(stage, len(stages))
        share = done / total if total else 0.0
        now = stages[stage] + min(share, 1.0)
        if now <= last:
            return
        last = now
        message = f"{stage} {done:,}/{total:,}" if total else f"{stage} {done:,}"
        with contextlib.suppress(RuntimeError):  # the client has left
            anyio.from_thread.run(ctx.session.report_progress, now, None, message)

    return tell
