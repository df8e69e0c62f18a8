"""Reuse is offered where one context is certain, and to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from triseek.mcp.conversations import LONGEST, asker, conversation, harness, with_call

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
    "Codex": {"sessionId": "s", "threadId": "t", "x-codex-turn-metadata": TURN},
    "Codex, as text": {"x-codex-turn-metadata": json.dumps(TURN)},
    "Codex, a sub-agent": {
        "threadId": "t2",
        "x-codex-turn-metadata": {**TURN, "thread_id": "t2", "parent_thread_id": "t"},
    },
    "OpenCode": {"ai.opencode/sessionID": "ses_1"},
    "Antigravity": {"antigravity.google/conversation_id": "c", "progressToken": "turn-1:3"},
    "VS Code": {"vscode.conversationId": "c", "vscode.requestId": "r"},
}


@pytest.mark.parametrize("client", [said for said in SAID if said not in ("nothing", "progress")])
def test_what_clients_say_of_their_sessions_is_no_context(client: str) -> None:
    assert conversation(SAID[client], "somebody", "stdio") is None


def test_a_client_names_its_context() -> None:
    said = {"triseek/context": "main/3", "session_id": "s", "progressToken": 1}
    assert conversation(said, "claude-code", "stdio") == "context/main/3"


@pytest.mark.parametrize("key", ["session_id", "sessionId"])
def test_a_harness_that_speaks_as_the_reference_does_names_its_session(key: str) -> None:
    assert conversation({key: "s"}, "claude-code", "stdio") == "session/s/"


def test_a_sub_agent_of_a_session_is_another_context() -> None:
    main, other = ({"session_id": "s", "agent_id": name} for name in ("a", "b"))
    assert conversation(main) != conversation(other) != conversation({"session_id": "s"})


@pytest.mark.parametrize("name", ["", "x" * (LONGEST + 1), 7, True, None, ["a"], {"a": "b"}])
def test_what_is_no_name_is_none(name: object) -> None:
    assert conversation({"triseek/context": name, "session_id": name}) is None


@pytest.mark.parametrize("said", ["nothing", "progress"])
def test_a_script_has_one_context_by_its_connection(said: str) -> None:
    assert conversation(SAID[said], "nightly-report", "stdio") == "connection/stdio"


@pytest.mark.parametrize(
    "client",
    [
        "claude-code", "Claude Desktop", "codex-mcp-client", "opencode", "pi", "cursor-vscode",
        "gemini-cli-mcp-client", "Visual Studio Code", "Zed", "cline", "goose", "my-agent", None,
    ],
)  # fmt: skip
def test_the_connection_of_an_agent_is_no_context(client: str | None) -> None:
    assert conversation({}, client, "stdio") is None


def test_a_request_that_stands_for_itself_has_no_context() -> None:
    assert conversation({}, "nightly-report", None) is None


@pytest.mark.parametrize(
    ("meta", "who"),
    [
        ({}, {}),
        ({"claudecode/toolUseId": "toolu_1"}, {"call": "toolu_1"}),
        (
            {"claudecode/toolUseId": "t", "claudecode/sessionId": "s", "claudecode/agentId": "a"},
            {"call": "t", "session": "s", "agent": "a"},
        ),
        ({"triseek/toolUseId": "toolu_1"}, {"call": "toolu_1"}),
        ({"sessionId": "s", "threadId": "s"}, {"session": "s"}),
        (
            {"sessionId": "s", "threadId": "t", "callId": "call_1"},
            {"session": "s", "agent": "t", "call": "call_1"},
        ),
        ({"sessionId": "s", "threadId": "t"}, {"session": "s", "agent": "t"}),
        ({"ai.opencode/sessionID": "ses_1"}, {"session": "ses_1"}),
        ({"session_id": "s", "agent_id": "a"}, {"session": "s", "agent": "a"}),
        ({"session_id": ["s"], "agent_id": "", "claudecode/toolUseId": "x" * 900}, {}),
    ],
)
def test_who_asks_is_told_by_the_names_hooks_have(meta: dict[str, Any], who: Any) -> None:
    assert asker(meta) == who


@pytest.mark.parametrize("meta", [None, {}, {"progressToken": 1}])
def test_a_plugin_says_among_the_arguments_which_call_it_is(meta: dict[str, Any] | None) -> None:
    arguments = {"query": "x", "triseek/toolUseId": "toolu_1"}

    moved, others = with_call(meta, arguments)

    assert (asker(moved)["call"], others) == ("toolu_1", {"query": "x"})
    assert "triseek/toolUseId" in arguments


@pytest.mark.parametrize("arguments", [None, {}, {"query": "x"}])
def test_other_arguments_are_left_as_they_are(arguments: dict[str, Any] | None) -> None:
    assert with_call({"a": 1}, arguments) == ({"a": 1}, arguments)


def test_a_variable_names_the_session_of_a_client_that_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TRISEEK_SESSION_ID", "given")

    assert asker({}, "claude-code") == {"session": "given", "harness": "claude-code"}
    assert asker({"session_id": "told"}) == {"session": "told"}


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude-code", "claude-code"), ("codex-mcp-client", "codex"), ("opencode", "opencode"),
        ("pi", "pi"), ("Pi Coding Agent", "pi"), ("cursor-vscode", "cursor"),
        ("gemini-cli-mcp-client", "gemini"), ("Visual Studio Code", "vscode"), ("Zed", "zed"),
        ("nightly-report", "nightly-report"), ("pipeline", "pipeline"), ("", ""), (None, ""),
    ],
)  # fmt: skip
def test_a_client_is_known_by_the_name_its_hooks_have(client: str | None, name: str) -> None:
    assert harness(client) == name
