"""Answers what needs no memory: the handshake, ping, and the list of tools.

The server's name is that of the contract, `trusty-memory`, because its clients may look for it; the
version is triseek's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import __version__
from triseek.memory.profile.messages import METHOD_NOT_FOUND, SHOWN_MAX, RpcError, compact

if TYPE_CHECKING:
    from triseek.memory.profile.messages import Message

PROTOCOL = "2024-11-05"
"""The version of MCP, whichever the client asks for."""
NAME = "trusty-memory"


def answer(message: Message, default_palace: str) -> dict[str, object]:
    """Return the result of a request that is no call of a tool.

    default_palace: Of calls that name none; "" if each must name one.

    Raises:
        RpcError: There is no such method.
    """
    match message.method:
        case "initialize":
            return _initialize(default_palace)
        case "ping":
            return {}
        case "tools/list":
            return _tools(default_palace)
    name = message.method if isinstance(message.method, str) else compact(message.method)
    raise RpcError(METHOD_NOT_FOUND, f"Method not found: {name[:SHOWN_MAX]}")


def _initialize(default_palace: str) -> dict[str, object]:
    server = {"name": NAME, "version": __version__}
    if default_palace:
        server["default_palace"] = default_palace
    return {"protocolVersion": PROTOCOL, "capabilities": {"tools": {}}, "serverInfo": server}


def _tools(default_palace: str) -> dict[str, object]:
    """Return the contract's schemas. With a default palace, no tool requires the argument."""
    tools = json.loads(Path(__file__).with_name("tools.json").read_text(encoding="utf-8"))
    if default_palace:
        for tool in tools:
            required = tool["inputSchema"].get("required", [])
            required[:] = [name for name in required if name != "palace"]
    return {"tools": tools}
