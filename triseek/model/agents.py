"""The agents we know, by every name that people and programs use for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_MAX = 60


class Agent(NamedTuple):
    """One agent."""

    name: str
    """As snapshots have it: claude_code."""
    client: str
    """As `triseek install` has it: claude-code."""
    title: str
    """As a person is told of it."""
    aliases: tuple[str, ...] = ()


AGENTS: tuple[Agent, ...] = (
    Agent("claude_code", "claude-code", "Claude", ("claude", "claudecode")),
    Agent("codex", "codex", "Codex", ("codex_cli",)),
    Agent("opencode", "opencode", "OpenCode", ("open_code",)),
    Agent("pi", "pi", "Pi", ("pi_coding_agent",)),
    Agent("cursor", "cursor", "Cursor", ("cursor_agent",)),
    Agent("cline", "cline", "Cline"),
    Agent("gemini", "gemini", "Gemini", ("gemini_cli",)),
)
_BY_NAME: Mapping[str, Agent] = {
    name: agent for agent in AGENTS for name in (agent.name, *agent.aliases)
}


def agent(name: str) -> Agent:
    """The agent of a name, however it is spelled.

    Raises:
        InvalidRequest: We know none of that name.
    """
    found = _BY_NAME.get(_plain(name))
    if found is None:
        known = ", ".join(f"`{one.name}`" for one in AGENTS[:-1])
        raise InvalidRequest(
            f"unsupported harness `{name[:NAME_MAX]}`; expected {known} or `{AGENTS[-1].name}`",
            next_step="`claude` will do for `claude_code`.",
        )
    return found


def told_name(name: str | None) -> str | None:
    """A harness as a snapshot records it: by our name where we know it; None for none."""
    plain = _plain(name or "")
    if not plain:
        return None
    found = _BY_NAME.get(plain)
    return found.name if found else plain[:NAME_MAX]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_")
