"""index_status and reindex."""

from __future__ import annotations

import os
import re

import pytest

from tests.engine import roads
from tests.service.desks import desk_on, indexed, is_hit, lines, search
from triseek.errors import BackendFailure, Busy, RepoNotDetected
from triseek.model.tools import IndexStatusRequest, ReindexRequest
from triseek.service import apart
from triseek.service.desk import Call
from triseek.service.indexing import index_status, reindex
from triseek.service.roots import index_dir
from triseek.store import layout
from triseek.store.lock import writer

TREE = {"a.txt": "needle\n", "b.txt": "x\n"}


def status(desk):
    return index_status(desk, IndexStatusRequest(), Call())


def run(desk, mode="incremental", **call):
    return reindex(desk, ReindexRequest(mode=mode), Call(**call))


def test_without_an_index(repo):
    desk = desk_on(os.path.realpath(repo(TREE)))

    assert status(desk) == {
        "version": "1", "repo_root": desk.root, "index_present": False, "index_fresh": False,
        "indexed_files": 0, "index_bytes": 0, "last_updated": None, "repo_category": None,
        "routing_hint": "ripgrep_fallback",
    }  # fmt: skip
    desk.is_syncing = lambda: True
    assert status(desk)["routing_hint"] == "index_syncing"


def test_with_one(repo, monkeypatch):
    roads.shorten_racy_times(monkeypatch)
    desk = desk_on(indexed(repo, TREE))
    told = status(desk)

    assert (told["index_present"], told["index_fresh"], told["indexed_files"]) == (True, True, 2)
    assert told["index_bytes"] > 0
    assert told["repo_category"] in ("small", "medium", "large", "very_large")
    assert told["routing_hint"] == "indexed_default"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["last_updated"])


def test_an_edit_makes_it_stale_unless_somebody_watches(repo, daemon):
    root = indexed(repo, TREE)
    desk = desk_on(root)
    daemon.stop()  # who is asked about a root begins to watch it
    roads.write(root, {"a.txt": "edited\n"})
    assert (status(desk)["index_fresh"], status(desk)["dirty_files"]) == (False, 1)

    daemon.start()
    daemon.watch(root)
    assert status(desk)["index_fresh"] is True


def test_a_broken_index_is_none_and_says_why(repo):
    root = indexed(repo, TREE)
    with open(os.path.join(index_dir(root), layout.CURRENT), "r+b") as file:
        file.write(b"broken")
    told = status(desk_on(root))

    assert told["index_present"] is False
    assert told["problem"]


@pytest.mark.parametrize(("mode", "full"), [("incremental", False), ("full", True)])
def test_reindexing(repo, monkeypatch, mode, full):
    root = indexed(repo, TREE)
    desk = desk_on(root)
    desk.lending.ask = lambda verb, params: None
    roads.write(root, {"c.txt": "needle\n"})
    steps = []
    told = run(desk, mode, progress=lambda *step: steps.append(step))

    assert {name: told[name] for name in told if name != "elapsed_ms"} == {
        "version": "1", "repo_root": root, "completed": True, "mode": mode, "rebuilt_full": full,
        "indexed_files": 3,
    }  # fmt: skip
    assert told["elapsed_ms"] > 0
    assert steps
    assert status(desk)["indexed_files"] == 3
    assert lines(search(desk, "needle")) == [("a.txt", 1), ("c.txt", 1)]


def test_without_an_index_an_increment_is_everything(repo):
    desk = desk_on(os.path.realpath(repo(TREE)))

    assert run(desk)["rebuilt_full"] is True


def test_the_daemon_is_told_and_answers_hold_on(repo, daemon):
    root = indexed(repo, TREE)
    daemon.watch(root)
    desk = desk_on(root)
    search(desk, "needle", "me")
    run(desk, "full")

    assert "reload" in daemon.asked
    assert search(desk, "needle")["freshness"] == "synced"
    assert is_hit(search(desk, "needle", "me"))


def test_another_writer_is_told_of(repo):
    root = indexed(repo, TREE)
    with writer(index_dir(root)), pytest.raises(Busy) as error:
        run(desk_on(root))

    assert error.value.retryable


def test_a_root_that_is_gone(tmp_path):
    with pytest.raises(RepoNotDetected):
        run(desk_on(str(tmp_path / "gone")))


def test_a_call_nobody_waits_for_ends_its_process(repo, monkeypatch):
    monkeypatch.setattr(apart, "_POLL_S", 0.001)
    root = indexed(repo, {f"{n}.txt": "needle\n" for n in range(50)})

    with pytest.raises(BackendFailure):
        run(desk_on(root), "full", cancelled=lambda: True)
