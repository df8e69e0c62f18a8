"""kill -9 at random moments of an import and of forgetting: nothing is lost, nothing comes back.

`TRISEEK_HISTORY_KILLS` says how many moments the slow tests take.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.history.contents import contents, files_with
from tests.history.made_transcripts import MAKERS, claude_code
from triseek import paths
from triseek.agents import row_reading
from triseek.agents.base import InstallPlace
from triseek.history import forgetting, operations
from triseek.history.importing import run, sources
from triseek.history.service import History

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KILLS, KILLS_SLOW = 4, int(os.environ.get("TRISEEK_HISTORY_KILLS", "100"))
CONVERSATIONS = 6


@pytest.fixture
def place(home: Path, monkeypatch: pytest.MonkeyPatch) -> InstallPlace:
    """Conversations of six agents, imported in many small transactions."""
    monkeypatch.setattr(run, "RECORDS_MAX", 8)
    monkeypatch.setattr(row_reading, "MARK_BYTES", 2_000)
    person = home / "person"
    words = (f"word{number} rainfall" for number in itertools.count())
    for agent, make in MAKERS.items():
        make(person, f"{agent}-1", _plain(words))
    for number in range(CONVERSATIONS):
        claude_code(person, f"long-{number}", _plain(words, f"secretplan{number}"), turns=5)
    return InstallPlace("", str(person), str(person), {})


def _plain(words: Iterator[str], marker: str = "") -> Callable[[str], str]:
    """Texts with a word of their own; names of files stay the same."""

    def say(field: str) -> str:
        if field in ("folder", "branch", "model", "tool", "id"):
            return f"the-{field}"
        return "/work/repo" if field in ("cwd", "path") else f"{marker} {field} {next(words)}"

    return say


def _import(place: InstallPlace) -> None:
    with contextlib.closing(History()) as history:
        history.import_conversations(sources.importable(), place)


def _forget(name: str) -> None:
    with contextlib.closing(History()) as history:
        operations.forget(history, [name])


def _ended(work: Callable[[], None], within_s: float) -> bool:
    """Run `work` in a process that is killed after a while; whether it had ended before."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0, "the work has failed"
            return True
        time.sleep(0.002)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return status == 0


def _seconds(work: Callable[[], None]) -> float:
    began = time.monotonic()
    assert _ended(work, 60)
    return time.monotonic() - began


def _is_sound(history: History) -> None:
    assert history.database.check() == []
    for word in ("rainfall", "plan"):
        history.recall.search(word, by="message", limit=10)


def _kill_imports(place: InstallPlace, kills: int) -> None:
    folder = Path(paths.history())
    within = _seconds(lambda: _import(place))
    with contextlib.closing(History()) as history:
        whole = contents(history.database)
    assert len(whole["messages"]) > CONVERSATIONS * 10
    shutil.rmtree(folder)
    chance, killed, ended = random.Random(3), 0, 0
    while killed < kills:
        if _ended(lambda: _import(place), chance.uniform(0, within)):
            ended += 1
            with contextlib.closing(History()) as history:
                assert contents(history.database) == whole
            shutil.rmtree(folder)
            continue
        killed += 1
        with contextlib.closing(History()) as history:
            _is_sound(history)
            kept = contents(history.database)["messages"]
            assert set(kept) <= set(whole["messages"])
    _import(place)
    with contextlib.closing(History()) as history:
        assert contents(history.database) == whole
        page = history.recall.search("rainfall", by="message", limit=1)
        assert page.total == len([row for row in whole["messages"] if "rainfall" in row[5]])
    print(f"\n{killed} imports were killed, {ended} ended before; one takes {within:.2f} s")


def _kill_forgetting(place: InstallPlace, kills: int) -> None:
    folder = Path(paths.history())
    _import(place)
    aside = folder.with_name("imported")
    shutil.copytree(folder, aside)
    within = _seconds(lambda: _forget("long-0"))
    chance, unfinished = random.Random(4), 0
    for number in range(kills):
        shutil.rmtree(folder)
        shutil.copytree(aside, folder)
        name, word = f"long-{number % CONVERSATIONS}", f"secretplan{number % CONVERSATIONS} "
        ended = _ended(lambda name=name: _forget(name), chance.uniform(0, within))  # type: ignore[misc]
        assert not ended or files_with(folder, word) == []
        with contextlib.closing(History()) as history:
            _is_sound(history)
            names = {row[1] for row in contents(history.database)["sessions"]}
            assert not forgetting.is_unfinished(history.database)
            unfinished += not ended and name not in names
            assert len(names) >= CONVERSATIONS - 1 + len(MAKERS)
        if name not in names:
            assert files_with(folder, word) == []
            _import(place)
            for path in Path(place.home, ".claude").rglob(f"{name}.jsonl"):
                os.utime(path, ns=(number, number))  # so that it is read again
            _import(place)
            assert files_with(folder, word) == []
        else:
            _forget(name)
            assert files_with(folder, word) == []
    print(f"\n{kills} kills; {unfinished} times the rows were deleted and the next use finished")


def test_killed_imports_go_on_where_they_were(place: InstallPlace) -> None:
    _kill_imports(place, KILLS)


def test_killed_forgetting_leaves_nothing(place: InstallPlace) -> None:
    _kill_forgetting(place, KILLS)


@pytest.mark.slow
def test_a_hundred_killed_imports_go_on_where_they_were(place: InstallPlace) -> None:
    _kill_imports(place, KILLS_SLOW)


@pytest.mark.slow
def test_a_hundred_killed_forgettings_leave_nothing(place: InstallPlace) -> None:
    _kill_forgetting(place, KILLS_SLOW)
