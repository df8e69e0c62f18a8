"""Streamable HTTP for clients of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int


def serve(server: Server[Any], address: Address) -> None:
    """Serve clients until the process is told to end."""
    raise NotImplementedError
