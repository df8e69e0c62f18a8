"""Memo and sessions are saved on a timer, whatever goes wrong, and outlive the daemon."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from tests.history.rows import Rows
from triseek import paths
from triseek.agents.base import InstallPlace
from triseek.app.session_history import SessionHistory
from triseek.daemon import services
from triseek.daemon.services import (
    PRUNE_S,
    Autosave,
    HistoryService,
    MemoryService,
    MemoService,
    SessionService,
)
from triseek.engine.service import Service
from triseek.errors import StateUnwritable
from triseek.history.importing.sources import importable
from triseek.memo.memo import Asked, Memo
from triseek.memory.drawers import Draft
from triseek.memory.dreaming import idle
from triseek.memory.service import Memory
from triseek.model.hook_event import Context, FileRead, ToolUse
from triseek.recall import engine
from triseek.sessions import files
from triseek.sessions.lifecycle import Sessions

TEXT = "".join(f"line {number} of a file that is worth it\n" for number in range(40))
WHO = Context(harness="claude-code", session="s1")


@pytest.mark.parametrize("error", [OSError("full"), StateUnwritable("full"), ValueError("a bug")])
def test_what_cannot_be_saved_is_tried_again_and_logged(caplog, error):
    times = []
    saved = threading.Event()

    def save():
        times.append(1)
        if len(times) > 2:
            saved.set()
        raise error

    saving = Autosave("memo", save, 0.01)
    saving.start()

    assert saved.wait(60)
    saving.stop(60)
    assert {record.getMessage() for record in caplog.records} == {"memo not saved"}


def test_after_the_end_nothing_is_saved():
    times = []
    saving = Autosave("memo", lambda: times.append(1), 0.01)
    saving.start()
    saving.stop(60)
    before = len(times)
    threading.Event().wait(0.1)

    assert len(times) == before
    saving.now()
    assert len(times) == before + 1


def test_what_was_never_begun_can_be_stopped():
    Autosave("memo", lambda: None, 0.01).stop(1)


@pytest.fixture
def keeping():
    with Service() as service:
        yield lambda: SessionService(service, Memo(None))


def opened(age_s, **how):
    sessions = Sessions(paths.sessions(), lambda: time.time() - age_s)
    session = sessions.open("/repo", **how)
    sessions.save()
    return session.session_id


def known():
    return set(files.peek(paths.sessions()))  # an owner would remove what is being written


def test_what_began_by_itself_goes_when_nobody_has_used_it_for_long(keeping):
    old = opened(PRUNE_S + 60, by_itself=True)
    kept = {opened(PRUNE_S - 60, by_itself=True),
            opened(PRUNE_S + 60, session_id="asked-for")}  # fmt: skip
    assert known() == {old, *kept}

    keeping().close()

    assert known() == kept


def test_a_daemon_that_runs_on_saves_and_prunes_too(keeping, monkeypatch):
    monkeypatch.setattr(services, "SAVE_S", 0.01)
    opened(PRUNE_S + 60, by_itself=True)
    running = keeping()
    running.start()
    until = time.monotonic() + 60
    while known() and time.monotonic() < until:
        time.sleep(0.01)

    assert known() == set()
    running.close()


def kept(tmp_path, *, keep):
    file = tmp_path / "a.py"
    file.write_text(TEXT)
    keeping = MemoService(keep=keep)
    keeping.start()
    use = ToolUse(name="Read", call="c1", reads=(FileRead(path=str(file)),), output=TEXT)
    keeping.memo.observe(str(tmp_path), WHO, use)
    keeping.close()
    again = MemoService(keep=keep)
    told = again.memo.session(str(tmp_path), Asked(session="s1"))
    again.close()
    return told["total_reads"]


def test_what_is_known_outlives_the_daemon(tmp_path):
    assert kept(tmp_path, keep=True) == 1
    assert Path(paths.memo()).stat().st_mode & 0o777 == 0o700


def test_nothing_is_kept_that_is_not_to_be(tmp_path):
    kept(tmp_path, keep=True)

    assert kept(tmp_path, keep=False) == 0
    assert not Path(paths.memo()).exists()


def test_it_is_never_a_reason_to_stay():
    assert MemoService().busy() is False


def test_the_history_follows_the_sessions_after_the_first_import(home):
    with Service() as service:
        keeping = SessionService(service, Memo(None))
        sessions = keeping.sessions
        own = SessionHistory(sessions, keeping.snapshots)
        history = HistoryService(own=own)
        session = sessions.open("/repo", "a goal")
        payload = {"prompt": "find the numbat", "harness": "codex", "conversation": "session/c1/"}
        sessions.record(session.session_id, "prompt", payload)
        history.now()
        assert not history.history.exists()
        claude = next(agent for agent in importable() if agent.name == "claude-code")
        history.history.import_conversations([claude], InstallPlace("", str(home), "/", {}))
        sessions.record(session.session_id, "prompt", {**payload, "prompt": "and the quokka"})
        history.now()
        with history.history.database.read() as connection:
            rows = connection.execute(
                "SELECT agent, s.external_id, text FROM messages"
                " JOIN sessions s ON s.id = session_id"
            ).fetchall()
        assert rows == [("codex", "c1", "find the numbat"), ("codex", "c1", "and the quokka")]
        history.close()
        keeping.close()


def test_memory_of_searches_is_released(home, monkeypatch):
    monkeypatch.setattr(engine, "READ_FIRST", 0)
    monkeypatch.setattr(engine.cache, "is_ready", lambda: True)
    service = HistoryService()
    rows = Rows(service.history.database)
    for number in range(50):
        rows.said(rows.session(f"c{number}"), f"the numbat eats {number} termites")
    service.history.derive()
    assert service.history.recall.search("numbat termites", by="session", limit=5).hits
    before = resident(service.history.folder)
    service.now()
    assert resident(service.history.folder) < before / 3  # checksums stay
    assert service.history.recall.search("numbat termites", by="session", limit=5).hits
    service.close()


def resident(folder):
    """Return the kilobytes of the recall index that are resident in this process."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    starts = [at for at, line in enumerate(lines) if f"{folder}/recall" in line]
    sizes = [next(line for line in lines[at:] if line.startswith("Rss:")) for at in starts]
    return sum(int(line.split()[1]) for line in sizes)


