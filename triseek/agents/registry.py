"""The list of supported agents."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.model.client_name import is_named

if TYPE_CHECKING:
    from triseek.agents.base import Agent

_MODULES = (
    "claude_code",
    "codex",
    "opencode",
    "pi",
    "cursor",
    "cline",
    "gemini",
    "vscode",
    "zed",
)
"""Modules in this package with an `AGENT`, a line for each, in the order in which they are listed
to people."""
_READ_MODULES = ("qwen", "copilot", "goose")
"""As `_MODULES`, for agents whose conversations are read, but into which nothing is installed."""
AGENTS: tuple[Agent, ...] = tuple(
    import_module(f"triseek.agents.{module}").AGENT for module in _MODULES
)
READ_ONLY: tuple[Agent, ...] = tuple(
    import_module(f"triseek.agents.{module}").AGENT for module in _READ_MODULES
)
NAME_MAX = 60
"""Characters that are kept of an unknown name."""


def by_name(name: str) -> Agent | None:
    """Return the agent of that name, as in `triseek install`; None if there is none."""
    return next((agent for agent in AGENTS if agent.name == name), None)


def by_client(client: str) -> Agent | None:
    """Return the agent whose MCP client has that name; None if it is not known."""
    return next((agent for agent in AGENTS if is_named(client, agent.client_names)), None)


def with_transcripts() -> tuple[Agent, ...]:
    """Return the agents whose conversations can be read from disk."""
    return tuple(agent for agent in (*AGENTS, *READ_ONLY) if agent.transcripts is not None)


def receivers() -> tuple[Agent, ...]:
    """Return the agents that work can be handed over to."""
    return tuple(agent for agent in AGENTS if agent.handoff_name)


def receiver(name: str) -> Agent:
    """Return the agent that work is handed over to or comes from, in any spelling of its name.

    Raises:
        InvalidRequest: No known agent has that name.
    """
    agent = _receiver(name)
    if agent is None:
        *first, last = (f"`{other.handoff_name}`" for other in receivers())
        raise InvalidRequest(
            f"unsupported harness `{name[:NAME_MAX]}`; expected {', '.join(first)} or {last}",
            next_step="`claude` will do for `claude_code`.",
        )
    return agent


def recorded_name(name: str | None) -> str | None:
    """Return an agent's name as a snapshot records it: ours if it is known; None for no name."""
    plain = _plain(name or "")
    if not plain:
        return None
    agent = _receiver(plain)
    return agent.handoff_name if agent else plain[:NAME_MAX]


def _receiver(name: str) -> Agent | None:
    plain = _plain(name)
    return next(
        (agent for agent in receivers() if plain in (agent.handoff_name, *agent.aliases)), None
    )


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
