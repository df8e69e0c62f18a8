"""Reuse is offered where a client names its context window, and to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from triseek.mcp.conversations import LONGEST, conversation

TURN = {
    "session_id": "s",
    "thread_id": "t",
    "turn_id": "u",
    "thread_source": "user",
    "sandbox": "seccomp",
    "turn_started_at_unix_ms": 1_700_000_000_123,
}
SAID: dict[str, dict[str, Any]] = {
    "nothing": {},
    "progress": {"progressToken": 7},
    "Claude Code": {"claudecode/toolUseId": "toolu_015V", "progressToken": 2},
    "Claude Code, switched on": {"claudecode/sessionId": "s", "claudecode/toolUseId": "toolu_1"},
    "Codex": {"threadId": "t", "x-codex-turn-metadata": TURN},
    "Codex, as text": {"x-codex-turn-metadata": json.dumps(TURN)},
    "Codex, a sub-agent": {
        "threadId": "t2",
        "x-codex-turn-metadata": {**TURN, "thread_id": "t2", "parent_thread_id": "t"},
    },
    "OpenCode": {"ai.opencode/sessionID": "ses_1"},
    "Antigravity": {"antigravity.google/conversation_id": "c", "progressToken": "turn-1:3"},
    "VS Code": {"vscode.conversationId": "c", "vscode.requestId": "r"},
}


@pytest.mark.parametrize("client", SAID)
def test_what_clients_say_of_their_sessions_is_no_context(client: str) -> None:
    assert conversation(SAID[client]) is None


def test_a_request_without_meta_has_no_context() -> None:
    assert conversation(None) is None


def test_a_client_names_its_context() -> None:
    assert conversation({"triseek/context": "main/3", "progressToken": 1}) == "main/3"


@pytest.mark.parametrize("name", ["", "x" * (LONGEST + 1), 7, True, None, ["a"], {"a": "b"}])
def test_what_is_no_name_is_none(name: object) -> None:
    assert conversation({"triseek/context": name}) is None
