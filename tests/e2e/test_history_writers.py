"""Eight processes write to the history at once: nothing is lost, nothing is written twice."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.e2e import history_daemon
from tests.e2e.serving import PACKAGE, environ
from tests.history.contents import contents
from tests.history.made_transcripts import MAKERS, claude_code
from triseek.history.database import open_database
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.long

WRITERS = 8
EVENTS, EVENTS_SLOW = 25, 500
IMPORTS = 4
WITHIN_S = 600


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """A home folder with conversations of six agents."""
    words = iter(range(1_000_000))

    def say(field: str) -> str:
        return f"/work/{field}" if field in ("cwd", "path") else f"{field} {next(words)}"

    for agent, make in MAKERS.items():
        make(tmp_path / "person", f"{agent}-1", lambda field: say(field).replace(" ", "-"))
    for number in range(WRITERS):
        claude_code(tmp_path / "person", f"c{number}", say, turns=20)
    return tmp_path / "person"


@contextlib.contextmanager
def _processes(
    state: Path, person: Path, commands: list[list[str]]
) -> Iterator[list[subprocess.Popen[str]]]:
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", *words],
            env={**os.environ, **environ(state), "HOME": str(person),
                 "TRISEEK_MCP_DISABLE_STARTUP_SYNC": "1"},
            cwd=PACKAGE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for words in commands
    ]  # fmt: skip
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _write(road: str, state: Path, person: Path, events: int) -> None:
    root = person.parent / "repo"
    root.mkdir()
    commands = [
        ["tests.e2e.history_writer", road, str(root), str(who), str(events)]
        for who in range(WRITERS)
    ]
    with _processes(state, person, commands) as processes:
        for process in processes:
            out, errors = process.communicate(timeout=WITHIN_S)
            assert process.returncode == 0, errors
            assert json.loads(out) == events, errors


def _all_are_there(state: Path, events: int) -> None:
    with contextlib.closing(open_database(str(state / "history"))) as database:
        assert database.check() == []
        with database.read() as connection:
            rows = connection.execute("SELECT narrative FROM observations WHERE origin='explicit'")
            texts = [row[0] for row in rows]
            [sessions] = connection.execute("SELECT count(*) FROM sessions").fetchone()
            [indexed] = connection.execute(
                "SELECT count(*) FROM observations_fts WHERE observations_fts MATCH 'writer'"
            ).fetchone()
    wanted = [f"writer {who} event {number}" for who in range(WRITERS) for number in range(events)]
    assert sorted(texts) == sorted(wanted)
    assert indexed == len(wanted)
    assert sessions == 1


@pytest.mark.parametrize("events", [EVENTS, pytest.param(EVENTS_SLOW, marks=pytest.mark.slow)])
def test_writers_through_the_daemon_lose_nothing(tmp_path: Path, person: Path, events: int) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    with history_daemon.following(state, person):
        _write("daemon", state, person, events)
    _all_are_there(state, events)


@pytest.mark.parametrize("events", [EVENTS, pytest.param(EVENTS_SLOW, marks=pytest.mark.slow)])
def test_writers_without_a_daemon_lose_nothing(tmp_path: Path, person: Path, events: int) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    _write("process", state, person, events)
    _all_are_there(state, events)


def test_of_several_imports_one_runs_and_nothing_is_doubled(tmp_path: Path, person: Path) -> None:
    state, alone = tmp_path / "state", tmp_path / "alone"
    command = ["triseek", "history", "import", "--all", "--json"]
    for folder, count in ((alone, 1), (state, IMPORTS)):
        folder.mkdir(mode=0o700)
        with _processes(folder, person, [command] * count) as processes:
            ends = [(*process.communicate(timeout=WITHIN_S), process) for process in processes]
        refused = [errors for _, errors, process in ends if process.returncode]
        assert len(refused) < count
        assert all(
            errors == "triseek: another import is running. Wait until it is done.\n"
            for errors in refused
        ), refused
    left = contents(History(str(state / "history")).database)
    right = contents(History(str(alone / "history")).database)
    assert left == right
    assert len(left["messages"]) >= 2 * WRITERS * 20
