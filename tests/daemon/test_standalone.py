"""What happens behind the first answer: none of it is waited for, and whatever fails is logged."""

from __future__ import annotations

import os
import threading

import pytest

from tests.app.contexts import until
from triseek import errors
from triseek.daemon import standalone
from triseek.daemon.standalone import DISABLED, Outbox, Standalone
from triseek.engine import reindex_process
from triseek.engine.roots import index_dir
from triseek.index.build import build
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


def begun(root):
    alone = Standalone(root)
    alone.index_jobs = Chores()
    before = threading.active_count()
    alone.begin()
    return alone, lambda: threading.active_count() <= before


def test_beginning_waits_for_nothing(repo, synced):
    alone, _ = begun(os.path.realpath(repo({"a": "x\n"})))

    assert alone.is_cold
    alone.index_jobs.go.set()
    until(lambda: not alone.is_cold)
    alone.close()


def test_a_root_without_an_index_is_indexed(repo, synced):
    root = os.path.realpath(repo({"a": "x\n"}))
    alone, _ = begun(root)

    until(lambda: synced == [(root, "incremental")])
    alone.close()


def test_the_home_folder_is_not_indexed(repo, synced, monkeypatch, caplog):
    caplog.set_level("INFO", "triseek")
    root = os.path.realpath(repo({"a": "x\n"}))
    monkeypatch.setenv("HOME", root)
    alone, over = begun(root)
    alone.index_jobs.go.set()
    until(over)

    assert synced == []
    assert "is the home folder" in caplog.text
    alone.close()


def test_an_index_that_somebody_built_of_it_is_kept_up_to_date(repo, synced, monkeypatch):
    root = os.path.realpath(repo({"a": "x\n"}))
    monkeypatch.setenv("HOME", root)
    build(root, index_dir(root))
    alone, _ = begun(root)

    until(lambda: synced == [(root, "incremental")])
    alone.close()


@pytest.mark.parametrize("value", ["1", ""])
def test_any_value_of_the_variable_forbids_the_sync(repo, synced, monkeypatch, value):
    monkeypatch.setenv(DISABLED, value)
    alone, over = begun(os.path.realpath(repo({"a": "x\n"})))
    alone.index_jobs.go.set()
    until(over)

    assert synced == []
    alone.close()


@pytest.mark.parametrize(
    "error", [errors.Busy("another"), errors.StateUnwritable("full"), OSError("disk")]
)
def test_what_fails_is_logged_and_no_more(repo, monkeypatch, caplog, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(reindex_process, "reindex", fail)
    caplog.set_level("INFO", "triseek")
    alone, over = begun(os.path.realpath(repo({"a": "x\n"})))
    alone.index_jobs.go.set()
    until(over)

    assert caplog.records
    assert not alone.is_syncing
    alone.close()


def test_a_root_that_is_not_there_is_logged_and_no_more(tmp_path, caplog, synced):
    alone, over = begun(str(tmp_path / "gone"))
    alone.index_jobs.go.set()
    until(over)

    assert "start-up sync" in caplog.text
    assert synced == []
    alone.close()


def test_ending_stops_what_is_under_way(repo, monkeypatch):
    seen = threading.Event()

    def reindex(root, mode, *, cancelled):
        until(cancelled)
        seen.set()

    monkeypatch.setattr(reindex_process, "reindex", reindex)
    alone, _ = begun(os.path.realpath(repo({"a": "x\n"})))
    until(lambda: alone.is_syncing)
    alone.close()

    assert seen.wait(10)
    assert alone.index_jobs.closed


def test_what_tools_work_on_knows_how_far_it_has_come(repo, monkeypatch):
    going = threading.Event()
    monkeypatch.setattr(reindex_process, "reindex", lambda *_, **__: going.wait(10))
    alone = Standalone(os.path.realpath(repo({"a": "x\n"})))
    alone.index_jobs = Chores()
    context = alone.context
    alone.begin()
    until(lambda: context.host.is_building(context.root))
    assert context.host.engine.is_cold
    going.set()
    alone.index_jobs.go.set()
    until(lambda: not context.host.is_building(context.root))
    until(lambda: not context.host.engine.is_cold)
    alone.close()


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
