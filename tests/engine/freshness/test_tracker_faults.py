"""Whatever system call of watching fails, the answers are right, and none lies about how."""

from __future__ import annotations

import contextlib
import errno
import os
import threading

import pytest

from tests.engine import answers
from tests.engine.faults import Faults
from tests.engine.faulty_histories import Seen, live
from tests.engine.freshness.test_tracker import diff_of, find, seen, truth
from triseek.engine.freshness import sweep
from triseek.engine.search.backends.generation import State
from triseek.files.watch import inotify, reader, watcher
from triseek.files.watch.inotify import Inotify, WatchLimit

FAULTS = 25


@pytest.mark.parametrize("seed", range(1, 5))
def test_no_fault_makes_an_answer_wrong(seed):
    result = Seen()

    live(seed, result, FAULTS)

    assert sum(result.faults.values()) >= FAULTS
    assert result.failures == []


def no_more_watches(*_, follow):
    raise WatchLimit("no more inotify watches", "sudo sysctl fs.inotify.max_user_watches=9")


def test_a_root_that_runs_out_of_watches_is_swept_from_the_first_answer_on(followed, monkeypatch):
    diff_of(followed)
    watch = followed.watched
    clock = watch.journal.clock
    monkeypatch.setattr(Inotify, "add", no_more_watches)
    answers.write(followed.root, {f"new{i}/n.txt": "novel\n" for i in range(40)})
    expected = {f"new{i}/n.txt".encode() for i in range(40)}

    for _ in range(3):
        found, search = find(followed, "novel")
        assert (found, search.totals.freshness) == (expected, "swept")
    assert followed.watched is None
    assert "no more inotify watches" in followed.trouble.reason
    assert followed.trouble.fix == "sudo sysctl fs.inotify.max_user_watches=9"
    assert watch.journal.since(clock).reason == "not_watched"

    monkeypatch.undo()
    followed.unwatch()
    followed.watch(os.fsdecode(watch._tracker.watcher._cookies.folder))
    assert seen(followed, diff_of(followed)) == truth(followed)


def test_after_an_overflow_every_folder_is_watched_again(followed, monkeypatch):
    diff_of(followed)
    read = Inotify.read
    lost = threading.Event()

    def once(instance):
        read(instance)
        monkeypatch.undo()
        lost.set()
        return inotify._HEAD.pack(-1, inotify.OVERFLOW, 0, 0)

    monkeypatch.setattr(Inotify, "read", once)
    answers.write(followed.root, {"top.txt": "novel\n"})
    assert lost.wait(10)
    assert find(followed, "novel")[0] == {b"top.txt"}
    diff_of(followed)

    answers.write(followed.root, {"d1/s1/f1.txt": "novel\n"})  # in a folder that had not changed

    assert find(followed, "novel")[0] == {b"top.txt", b"d1/s1/f1.txt"}


def test_an_unknown_error_ends_the_tracker_and_no_search(followed, monkeypatch):
    diff_of(followed)
    monkeypatch.setattr(sweep.Sweeper, "look", lambda *_, **__: {}["a mistake"])
    answers.write(followed.root, {"new.txt": "novel\n"})

    found, search = find(followed, "novel")

    assert (found, search.totals.freshness) == ({b"new.txt"}, "swept")
    assert followed.watched is None
    assert "tracking failed" in followed.trouble.reason


@pytest.mark.parametrize("error", [OSError(errno.EBADF, "closed"), MemoryError(), KeyError("x")])
def test_a_thread_that_dies_leaves_the_root_to_sweeps(followed, monkeypatch, error):
    diff_of(followed)

    def die(_):
        raise error

    monkeypatch.setattr(Inotify, "read", die)
    answers.write(followed.root, {"new.txt": "novel\n"})

    found, search = find(followed, "novel")

    assert (found, search.totals.freshness) == ({b"new.txt"}, "swept")
    assert followed.watched is None
    assert "reading events failed" in followed.trouble.reason


def test_a_thread_that_hangs_is_given_up(followed, monkeypatch):
    diff_of(followed)
    watch, hang = followed.watched, threading.Event()
    sync = watch._tracker.watcher.sync
    monkeypatch.setattr(reader, "JOIN_S", 0.1)
    monkeypatch.setattr(watch._tracker.watcher, "sync", lambda: sync(0.05))
    monkeypatch.setattr(reader.InotifyReader, "_turn", lambda _: hang.wait())
    for number in range(watcher.UNHEARD_MAX + 2):
        answers.write(followed.root, {f"new{number}.txt": "novel\n"})
        found, search = find(followed, "novel")
        assert (len(found), search.totals.freshness) in ((number + 1, "swept"), (1, "synced"))

    assert followed.watched is None
    assert "no event of a new file" in followed.trouble.reason
    hang.set()


def test_a_folder_that_cannot_be_listed_leaves_the_answer_to_another_backend(followed, monkeypatch):
    diff_of(followed)
    scandir = os.scandir

    def failing(path):
        if path.rstrip(b"/").endswith(b"d1/s1") and looking:
            raise OSError(errno.EIO, "Input/output error", path)
        return scandir(path)

    looking, sweep = [], State.sweep

    def looked(*args, **named):
        looking.append(True)
        try:
            return sweep(*args, **named)
        finally:
            looking.clear()

    monkeypatch.setattr(State, "sweep", looked)
    monkeypatch.setattr(os, "scandir", failing)
    answers.write(followed.root, {"d1/s1/new.txt": "novel\n"})

    found, search = find(followed, "novel")
    assert (found, search.totals.freshness) == ({b"d1/s1/new.txt"}, "swept")
    assert "Input/output error" in search.route.fell_back
    assert "Input/output error" in followed.trouble.reason

    monkeypatch.undo()
    assert find(followed, "novel")[0] == {b"d1/s1/new.txt"}
    assert seen(followed, diff_of(followed)) == truth(followed)
    assert followed.trouble is None


def test_without_descriptors_nothing_is_taken_for_gone(followed, monkeypatch):
    followed.unwatch()
    opened = os.open

    def failing(path, *args, **named):
        if path == os.fsencode(followed.root):
            raise OSError(errno.EMFILE, "Too many open files", path)
        return opened(path, *args, **named)

    monkeypatch.setattr(os, "open", failing)
    diff = followed.indexed().tree_diff()

    assert (diff.freshness, diff.count) == ("unverified", 0)
    assert "Too many open files" in diff.problem


def held():
    """How many descriptors of watchers this process has."""
    names = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            names.append(os.readlink(f"/proc/self/fd/{number}"))
    kinds = ("anon_inode:inotify", "anon_inode:[eventfd]", "mountinfo")
    return sorted(name for name in names if name.endswith(kinds))


def test_what_a_watcher_that_did_not_come_to_be_had_is_given_back(followed, monkeypatch):
    followed.unwatch()
    before = held()
    for name in ("eventfd", "thread"):
        faults = Faults(1)
        with monkeypatch.context() as patch, faults.installed():
            faults.rate = 1.0
            patch.setattr(faults, "strikes", lambda call, only=name: call == only)
            with pytest.raises(Exception, match="not watched"):
                followed.watch(f"{followed.root}.cookies")
        assert held() == before
    followed.watch(f"{followed.root}.cookies")
    assert seen(followed, diff_of(followed)) == truth(followed)
