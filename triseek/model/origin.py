"""Where an action or a call comes from, as far as its client says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """An agent, its conversation and the connection; unknown parts are ""."""

    harness: str = ""
    """The agent's name, in any spelling."""
    session: str = ""
    """The agent's id of the conversation."""
    parent: str = ""
    """The conversation that began this one, if a sub-agent has a conversation of its own."""
    call: str = ""
    """The agent's id of the tool's use."""
    connection: str = ""
    """Unique among the connections of this machine's MCP clients."""
