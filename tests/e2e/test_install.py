"""`triseek install` and `uninstall` at the command line."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import Outcome, triseek
from triseek.agents.install.hook_entries import command

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path, home, monkeypatch) -> Path:
    """A project, in a world whose PATH holds a `claude` and a `codex`."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("claude", "codex"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("TRISEEK_HOME", str(home / "state"))
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder, our own state apart."""
    found = (path for path in folder.rglob("*") if path.is_file() and "/state/" not in str(path))
    return {str(path): path.read_bytes() for path in found}


def is_one_line(outcome: Outcome, code: int = 2) -> bool:
    lines = outcome.err.splitlines()
    return outcome.status == code and len(lines) == 1 and lines[0].startswith("triseek: ")


def test_it_says_what_it_did_and_what_is_to_be_done(project, home):
    done = triseek(["install", "codex"], project)

    told = done.out.decode()
    assert (done.status, done.err) == (0, "")
    assert f"created {home}/.codex/config.toml" in told
    assert "/hooks" in told
    again = triseek(["install", "codex"], project)
    assert again.out.decode() == "Codex: triseek was installed already (scope user)\n"
    gone = triseek(["uninstall", "codex"], project).out.decode()
    assert f"removed {home}/.codex/config.toml" in gone
    assert not (home / ".codex").exists()
    assert b"was not installed" in triseek(["uninstall", "codex"], project).out


def test_json_says_the_same(project, home):
    told = json.loads(triseek(["install", "claude-code", "--json"], project).out)

    assert told["client"] == "claude-code"
    assert told["scope"] == "user"
    assert {"path": f"{home}/.claude.json", "change": "created"} in told["changes"]
    assert told["next"]
    again = json.loads(triseek(["install", "claude-code", "--json"], project).out)
    assert (again["changes"], again["next"]) == ([], [])


def test_a_dry_run_shows_a_diff_that_patch_takes_and_writes_nothing(project, home):
    (home / ".claude.json").write_text('{\n  "n": 1\n}\n')
    before = files(home)

    shown = triseek(["install", "claude-code", "--dry-run"], project).out.decode()

    assert files(home) == before
    assert f"--- {home}/.claude.json\n+++ {home}/.claude.json\n" in shown
    assert '-  "n": 1\n+  "n": 1,\n+  "mcpServers": {\n' in shown
    told = json.loads(triseek(["install", "codex", "--dry-run", "--json"], project).out)
    assert all(change["diff"].startswith("--- ") for change in told["changes"])
    assert files(home) == before


def test_the_program_that_is_written_starts_the_server_and_the_hooks(project, home):
    triseek(["install", "claude-code"], project)

    told = json.loads((home / ".claude.json").read_text())["mcpServers"]["triseek"]
    assert os.path.isabs(told["command"])
    assert os.access(told["command"], os.X_OK)
    assert told["args"] == ["mcp", "serve"]
    settings = json.loads((home / ".claude/settings.json").read_text())
    for event, [group] in settings["hooks"].items():
        [hook] = group["hooks"]
        assert hook["command"] == command(told["command"], event, "claude-code")
        assert hook["timeout"] == 5
    done = subprocess.run(
        ["sh", "-c", settings["hooks"]["SessionEnd"][0]["hooks"][0]["command"]],
        input=b"{}", capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (b"", b"")


def test_project_and_local_write_into_the_project_alone(project, home):
    (home / ".claude.json").write_text("{}")

    triseek(["install", "claude-code", "--scope", "project"], project)
    assert files(home / ".claude") == {}
    names = {str(path.relative_to(project)) for path in project.rglob("*") if path.is_file()}
    assert names == {".mcp.json", ".claude/settings.json", ".claude/commands/triseek.md"}
    triseek(["install", "claude-code", "--scope", "local"], project)
    assert str(project) in json.loads((home / ".claude.json").read_text())["projects"]

    wrong = triseek(["uninstall", "claude-code"], project).out.decode()
    assert "pass --scope project" in wrong
    for scope in ("project", "local"):
        triseek(["uninstall", "claude-code", "--scope", scope], project)
    assert list(project.iterdir()) == []
    assert (home / ".claude.json").read_text() == "{}"


def test_a_client_that_is_not_there_is_said_in_one_line(project, monkeypatch, home):
    monkeypatch.setenv("PATH", "/nowhere")

    outcome = triseek(["install", "claude-code"], project)

    assert is_one_line(outcome)
    assert "Claude Code is not installed here" in outcome.err
    assert files(home) == {}
    assert triseek(["uninstall", "claude-code"], project).status == 0


def test_a_config_that_cannot_be_read_is_said_in_one_line(project, home):
    (home / ".claude.json").write_text("{ // mine\n}")
    before = files(home)

    outcome = triseek(["install", "claude-code"], project)

    assert is_one_line(outcome)
    assert f"{home}/.claude.json: it is not valid JSON: line 1" in outcome.err
    assert files(home) == before


@pytest.mark.parametrize(
    "words",
    [
        ["install"], ["install", "emacs"], ["install", "codex", "--scope", "local"],
        ["install", "claude-code", "--scope", "all"], ["uninstall", "emacs"],
        ["install", "codex", "claude-code"], ["install", "codex", "--force"],
    ],
)  # fmt: skip
def test_words_that_make_no_sense_are_said_in_one_line(words, project, home):
    outcome = triseek(words, project)

    assert is_one_line(outcome)
    assert files(home) == {}


def test_folders_that_variables_name_are_used(project, home, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(home / "codex"))

    triseek(["install", "claude-code"], project)
    triseek(["install", "codex"], project)

    there = {path.name for path in (*home.glob("claude/*"), *home.glob("codex/*"))}
    assert there == {
        ".claude.json", "settings.json", "commands", "config.toml", "hooks.json", "skills",
    }  # fmt: skip


def server_words(home):
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["triseek"]
    return entry["args"][2:]


def test_toolsets_are_kept_until_others_are_named(project, home):
    before = files(home)
    triseek(["install", "claude-code", "--toolsets", "default, history history-work"], project)
    assert server_words(home) == ["--toolsets", "default,history,history-work"]
    again = triseek(["install", "claude-code"], project)
    assert b"was installed already" in again.out
    elsewhere = triseek(["uninstall", "claude-code", "--scope", "project"], project)
    assert b"pass --scope user" in elsewhere.out
    checks = json.loads(triseek(["doctor", "--no-clients", "--json"], project).out)["checks"]
    [settings] = [one for one in checks if one["what"] == "Claude Code settings"]
    assert settings["level"] == "ok"

    triseek(["install", "claude-code", "--toolsets", "memo"], project)
    assert server_words(home) == ["--toolsets", "memo"]
    triseek(["install", "claude-code", "--toolsets", "default"], project)
    assert server_words(home) == []
    triseek(["install", "claude-code", "--toolsets", "history"], project)
    triseek(["uninstall", "claude-code"], project)
    assert files(home) == before


@pytest.mark.parametrize("names", ["mood", "history,mood", " , "])
def test_a_toolset_that_is_none_is_refused_with_those_that_are(project, home, names):
    done = triseek(["install", "claude-code", "--toolsets", names], project)

    assert is_one_line(done)
    assert "history, history-work" in done.err
    assert not (home / ".claude.json").exists()
