"""What an agent is told to do when a person uses its slash command can be done."""

from __future__ import annotations

import re

import pytest
import typer

from triseek.cli import app
from triseek.harness import slash_command
from triseek.model.agents import AGENTS, agent

CLIENTS = [one.client for one in AGENTS]


def commands(text: str) -> list[list[str]]:
    """The commands of ours that a prompt names."""
    return [found.split()[1:] for found in re.findall(r"`(triseek [^`]+)`", text)]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_command_it_names_is_one(client: str) -> None:
    found = commands(slash_command.prompt(client))

    assert len(found) == 4
    for words in found:
        verb = typer.main.get_command(app.app)
        while words and words[0] in getattr(verb, "commands", {}):
            verb = verb.commands[words.pop(0)]  # type: ignore[attr-defined]
        assert not hasattr(verb, "commands"), words
        known = {name for option in verb.params for name in option.opts}
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("client", CLIENTS)
def test_it_says_which_agent_is_asked(client: str) -> None:
    text = slash_command.prompt(client)

    assert f"--from {client}`" in text
    assert f"--for {client}`" in text
    assert agent(client).client == client


def test_every_agent_can_be_the_target() -> None:
    text = slash_command.prompt("codex")
    named = re.search(r"\(target: ([^)]+)\)", text)
    assert named is not None
    targets = re.split(r", | or ", named[1])
    hint = re.search(r"<([^>]+)>", slash_command.claude_command("pi"))
    assert hint is not None

    assert {agent(name).name for name in targets} == {one.name for one in AGENTS}
    assert sorted(hint[1].split("|")) == sorted(targets)


@pytest.mark.parametrize(
    "text",
    [
        slash_command.claude_command("claude-code"), slash_command.plain_command("cursor"),
        slash_command.skill("codex"),
    ],
)  # fmt: skip
def test_a_file_of_ours_is_known_by_its_marker(text: str) -> None:
    assert text.count(slash_command.MARKER) == 1
    assert "cannot do it yet" not in text
