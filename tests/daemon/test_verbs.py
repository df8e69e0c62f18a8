"""Parameters of verbs, which are refused in one clear line if not valid; the verbs on roots."""

from __future__ import annotations

import json
import os

import pytest

from tests.app.contexts import Daemon, indexed
from tests.engine import answers
from triseek.daemon.verbs import Parameters
from triseek.errors import InvalidRequest
from triseek.files.watch.inotify import Inotify, WatchLimit

TREE = {"a.txt": "alpha\n", "b/c.txt": "beta\n"}


@pytest.fixture
def daemon(monkeypatch):
    answers.shorten_racy_times(monkeypatch)
    daemon = Daemon()
    daemon.start()
    yield daemon
    daemon.stop()


@pytest.fixture
def root(repo, daemon):
    root = indexed(repo, TREE)
    daemon.watch(root)
    return root


def sync(daemon, root, clock=None):
    params = {"target_root": root} if clock is None else {"target_root": root, "clock": clock}
    return daemon.ask("sync", params)


def test_no_clock_is_given_of_a_root_that_ran_out_of_watches(daemon, root, monkeypatch):
    clock = sync(daemon, root)["clock"]
    assert clock is not None

    def refuse(*_, **__):
        raise WatchLimit("no more inotify watches")

    monkeypatch.setattr(Inotify, "add", refuse)
    answers.write(root, {"new/n.txt": "novel\n"})

    for _ in range(2):
        told = sync(daemon, root, clock)
        assert (told["freshness"], told["watched"], told["clock"]) == ("swept", False, None)
        assert told["since"]["kind"] == "unknown"
        assert told["dirty"] == 1


def test_sync_without_a_clock_says_nothing_of_the_past(daemon, root):
    assert "since" not in sync(daemon, root)


def test_sync_tells_what_happened_since_a_clock(daemon, root):
    clock = sync(daemon, root)["clock"]
    assert sync(daemon, root, clock)["since"] == {
        "kind": "unchanged", "reason": "unchanged", "batches": []
    }  # fmt: skip

    answers.write(root, {"a.txt": "edited\n", "new.txt": "novel\n"})
    os.unlink(f"{root}/b/c.txt")
    told = sync(daemon, root, clock)

    assert told["clock"] != clock
    assert (told["since"]["kind"], told["since"]["reason"]) == ("changed", "changed")
    changes = [change for batch in told["since"]["batches"] for change in batch["changes"].items()]
    assert sorted(changes) == [
        ("a.txt", "modified"),
        ("b/c.txt", "removed"),
        ("new.txt", "created"),
    ]


def test_sync_tells_of_names_that_are_not_utf8(daemon, root):
    clock = sync(daemon, root)["clock"]
    with open(os.fsencode(root) + b"/\xff.txt", "wb") as file:
        file.write(b"novel\n")

    told = json.loads(json.dumps(sync(daemon, root, clock)))

    # Making the file and writing it may reach the daemon in two batches.
    changed = {path for batch in told["since"]["batches"] for path in batch["changes"]}
    assert {os.fsencode(path) for path in changed} == {b"\xff.txt"}


def test_nothing_is_known_since_an_unknown_moment(daemon, root):
    told = sync(daemon, root, "0123456789abcdef:1:0")

    assert told["since"] == {"kind": "unknown", "reason": "boot_changed", "batches": []}


def test_nothing_is_known_where_nobody_watches(daemon, root):
    clock = sync(daemon, root)["clock"]
    daemon.engine(root).unwatch()
    told = sync(daemon, root, clock)

    assert told["clock"] is None
    assert told["since"] == {"kind": "unknown", "reason": "not_watched", "batches": []}


def test_a_sweep_moves_no_clock(daemon, root, monkeypatch):
    """What it finds the journal does not know of."""
    clock = sync(daemon, root)["clock"]
    indexed = daemon.engine(root).indexed()
    tracker = indexed._tracker
    monkeypatch.setattr(tracker, "tree_diff", lambda _: None)  # as in the middle of a catching up
    answers.write(root, {"a.txt": "edited\n"})
    told = sync(daemon, root, clock)

    assert (told["freshness"], told["watched"]) == ("swept", True)
    assert told["clock"] is None
    assert told["since"]["kind"] == "unknown"


@pytest.mark.parametrize("clock", [7, "yesterday", "0123456789abcdef:1:0:2", ["x"]])
def test_what_is_no_clock_is_refused(daemon, root, clock):
    with pytest.raises(InvalidRequest):
        sync(daemon, root, clock)


@pytest.mark.parametrize("verb", ["sync", "preload_root"])
@pytest.mark.parametrize("target", [None, 7, "", "relative", "/with\0nul"])
def test_a_root_is_an_absolute_path(daemon, verb, target):
    with pytest.raises(InvalidRequest):
        daemon.ask(verb, {"target_root": target})


def test_an_exact_root_is_kept_below_an_indexed_one(daemon, root):
    below = f"{root}/b"

    assert daemon.ask("preload_root", {"target_root": below})["target_root"] == root
    assert daemon.ask("preload_root", {"target_root": below, "exact": "yes"})["target_root"] == root
    exact = daemon.ask("preload_root", {"target_root": below, "exact": True})
    assert exact["target_root"] == below
    assert below in {engine.root for engine in daemon.jobs.service.engines()}


def test_a_missing_text_is_empty():
    assert Parameters({}).text("goal") == Parameters({"goal": None}).text("goal") == ""


@pytest.mark.parametrize("value", [1, ["a"], {}, True, "x" * 9])
def test_a_text_is_a_string_of_bounded_length(value):
    with pytest.raises(InvalidRequest, match="goal has to be a text of at most 8 characters"):
        Parameters({"goal": value}).text("goal", most=8)


@pytest.mark.parametrize("folder", [None, 1, "", "src", "./src", "/a\0b", ["/"]])
def test_the_folder_of_a_request_is_an_absolute_path(folder):
    with pytest.raises(InvalidRequest, match="target_root has to be an absolute path"):
        Parameters({"target_root": folder}).root()


def test_who_asks_is_what_the_request_says():
    asked = Parameters({"session": "s1", "harness": "codex", "target_root": "/"}).asker()

    assert (asked.session, asked.harness, asked.agent, asked.call) == ("s1", "codex", "", "")


@pytest.mark.parametrize("paths", [None, "a", ["a", 7], {}])
def test_chosen_files_are_a_list_of_paths(daemon, root, paths):
    with pytest.raises(InvalidRequest):
        daemon.ask("frecency_select", {"target_root": root, "paths": paths})
