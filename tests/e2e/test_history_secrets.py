"""Secrets in what agents wrote reach no file of the state folder, whatever the history does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e import history_daemon
from tests.e2e.serving import environ, until
from tests.e2e.test_planted_secrets import Planted, written
from tests.history.made_transcripts import MAKERS, claude_rows
from tests.secret_values import SECRETS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.long

IN_FILE_NAMES = (
    "aws-key", "github-token", "gitlab-token", "google-key", "npm-token", "openai-key",
    "slack-token", "stripe-key",
)  # fmt: skip
"""Kinds of secrets that the name of a file can be."""
PLAIN = "visible"
"""A word beside each secret, which is kept."""


class Fields:
    """What stands in each field of the conversations: each time another secret."""

    def __init__(self, planted: Planted) -> None:
        self._planted = planted
        self._kinds = list(SECRETS)
        self._count = 0

    def __call__(self, field: str) -> str:
        if field == "folder":
            return f"-work-{self._secret(IN_FILE_NAMES)}"
        if field == "cwd":
            return f"/work/{self._secret(IN_FILE_NAMES)}/repo"
        if field == "path":
            return f"/work/repo/{self._secret(IN_FILE_NAMES)}.py"
        if field in ("branch", "model", "tool", "id"):
            return f"{field}/{self._secret(IN_FILE_NAMES)}"
        if field == "command":
            return f"echo {PLAIN} {self._secret()}; {self._planted.named('export TOKEN')}"
        if field == "prompt":
            return f"{PLAIN} {self._secret()} {self._planted.private()}"
        return f"{PLAIN} {self._secret()} {field}"

    def _secret(self, kinds: tuple[str, ...] = ()) -> str:
        self._count += 1
        names = kinds or self._kinds
        return self._planted.secret(names[self._count % len(names)])


@pytest.fixture(scope="module")
def planted() -> Planted:
    return Planted()


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory, planted: Planted) -> tuple[Path, Path]:
    """The state folder, and the person's own, after all verbs of the history have been used."""
    state, person = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("person")
    say = Fields(planted)
    for agent, make in MAKERS.items():
        for number in range(4):
            made = make(person, f"{agent}-{number}", say)
            if made.suffix == ".jsonl":
                _damage(made, planted, say)
    report = _run(state, person, "history", "import", "--all", "--json")
    agents = json.loads(report)["agents"]
    assert all(agents[agent]["messages"] >= 8 for agent in MAKERS), report
    assert sum(len(agents[agent]["skipped"]) for agent in MAKERS) >= 8
    for words in (["search", PLAIN], ["search", "--by", "message", planted.values[0]], ["stats"]):
        _run(state, person, "history", *words)
    _run(state, person, "history", "export", str(person / "export.jsonl"))
    with history_daemon.following(state, person):
        made = MAKERS["claude-code"](person, "followed", say)
        with made.open("a") as file:
            for row in claude_rows("followed", 2, say):
                file.write(json.dumps(row) + "\n")
        until(lambda: "followed" in _run(state, person, "history", "search", PLAIN, "--json",
                                         "--limit", "100"))  # fmt: skip
        _run(state, person, "history", "search", planted.values[1], "--json")
    return state, person


def _damage(path: Path, planted: Planted, say: Callable[[str], str]) -> None:
    """Add lines that cannot be read, with secrets in them."""
    with path.open("a") as file:
        file.write(f'{{"type": "user", "message": "{planted.secret("aws-key")}"\n')
        file.write(f'["{say("prompt")}"]\n')
        file.write(f"{planted.secret('jwt')}\n")


def _run(state: Path, person: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "triseek", *words],
        env={**os.environ, **environ(state), "HOME": str(person)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_no_planted_secret_is_in_any_file(homes: tuple[Path, Path], planted: Planted) -> None:
    state, person = homes
    assert len(set(planted.values)) >= 500
    pieces = {value: (value.split("\n") * 2)[1].encode() for value in planted.values}
    contents = [*written(state), (person / "export.jsonl", (person / "export.jsonl").read_bytes())]
    names = {path.name for path, _ in contents}
    assert {"history.db", "manifest.json", "daemon.log"} <= names

    assert (
        sorted(
            (path.name, value)
            for path, data in contents
            for value, piece in pieces.items()
            if piece in data
        )
        == []
    )


def test_no_report_shows_one(homes: tuple[Path, Path], planted: Planted) -> None:
    state, person = homes
    for words in (["import", "--all", "--json"], ["stats", "--json"], ["export"]):
        shown = _run(state, person, "history", *words)
        assert not [value for value in planted.values if value in shown], words


def test_what_surrounds_them_is_kept(homes: tuple[Path, Path]) -> None:
    exported = (homes[1] / "export.jsonl").read_text()
    for kept in ("[redacted: aws-key]", PLAIN, "/work/repo/[redacted: ", "[private]"):
        assert kept in exported
