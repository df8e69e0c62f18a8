"""What an agent's hook payload means.

Payloads are JSON objects that agents write to a hook's standard input. Their shape is Claude Code's
with most agents, and each has its own tools. They come from outside: what is not understood means
nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.harness.payloads import claude_code, codex, cursor, gemini, opencode, pi
from triseek.harness.payloads.moments import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.hook_event import HookEvent

PAYLOAD_MAX = 4 << 20
"""Bytes; a payload may hold a whole file's content, twice."""
_AGENTS: dict[str, Callable[[dict[str, Any], str, str], HookEvent]] = {
    claude_code.HARNESS: claude_code.read,
    codex.HARNESS: codex.read,
    opencode.HARNESS: opencode.read,
    pi.HARNESS: pi.read,
    cursor.HARNESS: cursor.read,
    gemini.HARNESS: gemini.read,
}


def read(payload: bytes, *, event: str, harness: str, cwd: str) -> HookEvent | None:
    """Read a payload; None for what is no agent's.

    event: what the hook was registered for; counts if the payload does not say.
    harness: as in `triseek install`; "" to tell it from the payload.
    cwd: where the hook ran, absolute; counts if the payload does not say.
    """
    told = _read(payload)
    known = _AGENTS.get(harness or _guess(told))
    return known(told, event, cwd) if told and known is not None else None


def _guess(told: dict[str, Any]) -> str:
    """Whose payload it is, by the fields that only that agent has."""
    if "conversation_id" in told or "cursor_version" in told:
        return cursor.HARNESS
    if plain(str(told.get("hook_event_name", ""))) in gemini.OWN_EVENTS:
        return gemini.HARNESS
    return codex.HARNESS if "turn_id" in told else claude_code.HARNESS


def _read(payload: bytes) -> dict[str, Any]:
    """The payload, empty if it is none."""
    try:
        told = json.loads(payload) if len(payload) <= PAYLOAD_MAX else None
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}
