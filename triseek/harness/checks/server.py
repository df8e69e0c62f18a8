"""The MCP server as a client starts it: does it answer, and with which tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.harness.checks.clients import QUIET
from triseek.harness.checks.finding import fail, ok

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.harness.checks.finding import Finding
    from triseek.harness.checks.host import Host

_REVISION = "2025-06-18"
_ASKED: tuple[dict[str, Any], ...] = (
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": _REVISION,
            "capabilities": {},
            "clientInfo": {"name": "triseek-doctor", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": "tools", "method": "tools/list"},
)
_LIMIT_S = 20.0
"""Clients have more patience than that; on a machine with time it takes one second."""


def server(host: Host) -> Iterator[Finding]:
    """Start it, ask for its tools, and let it end."""
    if not host.program:
        return  # the first check says so
    words = [host.program, "mcp", "serve"]
    asked = b"".join(json.dumps(one).encode() + b"\n" for one in _ASKED)
    ran = host.run(words, stdin=asked, held=b'"tools"', limit_s=_LIMIT_S, more=QUIET)
    tools = _tools(ran.out)
    if tools:
        yield ok("MCP server", f"answers with {tools} tools, {ran.ms:.0f} ms from start to end")
    else:
        told = ran.trouble or f"status {ran.status}, {ran.out.strip()[:200] or 'not a word'}"
        yield fail("MCP server", f"does not answer: {told}", f"{host.program} mcp serve")


def _tools(out: str) -> int:
    for line in out.splitlines():
        try:
            told = json.loads(line)
            if told.get("id") == "tools":
                return len(told["result"]["tools"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
    return 0
