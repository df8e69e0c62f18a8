"""Roots are watched, indexed, taken in and let go of, while requests are served."""

from __future__ import annotations

import os
import shutil
import subprocess
import time

import pytest

from tests.engine import answers
from triseek.config import Settings
from triseek.daemon import open_roots
from triseek.daemon import root_maintainer as keeping
from triseek.daemon.open_roots import OpenRoots
from triseek.daemon.root_maintainer import to_be_indexed
from triseek.daemon.verbs import state_of
from triseek.engine.engine import Engine
from triseek.engine.roots import index_dir
from triseek.errors import BackendFailure, RepoNotDetected
from triseek.files.watch.inotify import Inotify, WatchLimit
from triseek.index.build import build
from triseek.model.search import PatternSpec, SearchRequest

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def racy_times_are_short(monkeypatch):
    answers.shorten_racy_times(monkeypatch)


@pytest.fixture
def jobs(monkeypatch):
    monkeypatch.setattr(keeping, "QUIET_S", 0.3)
    monkeypatch.setattr(keeping, "TICK_S", 0.2)
    jobs = OpenRoots(Settings())
    jobs.start()
    yield jobs
    jobs.close()


def until(wanted, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return found


def write(root, name, text):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def find(engine, word):
    search = engine.search(SearchRequest(pattern=PatternSpec(patterns=(word,))))
    return {path for batch in search for path in batch.paths}, search


def find_synced(engine, word):
    """Ask until an answer is synced; each finds the same files.

    An answer takes a sweep where the maintainer has just written another generation of the index.
    """
    files, search = find(engine, word)

    def is_synced():
        nonlocal search
        found, search = find(engine, word)
        assert found == files
        return search.totals.freshness == "synced"

    until(is_synced)
    return files, search


def indexed(repo):
    root = os.path.realpath(repo({"a.txt": "alpha\n", "b/c.txt": "beta\n"}))
    time.sleep(answers.TICK_S)
    build(root, index_dir(root))
    return root


def test_an_indexed_root_is_watched_soon_after_it_is_asked_about(jobs, repo, monkeypatch):
    monkeypatch.setattr(keeping, "QUIET_S", 60.0)  # what changes is not taken in meanwhile
    engine = jobs.service.engine(indexed(repo))
    until(lambda: engine.watched)

    write(engine.root, "new.txt", "novel\n")
    found, search = find_synced(engine, "novel")

    assert (found, search.totals.dirty) == ({b"new.txt"}, 1)


def test_what_changed_is_taken_in_when_the_tree_is_at_rest(jobs, repo):
    engine = jobs.service.engine(indexed(repo))
    until(lambda: engine.watched)
    for number in range(3):
        write(engine.root, f"b/{number}.txt", f"novel {number}\n")

    until(lambda: engine.reader().generation > 1 and engine.indexed().tree_diff().count == 0)
    found, search = find(engine, "novel")

    assert found == {b"b/0.txt", b"b/1.txt", b"b/2.txt"}
    assert search.totals.dirty == 0


def test_many_changed_files_are_another_processs_work(jobs, repo, monkeypatch):
    monkeypatch.setattr(keeping, "HERE_MAX", 5)
    engine = jobs.service.engine(indexed(repo))
    until(lambda: engine.watched)
    for number in range(20):
        write(engine.root, f"b/{number}.txt", f"novel {number}\n")

    until(lambda: engine.reader().generation > 1)

    assert len(find(engine, "novel")[0]) == 20


def test_a_repository_without_an_index_gets_one_behind_its_first_search(jobs, repo):
    root = os.path.realpath(repo({"a/b/c.txt": "alpha\n"}))
    subprocess.run(["git", "init", "-q", root], check=True)
    engine = jobs.service.engine(f"{root}/a/b")
    assert find(engine, "alpha")[0] == {b"c.txt"}

    until(lambda: os.path.exists(f"{index_dir(root)}/CURRENT"))
    engine = jobs.service.engine(f"{root}/a/b")

    assert engine.root == root
    until(lambda: engine.watched)
    assert find(engine, "alpha")[0] == {b"a/b/c.txt"}


def test_a_folder_that_is_no_repository_is_not_indexed_unasked(jobs, repo):
    root = os.path.realpath(repo({"a.txt": "alpha\n"}))
    engine = jobs.service.engine(root)
    until(lambda: jobs.is_warm)
    time.sleep(1.0)

    assert not engine.has_index()
    assert not os.path.exists(index_dir(root))


def test_the_home_folder_is_not_indexed_though_it_be_a_repository(home, tmp_path):
    subprocess.run(["git", "init", "-q", home], check=True)
    (tmp_path / "repo").mkdir()
    subprocess.run(["git", "init", "-q", tmp_path / "repo"], check=True)

    (home / "project").mkdir()

    assert to_be_indexed(str(home)) is None
    assert to_be_indexed(str(home / "project")) is None
    assert to_be_indexed(str(tmp_path / "repo")) == os.path.realpath(tmp_path / "repo")


def test_a_root_that_may_not_be_watched_is_swept_and_says_why(repo):
    jobs = OpenRoots(Settings(watch_max_folders=1))
    jobs.start()
    try:
        engine = jobs.service.engine(indexed(repo))
        maintainer = jobs.maintainer(engine.root)
        until(lambda: maintainer.trouble)
        write(engine.root, "new.txt", "novel\n")
        found, search = find(engine, "novel")

        assert (found, search.totals.freshness) == ({b"new.txt"}, "swept")
        assert "not watched" in state_of(maintainer)["trouble"]
    finally:
        jobs.close()


def test_a_root_that_ran_out_of_watches_is_watched_again_by_itself(jobs, repo, monkeypatch):
    monkeypatch.setattr(keeping, "RETRY_S", (0.2, 1.0))
    engine = jobs.service.engine(indexed(repo))
    maintainer = jobs.maintainer(engine.root)
    until(lambda: engine.watched)

    def refuse(*_, **__):
        raise WatchLimit("no more inotify watches", "sudo sysctl fs.inotify.max_user_watches=9")

    with monkeypatch.context() as patch:
        patch.setattr(Inotify, "add", refuse)
        write(engine.root, "new/one.txt", "novel\n")
        for _ in range(3):
            found, search = find(engine, "novel")
            assert (found, search.totals.freshness) == ({b"new/one.txt"}, "swept")
        until(lambda: state_of(maintainer)["trouble"].startswith(engine.root))  # it tried, in vain
        state = state_of(maintainer)
        assert (state["watched"], state["clock"]) == (False, None)
        assert "no more inotify watches" in state["trouble"]
        assert state["fix"] == "sudo sysctl fs.inotify.max_user_watches=9"

    until(lambda: state_of(maintainer)["watched"])
    write(engine.root, "b/two.txt", "novel\n")
    assert find_synced(engine, "novel")[0] == {b"new/one.txt", b"b/two.txt"}
    assert state_of(maintainer)["trouble"] == ""


def test_a_watcher_that_dies_at_once_is_not_begun_without_end(jobs, repo, monkeypatch):
    begun = []
    watch = Engine.watch
    monkeypatch.setattr(Engine, "watch", lambda *of: begun.append(1) or watch(*of))
    monkeypatch.setattr(Inotify, "read", lambda _: 1 / 0)
    engine = jobs.service.engine(indexed(repo))
    until(lambda: begun)
    for number in range(20):
        write(engine.root, f"{number}.txt", "novel\n")
        found, search = find(engine, "novel")
        assert (len(found), search.totals.freshness) == (number + 1, "swept")

    assert len(begun) <= 2


def test_a_root_that_is_deleted_and_made_again_is_watched_again(jobs, repo):
    root = indexed(repo)
    engine = jobs.service.engine(root)
    until(lambda: engine.watched)
    shutil.rmtree(root)
    until(lambda: engine.watched is None)
    with pytest.raises(RepoNotDetected):
        find(engine, "alpha")

    write(root, "a.txt", "alpha again\n")
    until(lambda: engine.watched)

    assert find_synced(engine, "alpha")[0] == {b"a.txt"}


def test_roots_nobody_asks_about_are_let_go_of(jobs, repo, monkeypatch):
    monkeypatch.setattr(open_roots, "ROUND_S", 0.1)
    monkeypatch.setattr(open_roots, "IDLE_S", 0.5)
    engine = jobs.service.engine(indexed(repo))
    until(lambda: engine.watched, 30)

    until(lambda: not jobs.service.engines())
    assert jobs.maintainers() == []
    assert engine.watched is None


def test_garbage_is_looked_for_once_no_request_comes(repo, monkeypatch):
    collected = []
    monkeypatch.setattr(open_roots.gc, "collect", lambda: collected.append(1))
    roots = OpenRoots(Settings())
    engine = roots.service.engine(indexed(repo))
    counts = []
    for seconds_ago in (0.0, 2 * open_roots.ROUND_S, 2 * open_roots.ROUND_S):
        engine.used = time.monotonic() - seconds_ago
        roots._tidy()
        counts.append(len(collected))
    roots.close()

    assert counts == [0, 1, 1]


def test_nothing_is_left_running_when_it_is_closed(repo):
    jobs = OpenRoots(Settings())
    jobs.start()
    engine = jobs.service.engine(indexed(repo))
    until(lambda: engine.watched)
    jobs.close()

    assert engine.watched is None
    with pytest.raises(BackendFailure, match="stopping"):
        jobs.index_jobs.run("measure", engine.root)
