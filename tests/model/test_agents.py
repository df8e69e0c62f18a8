"""An agent is known by any of its names."""

from __future__ import annotations

import pytest

from triseek.errors import InvalidRequest
from triseek.model.agents import AGENTS, agent, told_name


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
    assert agent(said).name == name == told_name(said)


def test_every_name_is_one_agents():
    names = [name for one in AGENTS for name in (one.name, *one.aliases)]
    assert len(names) == len(set(names))


def test_one_that_is_not_known_is_refused_and_the_known_are_named():
    with pytest.raises(
        InvalidRequest, match=r"unsupported harness `aider`; expected `claude_code`"
    ):
        agent("aider")


def test_a_snapshot_takes_any_name():
    assert told_name("Aider-2") == "aider_2"
    assert told_name("") is None
    assert told_name(None) is None
