"""Whose context an answer goes to: what may be told "you have this already", and what may not.

A connection is not a conversation. Agents keep one server for a main agent and its sub-agents, and
across a `/clear`; each of these begins with an empty context. So a conversation is one only if the
request names it, or if nothing suggests that the client has several.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SESSION = frozenset(("sessionid", "threadid", "conversationid", "chatid"))
_AGENT = frozenset(("agentid", "subagentid", "agentname", "parentid", "turnagent"))
_EPOCH = frozenset(("epoch", "compactionepoch", "contextepoch", "compactions"))
_NESTED = frozenset(("xcodexturnmetadata", "session", "context"))
_AGENTS = re.compile(
    r"claude|codex|opencode|\bpi\b|pi-coding|cursor|gemini|cline|roo|kilo|windsurf|codeium|zed"
    r"|visual studio code|vscode|copilot|continue|goose|amp\b|aider|crush|qwen|jetbrains|junie"
    r"|augment|trae|kiro|amazon|warp|factory|droid|openhands|devin|antigravity|void|librechat"
    r"|cherry|lm.?studio|librechat|chatgpt|open.?webui",
    re.IGNORECASE,
)
"""Clients that have, or may have, several conversations by one connection."""
_LONGEST = 200


def conversation(
    meta: Mapping[str, Any] | None, client: str | None, connection: str | None
) -> str | None:
    """A name for the one context that an answer goes to; None where that cannot be told.

    Args:
        meta: The request's `_meta`; comes from outside.
        client: What the client calls itself; None if it does not say.
        connection: The connection's name; None where each request stands for itself.
    """
    told = dict(_told(meta or {}))
    if "session" in told:
        return "/".join(
            ("session", *(told.get(part, "") for part in ("session", "agent", "epoch")))
        )
    if connection is None or client is None or _AGENTS.search(client):
        return None
    return f"connection/{connection}"


def _told(meta: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """What a request's `_meta` says of who asks, by the names clients use."""
    for key, value in meta.items():
        name = re.sub(r"[^a-z]", "", key.rpartition("/")[2].lower())
        if name in _NESTED and depth == 0:
            yield from _told(_mapping(value), 1)
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            continue
        text = str(value)
        if not text or len(text) > _LONGEST:
            continue
        for part, names in (("session", _SESSION), ("agent", _AGENT), ("epoch", _EPOCH)):
            if name in names:
                yield part, text


def _mapping(value: object) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}
