"""What tells, before anything is started, that nothing would be."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from triseek import paths
from triseek.ipc import aside


@pytest.fixture(autouse=True)
def _may(monkeypatch):
    for name in aside.VETOES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def started(monkeypatch):
    started = []
    monkeypatch.setattr(os, "posix_spawn", lambda *words, **how: started.append((words, how)))
    return started


def stamp(seconds_ago):
    path = Path(paths.daemon()) / aside.STAMP
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (time.time() - seconds_ago,) * 2)


def test_it_is_tried_where_nobody_has(started):
    aside.behind()

    [(words, how)] = started
    assert words[1][-1].endswith("spawn.behind()")
    assert how["setsid"] is True
    assert len(how["file_actions"]) == 3


@pytest.mark.parametrize(("seconds", "times"), [(1, 0), (aside.AGAIN_S + 5, 1), (-3_600, 1)])
def test_it_is_not_tried_again_at_once(started, seconds, times):
    stamp(seconds)

    aside.behind("replace")

    assert len(started) == times


@pytest.mark.parametrize("name", aside.VETOES)
def test_a_variable_forbids_it(started, monkeypatch, name):
    monkeypatch.setenv(name, "1")

    aside.behind()

    assert started == []


@pytest.mark.parametrize("error", [OSError(), NotImplementedError(), ValueError("NUL")])
def test_what_cannot_be_started_is_no_error(monkeypatch, error):
    def fail(*_words, **_how):
        raise error

    monkeypatch.setattr(os, "posix_spawn", fail)

    aside.behind()
