"""Of the runs of one command, the last one decides."""

from __future__ import annotations

import pytest

from tests.sessions.test_brief import entry
from triseek.sessions.command_runs import CommandRuns, RunCommand


def gathered(*runs):
    commands = CommandRuns()
    for number, (kind, payload) in enumerate(runs, 1):
        commands.add(entry(number, kind, **payload))
    return commands.newest_first


def test_the_last_run_decides():
    failing, passing = {"exit_status": 1, "failed": True}, {"exit_status": 0, "failed": False}
    [run] = gathered(
        ("command", {"command": "pytest -q", **failing}),
        ("command", {"command": " pytest  -q", **passing}),
    )
    assert (run.text, run.runs, run.exit_status, run.failed) == ("pytest -q", 2, 0, False)


def test_commands_in_two_folders_are_two():
    runs = gathered(
        ("command", {"command": "make"}), ("command", {"command": "make", "folder": "b"})
    )
    assert [run.folder for run in runs] == ["b", ""]


def test_a_status_that_came_later_is_that_of_its_call():
    ended = {"exit_status": 2, "failed": True}
    [run] = gathered(
        ("command", {"command": "make", "call": "1"}), ("command_status", {"call": "1", **ended})
    )
    assert (run.exit_status, run.failed) == (2, True)


def test_a_status_of_an_earlier_run_changes_nothing():
    [run] = gathered(
        ("command", {"command": "make", "call": "1"}),
        ("command", {"command": "make", "call": "2", "exit_status": 0, "failed": False}),
        ("command_status", {"call": "1", "exit_status": 2, "failed": True}),
    )
    assert run.failed is False


def test_what_is_not_valid_is_ignored():
    assert gathered(("command", {"command": 3}), ("command", {}), ("command_status", {})) == []
    [run] = gathered(("command", {"command": "x", "exit_status": "1", "failed": "yes"}))
    assert (run.exit_status, run.failed) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "pytest -q", "cd a && python -m pytest", "CI=1 npm test", "npm run lint", "yarn test:unit",
        "go test ./...", "cargo build --release", "make", "make check", "uv run pytest", "npx jest",
        "./gradlew test", "time make test", "ruff check .", "tsc --noEmit", ".venv/bin/pytest x",
    ],
)  # fmt: skip
def test_a_test_or_a_check_is_known(text):
    assert RunCommand(text).is_check


@pytest.mark.parametrize("text", ["pip install pytest", "git commit -m test", "python x.py", "ls"])
def test_other_commands_are_none(text):
    assert not RunCommand(text).is_check


@pytest.mark.parametrize("text", ["ls -la", "git status", "cd a && cat b | wc -l", "pwd; git diff"])
def test_what_only_looks_is_known(text):
    assert RunCommand(text).only_looks


@pytest.mark.parametrize("text", ["cd a && make", "echo x > y", "git commit -m x", "lsof"])
def test_what_does_more_does_not_only_look(text):
    assert not RunCommand(text).only_looks
