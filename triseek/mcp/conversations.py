"""Whose context an answer goes to: what may be told "you have this already", and what may not.

A connection is no conversation: agents keep one for a main agent, its sub-agents and what follows a
`/clear`. The session that some name in a request's `_meta` is no context either. As read from the
programs and their sources in November 2026:

    Claude Code 2.1.330   `claudecode/toolUseId`; behind a switch `claudecode/sessionId`, which a
                          main agent shares with its sub-agents (`claudecode/agentId` goes to its
                          own servers only); nothing of `/compact`
    Codex 0.169           `threadId`, and in `x-codex-turn-metadata` `session_id` (shared with
                          sub-agents), `thread_id`, `turn_id`; the window's id, which changes when
                          it is compacted, goes to the model's API and not to servers
    OpenCode 2            `ai.opencode/sessionID`, one per sub-agent; outlives compaction and the
                          pruning of old answers
    Antigravity 2.19      `antigravity.google/conversation_id`; nothing of compaction
    VS Code (Copilot)     `vscode.conversationId`; nothing of sub-agents and summaries
    Gemini CLI, Cursor    a progress token

Each of them forgets answers without a word, so none of these says that an answer is still there. A
client that knows its contexts says so by a key of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTEXT = "triseek/context"
"""The key of `_meta` by which a client names one context window; it gives another name as soon as
anything has been taken out of it."""
LONGEST = 200


def conversation(meta: Mapping[str, Any] | None) -> str | None:
    """The one context that an answer goes to; None where that is not certain.

    Args:
        meta: The request's `_meta`; comes from outside.
    """
    name = (meta or {}).get(CONTEXT)
    return name if isinstance(name, str) and 0 < len(name) <= LONGEST else None
