"""The agents themselves, from npm, read what was installed; what they had before is given back.

Each runs in a home of its own, over configs in every state. It looks at a copy of that home: agents
write into theirs whenever they run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from tests.agents import codex as codexes
from tests.agents import configs
from tests.agents.place import Place
from tests.programs import PYTHON
from triseek.agents import registry
from triseek.agents.base import InstallPlace
from triseek.agents.install import apply, ledger
from triseek.cli.commands.install import program
from triseek.errors import ConfigWriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

pytestmark = pytest.mark.slow

PATIENCE_S = 240
MARK = "recorded.txt"


@dataclass(frozen=True)
class Agent:
    """One row: which file is planted in which states, and how the agent says what it has read."""

    name: str
    file: str
    """Below the home."""
    states: Mapping[str, bytes | None]
    refused: Mapping[str, bytes]
    """States that cannot be edited, as the agent itself cannot read them."""
    says: Callable[[Place], str]
    """Its own listing."""
    expected: str
    """What stands in the listing when triseek does."""


def listing(*words: str) -> Callable[[Place], str]:
    """What a command of an agent prints, whatever status it ends with."""

    def run(place: Place) -> str:
        done = subprocess.run(
            words, cwd=place.tree, env=place.env(TRISEEK_NO_DAEMON="1"), capture_output=True,
            text=True, timeout=PATIENCE_S, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.stdout + done.stderr

    return run


def codex_hooks(place: Place) -> str:
    """The hooks that Codex has read, and what it could not read."""
    with codexes.program(place) as codex:
        [found] = codex.ask("hooks/list", cwds=[str(place.tree)])["data"]
    events = {hook["eventName"] for hook in found["hooks"] if "triseek" in hook["command"]}
    wanted = {"preToolUse", "postToolUse", "sessionStart", "sessionEnd", "preCompact"}
    return f"all there {found['warnings']}" if wanted <= events else str(found)


def codex_skills(place: Place) -> str:
    with codexes.program(place) as codex:
        [found] = codex.ask("skills/list", cwds=[str(place.tree)])["data"]
    return " ".join(skill["name"] for skill in found["skills"])


def known_to_codex(states: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
    """hooks.json as far as Codex reads it: it takes no other names than its own."""
    kept: dict[str, bytes | None] = {}
    for name, text in states.items():
        told = json.loads(text) if text and text.strip() else {}
        if set(told) <= {"hooks", "description"}:
            kept[name] = text
    hooks = {"hooks": {"PreToolUse": [configs.HOOK], "Stop": [configs.HOOK]}}
    for indent in (1, 2, 3, 4, 8, "\t"):
        kept[f"in by {indent!r}"] = configs.pretty(hooks, indent).encode()
        kept[f"described, in by {indent!r}"] = configs.pretty(
            {"description": "mine", **hooks}, indent
        ).encode()
    kept["CRLF"] = configs.pretty(hooks).replace("\n", "\r\n").encode()
    return kept


CLAUDE_STATES = configs.plain("mcpServers") | configs.lenient("mcpServers")
CLAUDE_REFUSED = configs.commented("mcpServers")
AGENTS = [
    Agent(
        "claude-code", ".claude.json", CLAUDE_STATES, CLAUDE_REFUSED,
        listing("claude", "mcp", "list"), "✔ Connected",
    ),
    Agent(
        "codex", ".codex/config.toml", configs.TOML, configs.TOML_BROKEN,
        listing("codex", "mcp", "list", "--json"), '"name": "triseek"',
    ),
    Agent(
        "codex", ".codex/hooks.json", known_to_codex(configs.plain("mcpServers")),
        configs.commented("mcpServers"), codex_hooks, "all there []",
    ),
]  # fmt: skip
NAMES = [f"{agent.name} {agent.file}" for agent in AGENTS]
STATES = [(agent, state) for agent in AGENTS for state in agent.states]


@pytest.fixture
def place(tmp_path, programs) -> Place:
    for name in ("home", "tree"):
        (tmp_path / name).mkdir()
    (tmp_path / "tree/a.py").write_text("needle = 1\n")
    return Place(tmp_path / "home", tmp_path / "tree", programs)


def here(place: Place, starts: str = "") -> InstallPlace:
    return InstallPlace(starts or program(), str(place.home), str(place.tree), place.env())


def install(name: str, place: Place, scope: str = "user", starts: str = "") -> None:
    client = registry.by_name(name)
    there = here(place, starts)
    assert client.detect(there)
    apply.install(client.plan(scope, there), apply.owner_of(name, scope, there.cwd))


def uninstall(name: str, place: Place, scope: str = "user") -> None:
    client, there = registry.by_name(name), here(place)
    apply.uninstall(client.plan(scope, there), apply.owner_of(name, scope, there.cwd))


def everything(folder: Path) -> dict[str, object]:
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[str(path)] = os.readlink(path)
        elif path.is_file():
            found[str(path)] = (path.stat().st_mode, path.read_bytes())
        else:
            found[str(path)] = path.stat().st_mode
    return found


def copy_of(place: Place) -> Place:
    """The same home once more, for the agent to write into."""
    there = place.home.with_name("copy")
    shutil.rmtree(there, ignore_errors=True)
    shutil.copytree(place.home, there, symlinks=True)
    return replace(place, home=there)


def plant(path: Path, content: bytes | None) -> None:
    if content is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


@pytest.mark.parametrize(
    ("agent", "state"), STATES, ids=[f"{agent.name} {agent.file} {s}" for agent, s in STATES]
)
def test_the_agent_lists_triseek_and_has_its_config_back_afterwards(agent, state, place):
    plant(place.home / agent.file, agent.states[state])
    before = everything(place.home)
    if b"triseek" not in (agent.states[state] or b""):
        assert agent.expected not in agent.says(copy_of(place))

    install(agent.name, place)

    assert agent.expected in agent.says(copy_of(place))
    uninstall(agent.name, place)
    assert everything(place.home) == before
    assert ledger.load() == ledger.Ledger()


@pytest.mark.parametrize("agent", AGENTS, ids=NAMES)
@pytest.mark.parametrize("kind", ["link", "dangling link", "read-only"])
def test_files_that_are_special_are_read_too(agent, kind, place):
    path, content = place.home / agent.file, next(text for text in agent.states.values() if text)
    path.parent.mkdir(exist_ok=True)
    if kind == "read-only":
        plant(path, content)
        path.chmod(0o444)
    else:
        path.symlink_to(place.home / "dotfile")
        plant(place.home / "dotfile", content if kind == "link" else None)
    before = everything(place.home)

    if kind == "read-only":
        with pytest.raises(ConfigWriteFailed, match="read-only"):
            install(agent.name, place)
    else:
        install(agent.name, place)
        assert path.is_symlink()
        copied = copy_of(place)
        (copied.home / agent.file).unlink()
        (copied.home / agent.file).symlink_to(copied.home / "dotfile")
        assert agent.expected in agent.says(copied)
        uninstall(agent.name, place)
    assert everything(place.home) == before


@pytest.mark.parametrize("agent", AGENTS, ids=NAMES)
def test_what_the_agent_cannot_read_is_left_to_its_owner(agent, place):
    for state, content in agent.refused.items():
        if b"{" not in content and agent.file.endswith(".json"):
            continue
        plant(place.home / agent.file, content)
        before = everything(place.home)

        with pytest.raises(ConfigWriteFailed):
            install(agent.name, place)

        assert everything(place.home) == before, state


def test_claude_code_reads_no_comments_which_is_why_they_are_refused(place):
    for content in configs.commented("mcpServers").values():
        if b"{" in content:
            plant(place.home / ".claude.json", content)
            assert "JSON" in listing("claude", "mcp", "list")(copy_of(place))


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_every_scope_of_claude_code_is_found_from_the_folder_it_is_for(scope, place):
    subprocess.run(["git", "init", "-q", place.tree], check=True)
    before = everything(place.tree)
    install("claude-code", place, scope)

    told = listing("claude", "mcp", "get", "triseek")(copy_of(place))

    assert f"{scope.capitalize()} config" in told
    assert "Pending approval" in told if scope == "project" else "✔ Connected" in told
    uninstall("claude-code", place, scope)
    assert everything(place.tree) == before
    assert everything(place.home) == {}


def test_what_claude_code_writes_in_between_stays_and_triseek_goes(place):
    says = listing("claude", "mcp", "list")
    says(place)
    install("claude-code", place)
    assert "✔ Connected" in says(place)
    listing("claude", "mcp", "add", "-s", "user", "mine", "/bin/true")(place)

    uninstall("claude-code", place)

    told = json.loads((place.home / ".claude.json").read_bytes())
    assert list(told["mcpServers"]) == ["mine"]
    assert "userID" in told
    assert not (place.home / ".claude/settings.json").exists()
    assert "triseek" not in says(place)


def recorder(folder: Path) -> str:
    """A program that notes its words, in a folder that a shell has to have quoted."""
    path = folder / "a tool's place" / "triseek"
    path.parent.mkdir()
    path.write_text(
        f"{PYTHON}import sys\n"
        f"with open({str(folder / MARK)!r}, 'a') as f: f.write(' '.join(sys.argv[1:]) + '\\n')\n"
        "if sys.argv[1:2] == ['hook']: sys.stdin.read()\n"
    )
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_claude_code_runs_the_hooks_as_they_are_written_and_has_the_command(scope, place):
    install("claude-code", place, scope, starts=recorder(place.home.parent))

    run = ("claude", "-p", "hi", "--output-format", "stream-json", "--verbose")
    env = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    done = subprocess.run(
        run, cwd=place.tree, env=place.env(CLAUDE_CODE_MAX_RETRIES="0", **env), timeout=PATIENCE_S,
        capture_output=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip

    told = [json.loads(line) for line in done.stdout.splitlines()]
    begun = next(one for one in told if one.get("subtype") == "init")
    assert "triseek" in begun["slash_commands"]
    assert {"triseek"} == {server["name"] for server in begun["mcp_servers"]}
    noted = (place.home.parent / MARK).read_text().splitlines()
    for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        assert f"hook {event} --harness claude-code" in noted


def test_codex_has_the_skill_and_a_projects_own(place):
    install("codex", place)
    assert "triseek" in codex_skills(copy_of(place)).split()
    uninstall("codex", place)
    install("codex", place, "project")
    trusted = f'[projects."{place.tree}"]\ntrust_level = "trusted"\n'
    plant(place.home / ".codex/config.toml", trusted.encode())

    assert "triseek" in codex_skills(copy_of(place)).split()
    assert '"name": "triseek"' in listing("codex", "mcp", "list", "--json")(copy_of(place))
    assert codex_hooks(copy_of(place)) == "all there []"


def test_codex_keeps_trust_in_hooks_that_were_there(place):
    hooks = {"hooks": {"PreToolUse": [configs.HOOK], "SessionStart": [configs.HOOK]}}
    plant(place.home / ".codex/hooks.json", configs.pretty(hooks).encode())
    with codexes.program(place) as codex:
        assert codex.trust(str(place.tree)) == 2

    install("codex", place)

    with codexes.program(place) as codex:
        [found] = codex.ask("hooks/list", cwds=[str(place.tree)])["data"]
        assert codex.trust(str(place.tree)) == len(found["hooks"])
    state = {hook["command"]: hook["trustStatus"] for hook in found["hooks"]}
    assert state.pop("notify-send done") == "trusted"
    assert set(state.values()) == {"untrusted"}
    uninstall("codex", place)
    assert (place.home / ".codex/hooks.json").read_text() == configs.pretty(hooks)
    assert "mcp_servers" not in (place.home / ".codex/config.toml").read_text()
