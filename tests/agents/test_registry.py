"""An agent is known by any of its names."""

from __future__ import annotations

import pytest

from triseek.agents.registry import (
    AGENTS,
    READ_ONLY,
    by_client,
    by_name,
    receiver,
    receivers,
    recorded_name,
    with_transcripts,
)
from triseek.errors import InvalidRequest


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("claude", "claude_code"),
        (" Claude-Code ", "claude_code"),
        ("claudecode", "claude_code"),
        ("CODEX", "codex"),
        ("codex-cli", "codex"),
        ("pi", "pi"),
    ],
)
def test_it_is_found_however_it_is_spelled(said, name):
    assert receiver(said).handoff_name == name == recorded_name(said)


def test_each_is_found_by_the_name_that_install_takes():
    assert [by_name(agent.name) for agent in AGENTS] == [*AGENTS]
    assert by_name("claude_code") is None


def test_an_agent_whose_transcripts_alone_are_read_is_not_installed_into():
    assert {agent.name for agent in READ_ONLY} <= {agent.name for agent in with_transcripts()}
    assert all(by_name(agent.name) is None for agent in READ_ONLY)
    for agent in with_transcripts():
        assert agent.transcripts.evidence
        assert agent.transcripts.retention


def test_every_name_is_one_agents():
    names = [name for one in receivers() for name in (one.handoff_name, *one.aliases)]
    assert len(names) == len(set(names))


def test_one_that_is_not_known_is_refused_and_the_known_are_named():
    with pytest.raises(
        InvalidRequest, match=r"unsupported harness `aider`; expected `claude_code`"
    ):
        receiver("aider")


def test_a_snapshot_takes_any_name():
    assert recorded_name("Aider-2") == "aider_2"
    assert recorded_name("") is None
    assert recorded_name(None) is None


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("opencode", "opencode"),
        ("pi", "pi"),
        ("Visual Studio Code", "vscode"),
        ("gemini-cli-mcp-client-triseek", "gemini"),
        ("cline", "cline"),
        ("@cline/core", "cline"),
    ],
)
def test_it_is_found_by_what_its_mcp_client_calls_itself(client, name):
    agent = by_client(client)

    assert agent is not None
    assert agent.name == name


@pytest.mark.parametrize("client", ["", "mcp", "pilot", "somebody"])
def test_a_client_that_is_no_agent_is_nobody(client):
    assert by_client(client) is None
