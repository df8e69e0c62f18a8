"""What happens behind the first answer: none of it is waited for, and whatever fails is logged."""

from __future__ import annotations

import os
import threading

import pytest

from tests.service.desks import desk_on, indexed, until
from triseek import errors
from triseek.ipc import address
from triseek.mcp import startup as module
from triseek.mcp.startup import Startup, sync_is_wanted
from triseek.service import apart


class Chores:
    """Kernels that are loaded when a test says so."""

    def __init__(self):
        self.warm, self.go, self.closed = threading.Event(), threading.Event(), False

    def warm_up(self):
        self.go.wait(10)
        self.warm.set()

    def close(self):
        self.closed = True
        self.go.set()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_S", 0.0)
    monkeypatch.setattr(module, "WATCHED_WITHIN_S", 0.5)


@pytest.fixture
def synced(monkeypatch):
    """The roots that were brought up to date."""
    roots = []
    monkeypatch.setattr(apart, "reindex", lambda root, mode, **_: roots.append((root, mode)))
    return roots


@pytest.fixture
def daemon(monkeypatch):
    """What was asked of a daemon that is reached, and what it says."""
    says = {"sync": {"watched": True}, "preload_root": {}}
    asked = []

    class Connection:
        def close(self):
            pass

    def reach(desk):
        monkeypatch.setattr(address, "connect", lambda _: Connection())

        def ask(verb, params):
            asked.append((verb, params))
            return says[verb]

        desk.lending.ask = ask
        return says, asked

    return reach


def begun(desk, *, sync=True):
    startup = Startup(Chores(), sync=sync)
    before = threading.active_count()
    startup.begin(desk)
    return startup, lambda: threading.active_count() <= before


def test_beginning_waits_for_nothing(repo, synced):
    startup, _ = begun(desk_on(os.path.realpath(repo({"a": "x\n"}))))

    assert startup.is_cold
    startup.chores.go.set()
    until(lambda: not startup.is_cold)
    startup.end()


def test_a_root_without_an_index_is_indexed(repo, synced):
    desk = desk_on(os.path.realpath(repo({"a": "x\n"})))
    startup, _ = begun(desk)

    until(lambda: synced == [(desk.root, "incremental")])
    startup.end()


def test_a_daemon_that_watches_keeps_the_index_itself(repo, synced, daemon):
    desk = desk_on(indexed(repo, {"a": "x\n"}))
    _, asked = daemon(desk)
    startup, over = begun(desk)
    startup.chores.go.set()
    until(over)

    assert asked == [("preload_root", {"exact": True}), ("sync", {"cheap": True})]
    assert synced == []
    startup.end()


def test_a_daemon_that_cannot_watch_leaves_it_to_us_and_is_told(repo, synced, daemon):
    desk = desk_on(indexed(repo, {"a": "x\n"}))
    says, asked = daemon(desk)
    says["sync"] = {"watched": False}
    startup, over = begun(desk)
    startup.chores.go.set()
    until(over)

    assert synced == [(desk.root, "incremental")]
    assert [verb for verb, _ in asked].count("preload_root") == 2
    startup.end()


def test_without_sync_the_index_is_left_alone(repo, synced, daemon):
    desk = desk_on(os.path.realpath(repo({"a": "x\n"})))
    _, asked = daemon(desk)
    startup, over = begun(desk, sync=False)
    startup.chores.go.set()
    until(over)

    assert (synced, asked) == ([], [("preload_root", {"exact": True})])
    startup.end()


@pytest.mark.parametrize(
    "error", [errors.Busy("another"), errors.StateUnwritable("full"), OSError("disk")]
)
def test_what_fails_is_logged_and_no_more(repo, monkeypatch, caplog, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(apart, "reindex", fail)
    caplog.set_level("INFO", "triseek")
    startup, over = begun(desk_on(os.path.realpath(repo({"a": "x\n"}))))
    startup.chores.go.set()
    until(over)

    assert caplog.records
    assert not startup.is_syncing
    startup.end()


def test_a_root_that_is_not_there_is_logged_and_no_more(tmp_path, caplog, synced):
    startup, over = begun(desk_on(str(tmp_path / "gone")))
    startup.chores.go.set()
    until(over)

    assert "start-up sync" in caplog.text
    assert synced == []
    startup.end()


def test_ending_stops_what_is_under_way(repo, monkeypatch):
    seen = threading.Event()

    def reindex(root, mode, *, cancelled):
        until(cancelled)
        seen.set()

    monkeypatch.setattr(apart, "reindex", reindex)
    startup, _ = begun(desk_on(os.path.realpath(repo({"a": "x\n"}))))
    until(lambda: startup.is_syncing)
    startup.end()

    assert seen.wait(10)
    assert startup.chores.closed


def test_any_value_of_the_variable_forbids_the_sync(monkeypatch):
    monkeypatch.delenv("TRISEEK_MCP_DISABLE_STARTUP_SYNC", raising=False)
    assert sync_is_wanted()
    monkeypatch.setenv("TRISEEK_MCP_DISABLE_STARTUP_SYNC", "")
    assert not sync_is_wanted()
