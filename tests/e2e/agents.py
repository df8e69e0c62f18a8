"""An agent's client, the SDK's own, on a server that is a real process.

It says which context its answers go to, as a client has to that wants to be told what it has.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mcp_types as types
from anyio.from_thread import start_blocking_portal
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.result_schemas import check
from triseek.mcp.conversations import CONTEXT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

PACKAGE = Path(__file__).parents[2]
WAIT_S = 120.0


class Agent:
    """Calls tools, one after the other."""

    def __init__(self, portal: Any, session: ClientSession, told: Any) -> None:
        self._portal = portal
        self._session = session
        self.told = told
        """What the server said of itself."""

    def tools(self) -> list[types.Tool]:
        return self._portal.call(self._session.list_tools).tools

    def result(self, tool: str, *, meta: Any = None, **asked: Any) -> types.CallToolResult:
        """With another `meta` than the one that names the context, if one is given."""
        meta = {CONTEXT: "the one"} if meta is None else meta

        async def call() -> Any:
            return await self._session.call_tool(tool, asked, WAIT_S, meta=meta)

        result = self._portal.call(call)
        check(tool, result.structured_content)
        return result

    def call(self, tool: str, *, meta: Any = None, **asked: Any) -> dict[str, Any]:
        """The envelope."""
        return self.result(tool, meta=meta, **asked).structured_content

    def text(self, tool: str, **asked: Any) -> str:
        """The digest."""
        [block] = self.result(tool, **asked).content
        return block.text


@contextlib.contextmanager
def agent(
    folder: str | Path, *words: str, client: str = "test", log: Path | None = None, **environ: str
) -> Iterator[Agent]:
    """A client of `triseek mcp serve WORDS` in a folder, until the block ends."""

    @contextlib.asynccontextmanager
    async def connected() -> AsyncIterator[tuple[ClientSession, Any]]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "triseek", "mcp", "serve", *words],
            env={
                **os.environ,
                "PYTHONPATH": str(PACKAGE),
                "TRISEEK_MCP_STRUCTURED": "full",  # whatever agent it says it is
                **environ,
            },
            cwd=str(folder),
        )
        with open(log or os.devnull, "w", encoding="utf-8") as errors:
            async with (
                stdio_client(server, errors) as (read, write),
                ClientSession(
                    read, write, WAIT_S, client_info=types.Implementation(name=client, version="1")
                ) as session,
            ):
                yield session, await session.initialize()

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connected()) as (session, told),
    ):
        yield Agent(portal, session, told)
