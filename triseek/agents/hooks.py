"""Reads hook payloads of agents into hook events.

Payloads are JSON objects that agents write to a hook's standard input. Most agents use Claude
Code's shape, and each has its own tools. Payloads are untrusted: what is not understood is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.agents import registry
from triseek.agents.claude_code import ClaudeCode
from triseek.agents.hook_protocol import moment
from triseek.agents.payloads.fields import Fields, fields_of, parsed

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.agents.base import Agent
    from triseek.model.hook_event import HookEvent

PAYLOAD_MAX = 4 << 20
"""Bytes. A payload may contain a whole file twice."""


def read(payload: bytes, *, event: str, harness: str, cwd: str) -> HookEvent | None:
    """Read a payload; None if it is not an agent's.

    Args:
        payload: As the agent wrote it.
        event: The event the hook was registered for; used if the payload names none.
        harness: The agent's name as in `triseek install`; "" to detect it from the payload.
        cwd: The folder the hook ran in, absolute; used if the payload names none.
    """
    body = _read(payload)
    agent = registry.by_name(harness) if harness else _guess(body)
    return agent.read(body, event, cwd) if body and agent is not None else None


def refusal(harness: str, event: str, reason: str, context: str) -> str:
    """Return the answer that refuses a tool; "" if the agent or the event takes no refusals.

    Args:
        harness: The agent; "" means Claude Code, whose first hooks did not name it.
        event: The agent's own name of the event.
        reason: The text the model gets instead of the tool's output.
        context: Further text for the model, where the answer has a field for it.
    """
    agent = registry.by_name(harness or ClaudeCode.name)
    return agent.refusal(reason, context) if agent and moment(event) == "before" else ""


def in_view(event: HookEvent) -> frozenset[str] | None:
    """Return the ids of uses whose outputs are in the context now; None if unknown.

    The agent's record may lag behind: a missing id proves nothing.
    """
    if event.in_view is not None:
        return event.in_view
    agent = registry.by_name(event.context.harness)
    return agent.in_view(event) if agent is not None else None


def exit_statuses(event: HookEvent, calls: Collection[str]) -> dict[str, int]:
    """Return the exit statuses of these uses, as far as the agent's record has them by now."""
    agent = registry.by_name(event.context.harness)
    return agent.exit_statuses(event, calls) if agent is not None else {}


def _guess(body: Fields) -> Agent:
    """Return the agent whose mark a payload has; else Claude Code, whose format others copied."""
    # The least specific mark is checked last: other agents may add a `turn_id` too.
    return next((agent for agent in reversed(registry.AGENTS) if agent.owns(body)), ClaudeCode())


def _read(payload: bytes) -> Fields:
    """Parse the payload; empty if it is too large or not a JSON object."""
    return fields_of(parsed(payload)) if len(payload) <= PAYLOAD_MAX else Fields()
