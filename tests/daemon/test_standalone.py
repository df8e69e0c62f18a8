"""What happens behind the first answer: none of it is waited for, and whatever fails is logged."""

from __future__ import annotations

import os
import threading

import pytest

from tests.app.contexts import context_on, until
from triseek import errors
from triseek.daemon import standalone
from triseek.daemon.standalone import DISABLED, Outbox, Startup, context_alone
from triseek.engine import reindex_process
from triseek.ipc import client
from triseek.sessions.recording import Action


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
    monkeypatch.setattr(standalone, "PAUSE_S", 0.0)
    monkeypatch.delenv(DISABLED, raising=False)


@pytest.fixture
def synced(monkeypatch):
    """The roots that were brought up to date."""
    roots = []
    monkeypatch.setattr(
        reindex_process, "reindex", lambda root, mode, **_: roots.append((root, mode))
    )
    return roots


def begun(context):
    startup = Startup()
    startup.index_jobs = Chores()
    before = threading.active_count()
    startup.begin(context)
    return startup, lambda: threading.active_count() <= before


def test_beginning_waits_for_nothing(repo, synced):
    startup, _ = begun(context_on(os.path.realpath(repo({"a": "x\n"}))))

    assert startup.is_cold
    startup.index_jobs.go.set()
    until(lambda: not startup.is_cold)
    startup.end()


def test_a_root_without_an_index_is_indexed(repo, synced):
    context = context_on(os.path.realpath(repo({"a": "x\n"})))
    startup, _ = begun(context)

    until(lambda: synced == [(context.root, "incremental")])
    startup.end()


@pytest.mark.parametrize("value", ["1", ""])
def test_any_value_of_the_variable_forbids_the_sync(repo, synced, monkeypatch, value):
    monkeypatch.setenv(DISABLED, value)
    startup, over = begun(context_on(os.path.realpath(repo({"a": "x\n"}))))
    startup.index_jobs.go.set()
    until(over)

    assert synced == []
    startup.end()


@pytest.mark.parametrize(
    "error", [errors.Busy("another"), errors.StateUnwritable("full"), OSError("disk")]
)
def test_what_fails_is_logged_and_no_more(repo, monkeypatch, caplog, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(reindex_process, "reindex", fail)
    caplog.set_level("INFO", "triseek")
    startup, over = begun(context_on(os.path.realpath(repo({"a": "x\n"}))))
    startup.index_jobs.go.set()
    until(over)

    assert caplog.records
    assert not startup.is_syncing
    startup.end()


def test_a_root_that_is_not_there_is_logged_and_no_more(tmp_path, caplog, synced):
    startup, over = begun(context_on(str(tmp_path / "gone")))
    startup.index_jobs.go.set()
    until(over)

    assert "start-up sync" in caplog.text
    assert synced == []
    startup.end()


def test_ending_stops_what_is_under_way(repo, monkeypatch):
    seen = threading.Event()

    def reindex(root, mode, *, cancelled):
        until(cancelled)
        seen.set()

    monkeypatch.setattr(reindex_process, "reindex", reindex)
    startup, _ = begun(context_on(os.path.realpath(repo({"a": "x\n"}))))
    until(lambda: startup.is_syncing)
    startup.end()

    assert seen.wait(10)
    assert startup.index_jobs.closed


def test_what_tools_work_on_knows_how_far_it_has_come(repo, monkeypatch):
    going = threading.Event()
    monkeypatch.setattr(reindex_process, "reindex", lambda *_, **__: going.wait(10))
    startup = Startup()
    startup.index_jobs = Chores()
    service, context = context_alone(startup, os.path.realpath(repo({"a": "x\n"})), Outbox())
    with service:
        startup.begin(context)
        until(lambda: context.host.is_building(context.root))
        assert context.engine.is_cold
        going.set()
        startup.index_jobs.go.set()
        until(lambda: not context.host.is_building(context.root))
        until(lambda: not context.engine.is_cold)
        startup.end()


def test_an_outbox_keeps_what_no_daemon_takes(monkeypatch):
    taken = []
    outbox = Outbox()
    for number, session in enumerate(("", "", "mine")):
        action = Action(at_s=float(number), kind="search", conversation=None, session_id=session)
        outbox("/root", action)

    assert not outbox.send()  # no daemon runs
    monkeypatch.setattr(client, "ask", lambda *params: taken.append(params))
    assert outbox.send()
    assert outbox.send()

    assert [
        (verb, params.get("session_id"), len(params["notes"])) for verb, params, _ in taken
    ] == [
        ("session_note", None, 2),
        ("session_note", "mine", 1),
    ]
