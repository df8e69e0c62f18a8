"""index_status and reindex."""

from __future__ import annotations

import os
import re

import pytest

from tests.app.contexts import context_on, indexed, is_hit, lines, search
from tests.engine import answers
from triseek.engine import reindex_process
from triseek.engine.roots import index_dir
from triseek.errors import BackendFailure, Busy, RepoNotDetected
from triseek.model.call import Call
from triseek.search.indexing import index_status, reindex
from triseek.search.requests import IndexStatusRequest, ReindexRequest
from triseek.store import layout
from triseek.store.lock import writer

TREE = {"a.txt": "needle\n", "b.txt": "x\n"}


def status(context):
    return index_status(context.contexts["search"], IndexStatusRequest(), Call())


def run(context, mode="incremental", **call):
    return reindex(context.contexts["search"], ReindexRequest(mode=mode), Call(**call))


def test_without_an_index(repo):
    context = context_on(os.path.realpath(repo(TREE)))

    assert status(context) == {
        "version": "1", "repo_root": context.root, "index_present": False, "index_fresh": False,
        "indexed_files": 0, "index_bytes": 0, "last_updated": None, "repo_category": None,
        "routing_hint": "ripgrep_fallback",
    }  # fmt: skip
    building = context_on(context.root, is_building=lambda _: True)
    assert status(building)["routing_hint"] == "index_syncing"


def test_with_one(repo, monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    context = context_on(indexed(repo, TREE))
    told = status(context)

    assert (told["index_present"], told["index_fresh"], told["indexed_files"]) == (True, True, 2)
    assert told["index_bytes"] > 0
    assert told["repo_category"] in ("small", "medium", "large", "very_large")
    assert told["routing_hint"] == "indexed_default"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", told["last_updated"])


def test_an_edit_makes_it_stale_unless_somebody_watches(repo, daemon):
    root = indexed(repo, TREE)
    context = daemon.context(root)
    daemon.stop()  # who is asked about a root begins to watch it
    answers.write(root, {"a.txt": "edited\n"})
    assert (status(context)["index_fresh"], status(context)["dirty_files"]) == (False, 1)

    daemon.start()
    daemon.watch(root)
    assert status(context)["index_fresh"] is True


def test_a_broken_index_is_none_and_says_why(repo):
    root = indexed(repo, TREE)
    with open(os.path.join(index_dir(root), layout.CURRENT), "r+b") as file:
        file.write(b"broken")
    told = status(context_on(root))

    assert told["index_present"] is False
    assert told["problem"]


@pytest.mark.parametrize(("mode", "full"), [("incremental", False), ("full", True)])
def test_reindexing(repo, monkeypatch, mode, full):
    root = indexed(repo, TREE)
    context = context_on(root)
    answers.write(root, {"c.txt": "needle\n"})
    steps = []
    told = run(context, mode, progress=lambda *step: steps.append(step))

    assert {name: told[name] for name in told if name != "elapsed_ms"} == {
        "version": "1", "repo_root": root, "completed": True, "mode": mode, "rebuilt_full": full,
        "indexed_files": 3,
    }  # fmt: skip
    assert told["elapsed_ms"] > 0
    assert steps
    assert status(context)["indexed_files"] == 3
    assert lines(search(context, "needle")) == [("a.txt", 1), ("c.txt", 1)]


def test_without_an_index_an_increment_is_everything(repo):
    context = context_on(os.path.realpath(repo(TREE)))

    assert run(context)["rebuilt_full"] is True


def test_a_new_index_answers_at_once_and_answers_hold_on(repo, daemon):
    root = indexed(repo, TREE)
    daemon.watch(root)
    context = daemon.context(root)
    search(context, "needle", "me")
    run(context, "full")

    assert search(context, "needle")["freshness"] == "synced"
    assert is_hit(search(context, "needle", "me"))


def test_another_writer_is_told_of(repo):
    root = indexed(repo, TREE)
    with writer(index_dir(root)), pytest.raises(Busy) as error:
        run(context_on(root))

    assert error.value.retryable


def test_a_root_that_is_gone(tmp_path):
    with pytest.raises(RepoNotDetected):
        run(context_on(str(tmp_path / "gone")))


def test_a_call_nobody_waits_for_ends_its_process(repo, monkeypatch):
    monkeypatch.setattr(reindex_process, "_POLL_S", 0.001)
    root = indexed(repo, {f"{n}.txt": "needle\n" for n in range(50)})

    with pytest.raises(BackendFailure):
        run(context_on(root), "full", cancelled=lambda: True)
