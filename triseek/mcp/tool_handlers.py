"""Handlers of `tools/list` and `tools/call`: call the tools, and render their answers for the SDK.

Calls run in threads, so that a long search does not delay a short one. They end when their request
is cancelled.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp_types as types
from mcp.shared.exceptions import MCPError

from triseek.app.dispatch import failed, text
from triseek.errors import OutOfTime, TriseekError
from triseek.mcp import conversations, result_form, schemas
from triseek.model.call import Call
from triseek.model.plain_text import encodable
from triseek.model.tool import CLUSTER
from triseek.search import envelopes
from triseek.search.envelopes import DEADLINE_S, GRACE_S

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from mcp.server.context import ServerRequestContext

    from triseek.app.dispatch import Dispatch
    from triseek.model.index import Stage
    from triseek.model.tool import Tool

TIMED = frozenset(("search_content", "search_path_and_content", "find_files", "context_pack"))
LIMIT_S = DEADLINE_S + GRACE_S + 2.0
"""Seconds after which a call of a tool in `TIMED` is answered in any case."""
THREADS = 8
"""Calls that run at once; further calls wait."""


@dataclass
class ToolHandlers:
    """The handlers of some tools on one root."""

    dispatch: Dispatch
    """Calls the tools."""
    tools: Sequence[Tool]
    """The tools that are offered."""
    session: str = ""
    """The agent's session, used where its client does not name it."""
    structured: str = "auto"
    """The setting `mcp.structured`."""
    has_cluster: bool = False
    """Whether hosts that run Zoekt are configured."""
    working: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext
    """Makes a context manager that is entered for each call."""

    def __post_init__(self) -> None:
        self._by_name = {tool.name: tool for tool in self.tools}
        self._toolsets = frozenset(tool.toolset for tool in self.tools)
        if self.has_cluster:
            self._toolsets |= {CLUSTER}
        self._limiter = anyio.CapacityLimiter(THREADS)

    def by_name(self, name: object) -> Tool | None:
        """Return the tool of that name; None if none is offered."""
        return self._by_name.get(name) if isinstance(name, str) else None

    def listed(self, ctx: ServerRequestContext[Any]) -> types.ListToolsResult:
        """Return all tools in one page."""
        is_lean = result_form.is_lean(_client(ctx), self.structured)
        tools = [_listed(tool, is_lean, self._toolsets) for tool in self.tools if tool.is_listed]
        return types.ListToolsResult(tools=tools)

    async def call(
        self, ctx: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer one call; an error of the tool is an answer, too."""
        tool = self.by_name(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"unknown tool {params.name[:80]!r}")
        cancelled = threading.Event()
        client, connection = _client(ctx), _connection(ctx)
        meta, arguments = conversations.with_call(ctx.meta, params.arguments)
        call = Call(
            conversation=conversations.conversation(meta, client, connection),
            who=conversations.asker(meta, client, self.session),
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
                    functools.partial(self.dispatch, tool, arguments, call),
                    abandon_on_cancel=True,
                    limiter=self._limiter,
                )
            if time_scope.cancelled_caught:
                error = OutOfTime(f"no answer within {LIMIT_S:g} s")
                answer = failed(arguments, error)
        finally:
            cancelled.set()  # tells an abandoned thread to stop
        is_lean = result_form.is_lean(client, self.structured)
        return result(tool, answer.arguments, answer.envelope, is_lean=is_lean)


@functools.cache  # deriving the schemas takes longer than all else of a session's start
def _listed(tool: Tool, is_lean: bool, toolsets: frozenset[str]) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=schemas.description(tool),
        input_schema=dict(schemas.input_schema(tool, toolsets)),
        output_schema=None if is_lean else dict(schemas.output_schema(tool)),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def failure(tool: Tool, error: TriseekError) -> types.CallToolResult:
    """Return the result of a failed call."""
    return result(tool, {}, envelopes.failure(error))


def result(
    tool: Tool, arguments: dict[str, Any], envelope: dict[str, Any], *, is_lean: bool = False
) -> types.CallToolResult:
    """Return an answer as text and, unless it is to be lean, as structured content too."""
    shown = text(tool, arguments, envelope)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=shown)],
        structured_content=None if is_lean else encodable(envelope),
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
