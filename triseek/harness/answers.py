"""What a hook writes to its standard output so that an agent does not run a tool."""

from __future__ import annotations

import json

from triseek.harness.payloads.moments import moment

_LIKE_CLAUDE = frozenset(("", "claude-code", "codex", "opencode", "pi"))
"""OpenCode's and Pi's plugins are ours and read Claude Code's answer."""


def deny(harness: str, event: str, reason: str, context: str) -> str:
    """The answer that refuses a tool; "" where the agent cannot be told.

    event: the agent's name of the moment.
    reason: what the model is told instead of the tool's output.
    context: what it is told besides, where there is room for it.
    """
    if moment(event) != "before":
        return ""
    if harness in _LIKE_CLAUDE:
        return json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                    "additionalContext": context,
                }
            }
        )
    whole = f"{reason} {context}".strip()
    if harness == "cursor":
        return json.dumps({"permission": "deny", "user_message": reason, "agent_message": whole})
    if harness == "gemini":
        return json.dumps({"decision": "deny", "reason": whole})
    return ""
