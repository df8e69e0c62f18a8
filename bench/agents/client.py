"""Real clients of real servers: the SDK's, over pipes."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from bench.model import Faulty
from triseek.model import token_estimate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from pathlib import Path


class Told(NamedTuple):
    """One answer."""

    seconds: float
    """From the call to the parsed result."""
    envelope: dict[str, Any]
    text: str


class Client:
    """One agent's connection."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> Told:
        """Call a tool.

        Raises:
            Faulty: it answered with an error.
        """
        began = time.perf_counter()
        result = await self._session.call_tool(tool, dict(arguments))
        seconds = time.perf_counter() - began
        text = "".join(getattr(part, "text", "") for part in result.content)
        if result.is_error or not isinstance(result.structured_content, dict):
            raise Faulty(f"{tool} {arguments}: {text[:200]}")
        return Told(seconds, result.structured_content, text)

    async def tools(self) -> dict[str, int]:
        """Return the tokens of each tool in the list of tools, by name."""
        listed = await self._session.list_tools()
        return {
            tool.name: token_estimate.of_text(tool.model_dump_json(exclude_none=True))
            for tool in listed.tools
        }


@contextlib.asynccontextmanager
async def connected(
    root: Path,
    environ: Mapping[str, str],
    python: str = sys.executable,
    options: Sequence[str] = (),
) -> AsyncIterator[Client]:
    """Start a server on a root and shake hands with it; it ends with the block."""
    server = StdioServerParameters(
        command=python,
        args=["-P", "-m", "triseek", "mcp", "serve", "--repo", str(root), *options],
        env={**os.environ, **environ},
    )
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        async with (
            stdio_client(server, errlog=nowhere) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            yield Client(session)