def test_the_memory_is_consolidated_while_nobody_uses_it(monkeypatch):
    monkeypatch.setattr(idle, "LOOK_S", 0.01)
    monkeypatch.setattr(idle.once, "__defaults__", (0.05,))
    for dreams in (False, True):
        kept = MemoryService(dreams=dreams)
        kept.memory.create("shop")
        kept.memory.remember("shop", Draft(text=TEXT))
        kept.memory.remember("shop", Draft(text=TEXT))
        kept.start()
        deadline = time.monotonic() + (60 if dreams else 0.5)
        while kept.memory.idle_s() < 0.3 and time.monotonic() < deadline:
            time.sleep(0.01)
        began = time.monotonic()
        kept.close()
        assert time.monotonic() - began < 2
    memory = Memory()
    assert len(memory.listed("shop")) == 1
    assert len(memory.dreams()) == 3
    memory.close()


def test_the_end_does_not_wait_for_the_memorys_consolidation(monkeypatch):
    monkeypatch.setattr(idle, "LOOK_S", 0.01)
    monkeypatch.setattr(idle.once, "__defaults__", (0.05,))
    kept = MemoryService()
    kept.memory.create("shop")
    for number in range(2_000):
        kept.memory.remember("shop", Draft(text=f"{TEXT} {number}"))
    kept.start()
    time.sleep(0.2)
    began = time.monotonic()
    kept.close()
    assert time.monotonic() - began < 2
