"""Whose context an answer goes to: what may be told "you have this already", and what may not.

A connection is no conversation: agents keep one for a main agent, its sub-agents and what follows a
`/clear`. The session that some name in a request's `_meta` is no context either. As read from the
programs and their sources in November 2026:

    Claude Code 2.1.330   `claudecode/toolUseId`; behind a switch `claudecode/sessionId`, which a
                          main agent shares with its sub-agents (`claudecode/agentId` goes to its
                          own servers only); nothing of `/compact`
    Codex 0.169           `sessionId` (shared with sub-agents), `threadId`, and the same in
                          `x-codex-turn-metadata`; the window's id, which changes when it is
                          compacted, goes to the model's API and not to servers
    OpenCode 2            `ai.opencode/sessionID`, one per sub-agent; outlives compaction and the
                          pruning of old answers
    Antigravity 2.19      `antigravity.google/conversation_id`; nothing of compaction
    VS Code (Copilot)     `vscode.conversationId`; nothing of sub-agents and summaries
    Gemini CLI, Cursor    a progress token

Each of them forgets answers without a word, so none of these says that an answer is still there,
and nothing is reused for any of them. What is taken for one context is

- a name under a key of ours, by a client that knows its contexts;
- `session_id` (and `agent_id`) as they stand, by which a harness says that it speaks of contexts
  as the reference does, and lets its hooks tell of clears, compactions and sub-agents;
- the connection of a client that is no agent we know of: a script, a test, an editor.

And in all cases only for the epoch that hooks have not ended (`engine.journal`).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT = "triseek/context"
"""The key of `_meta` by which a client names one context window; it gives another name as soon as
anything has been taken out of it."""
SESSIONS, AGENTS = ("session_id", "sessionId"), ("agent_id", "agentId")
LONGEST = 200
_HARNESSES: Mapping[str, re.Pattern[str]] = {
    name: re.compile(sign, re.IGNORECASE)
    for name, sign in {
        "claude-code": r"claude.?code", "codex": "codex", "opencode": "opencode",
        "pi": r"^pi\b", "cursor": "cursor", "gemini": "gemini", "cline": "cline",
        "vscode": r"vscode|visual studio code", "zed": r"^zed\b",
    }.items()
}  # fmt: skip
SESSION_VARIABLE = "TRISEEK_SESSION_ID"
"""Names the session of a server that was started for one, where its client does not."""
_ASKER: Mapping[str, tuple[str, ...]] = {
    "session": (
        *SESSIONS, "claudecode/sessionId", "ai.opencode/sessionID", "vscode.conversationId",
        "antigravity.google/conversation_id",
    ),
    "agent": (*AGENTS, "claudecode/agentId", "threadId"),
    "call": ("claudecode/toolUseId", "triseek/toolUseId"),
}  # fmt: skip

_OURS = frozenset((*SESSIONS, *AGENTS))
_SESSION_OF_ITS_OWN = re.compile(
    r"(session|thread|conversation|turn|tooluse).{0,3}(id|metadata)$", re.IGNORECASE
)
_AGENTS = re.compile(
    r"claude|anthropic|codex|openai|chatgpt|opencode|\bpi\b|pi-coding|cursor|gemini|antigravity"
    r"|cline|roo|kilo|windsurf|codeium|zed|visual studio|vscode|copilot|github|continue|goose"
    r"|\bamp\b|aider|crush|qwen|jetbrains|intellij|junie|augment|trae|kiro|amazon|\bq\b|warp|factory|droid"
    r"|openhands|devin|void|librechat|cherry|lm.?studio|open.?webui|agent|assistant|chat",
    re.IGNORECASE,
)
"""Clients that hold several contexts by one connection, or may."""


def conversation(
    meta: Mapping[str, Any] | None, client: str | None = None, connection: str | None = None
) -> str | None:
    """A name for the one context that an answer goes to; None where that is not certain.

    Args:
        meta: The request's `_meta`; comes from outside.
        client: What the client calls itself; None if it does not say.
        connection: The connection's name; None where each request stands for itself.
    """
    told = meta or {}
    context = _name(told.get(CONTEXT))
    if context is not None:
        return f"context/{context}"
    if any(_SESSION_OF_ITS_OWN.search(key) for key in told if key not in _OURS):
        return None  # an agent, whose sessions are no contexts
    session = next(filter(None, (_name(told.get(key)) for key in SESSIONS)), None)
    if session is not None:
        agent = next(filter(None, (_name(told.get(key)) for key in AGENTS)), "")
        return f"session/{session}/{agent}"
    if connection is None or client is None or _AGENTS.search(client):
        return None
    return f"connection/{connection}"


def asker(meta: Mapping[str, Any] | None, client: str | None = None) -> dict[str, str]:
    """Who a client says is asking: any of harness, session, agent, and call, the use of the tool.

    By the names its hooks have. A session alone is no context (see above); the memo, which hooks
    tell of contexts, knows what to make of it. Whoever has no hooks is named too, or it would be
    taken for the agent that was at work last.
    """
    told = meta or {}
    named = {name: _first(told, keys) for name, keys in _ASKER.items()}
    if named["agent"] == named["session"]:
        named["agent"] = ""  # Codex's main thread has its session's name
    if not named["session"]:
        named["session"] = _name(os.environ.get(SESSION_VARIABLE)) or ""
    named["harness"] = harness(client)
    return {name: value for name, value in named.items() if value}


def harness(client: str | None) -> str:
    """A client as `triseek install` names it; another by its own name; "" if it has none."""
    if not client:
        return ""
    found = next((name for name, sign in _HARNESSES.items() if sign.search(client)), None)
    return found or client[:LONGEST]


def _first(told: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next(filter(None, (_name(told.get(key)) for key in keys)), "")


def _name(value: object) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST else None
