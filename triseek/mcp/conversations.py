"""Identify the model context that an answer goes to, to decide if "you have this already" is safe.

A connection does not identify a context: agents use one for the main agent, its sub-agents and the
dialogue after a `/clear`. Nor does the session that some clients name in a request's `_meta`. As
read from the programs and their sources in November 2026:

    Claude Code 2.1.330   `claudecode/toolUseId`; behind a switch `claudecode/sessionId`, which a
                          main agent shares with its sub-agents (`claudecode/agentId` goes to its
                          own servers only); nothing about `/compact`
    Codex 0.169           `callId`; `sessionId` (shared with sub-agents), `threadId`, and the same
                          in `x-codex-turn-metadata`; `windowId`, which changes when it is compacted
    OpenCode 1.18, Pi 1.5 a progress token
    OpenCode 2            `ai.opencode/sessionID`, one per sub-agent; outlives compaction and the
                          pruning of old answers
    Antigravity 2.19      `antigravity.google/conversation_id`; nothing about compaction
    VS Code (Copilot)     `vscode.conversationId`; nothing about sub-agents and summaries
    Gemini CLI, Cursor    a progress token

Each of these agents drops answers from its context without notice. So none of these ids proves that
an answer is still in context. The id of a call lets hooks prove it (`app.answers_in_view`). Without
hooks one context is identified by

- a name under the key `CONTEXT`, from a client that tracks its contexts;
- plain `session_id` (and `agent_id`), by which a harness declares that it means contexts as the
  reference does, and that its hooks report clears, compactions and sub-agents;
- the connection of a client that is no known agent: a script, a test, an editor.

In all cases this holds only until hooks end the epoch (`engine.freshness.journal`).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from triseek.agents import registry

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT = "triseek/context"
"""The key of `_meta` under which a client names one context window. The client must change the name
as soon as anything is removed from the window."""
SESSIONS, AGENTS = ("session_id", "sessionId"), ("agent_id", "agentId")
CALL = "triseek/toolUseId"
"""The key of `_meta` for the id of this use of the tool, by which hooks announce it. Plugins that
do not reach `_meta` put it among the arguments."""
LONGEST = 200
SESSION_VARIABLE = "TRISEEK_SESSION_ID"
"""The variable with the session that the server was started for, if its client names none."""
_ASKER: Mapping[str, tuple[str, ...]] = {
    "session": (
        *SESSIONS, "claudecode/sessionId", "ai.opencode/sessionID", "vscode.conversationId",
        "antigravity.google/conversation_id",
    ),
    "agent": (*AGENTS, "claudecode/agentId", "threadId"),
    "call": ("claudecode/toolUseId", CALL, "callId"),
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
"""Clients that use, or may use, several contexts on one connection."""


def conversation(
    meta: Mapping[str, Any] | None, client: str | None = None, connection: str | None = None
) -> str | None:
    """Return a name for the context that an answer goes to; None where that is not certain.

    Args:
        meta: The request's `_meta`; untrusted.
        client: The client's own name; None if it gives none.
        connection: The connection's name; None where requests are independent of each other.
    """
    fields = meta or {}
    context = _name(fields.get(CONTEXT))
    if context:
        return f"context/{context}"
    if any(_SESSION_OF_ITS_OWN.search(key) for key in fields if key not in _OURS):
        return None  # an agent: its sessions do not identify contexts
    session = _first(fields, SESSIONS)
    if session:
        return f"session/{session}/{_first(fields, AGENTS)}"
    if connection is None or client is None or _AGENTS.search(client):
        return None
    return f"connection/{connection}"


def asker(
    meta: Mapping[str, Any] | None, client: str | None = None, session: str = ""
) -> dict[str, str]:
    """Return who is calling, as far as the client says: any of harness, session, agent and call.

    `call` is the id of this use of the tool. The values match those that the agent's hooks report.
    A session alone identifies no context (see above); the memo resolves it, since hooks report
    contexts to it. A client without hooks is named too; otherwise the memo would take it for the
    agent that was active last.

    session: The session that the server was started for; "" if it is not known.
    """
    fields = meta or {}
    who = {name: _first(fields, keys) for name, keys in _ASKER.items()}
    if who["agent"] == who["session"]:
        who["agent"] = ""  # Codex's main thread has its session's name
    if not who["session"]:
        who["session"] = _name(session or os.environ.get(SESSION_VARIABLE))
    who["harness"] = harness(client)
    return {name: value for name, value in who.items() if value}


def with_call(
    meta: Mapping[str, Any] | None, arguments: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
    """Return a request's `_meta` and arguments, with `CALL` moved from these to that."""
    if not arguments or CALL not in arguments:
        return meta or {}, arguments
    others = {name: value for name, value in arguments.items() if name != CALL}
    return {**(meta or {}), CALL: arguments[CALL]}, others


def harness(client: str | None) -> str:
    """Return a client's name in `triseek install`, else its own name; "" if it has none."""
    if not client:
        return ""
    agent = registry.by_client(client)
    return agent.name if agent else client[:LONGEST]


def _first(fields: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next(filter(None, (_name(fields.get(key)) for key in keys)), "")


def _name(value: object) -> str:
    return value if isinstance(value, str) and len(value) <= LONGEST else ""
