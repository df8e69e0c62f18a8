"""The slash command, which can be followed, and the plugins as text.

Real agents load the plugins in `tests/e2e/test_plugins.py`.
"""

from __future__ import annotations

import json
import re

import pytest
import typer

from triseek import __version__
from triseek.agents.install import own_files
from triseek.agents.install.own_files import MARKER, plugin
from triseek.agents.registry import receiver, receivers
from triseek.cli import command_tree

CLIENTS = [agent.name for agent in receivers()]


def commands(text: str) -> list[list[str]]:
    """The commands of ours that a prompt names."""
    return [found.split()[1:] for found in re.findall(r"`(triseek [^`]+)`", text)]


@pytest.mark.parametrize("client", CLIENTS)
def test_every_command_it_names_is_one(client: str) -> None:
    found = commands(own_files.prompt(client))

    assert len(found) == 4
    for words in found:
        verb = typer.main.get_command(command_tree.app())
        while words and words[0] in getattr(verb, "commands", {}):
            verb = verb.commands[words.pop(0)]  # type: ignore[attr-defined]
        assert not hasattr(verb, "commands"), words
        known = {name for option in verb.params for name in option.opts}
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("client", CLIENTS)
def test_it_says_which_agent_is_asked(client: str) -> None:
    text = own_files.prompt(client)

    assert f"--from {client}`" in text
    assert f"--for {client}`" in text
    assert receiver(client).name == client


def test_every_agent_can_be_the_target() -> None:
    text = own_files.prompt("codex")
    named = re.search(r"\(target: ([^)]+)\)", text)
    assert named is not None
    targets = re.split(r", | or ", named[1])
    hint = re.search(r"<([^>]+)>", own_files.claude_command("pi"))
    assert hint is not None

    assert {receiver(name) for name in targets} == {*receivers()}
    assert sorted(hint[1].split("|")) == sorted(targets)


@pytest.mark.parametrize(
    "text",
    [
        own_files.claude_command("claude-code"), own_files.plain_command("cursor"),
        own_files.skill("codex"),
    ],
)  # fmt: skip
def test_a_file_of_ours_is_known_by_its_marker(text: str) -> None:
    assert text.count(own_files.MARKER) == 1
    assert "cannot do it yet" not in text


PLUGINS = ["opencode", "pi"]


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_says_whose_it_is_and_which_version(name):
    first = plugin(name, "/bin/triseek").splitlines()[0]

    assert first == f"// {MARKER}_PLUGIN: harness={name} version={__version__}"


@pytest.mark.parametrize("name", PLUGINS)
@pytest.mark.parametrize("program", ["/bin/triseek", 'C:\\a "b"\\triseek.exe', "/ü/${x}`/triseek"])
def test_the_program_in_a_plugin_is_a_string_of_its_own(name, program):
    text = plugin(name, program)

    [written] = re.findall(r"^const PROGRAM: string = (.*);$", text, re.MULTILINE)
    assert json.loads(written) == program
    assert f'const HARNESS: string = "{name}";' in text
    assert "@PROGRAM@" not in text
    assert "@HARNESS@" not in text


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_needs_nothing_but_node(name):
    for line in plugin(name, "/bin/triseek").splitlines():
        if line.startswith("import ") and not line.startswith("import type "):
            assert re.search(r' from "node:[a-z_]+";$', line), line


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_tells_every_moment(name):
    text = plugin(name, "/bin/triseek")

    for event in (
        "PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "PreCompact",
        "UserPromptSubmit", "ContextChanged",
    ):  # fmt: skip
        assert f'"{event}"' in text
