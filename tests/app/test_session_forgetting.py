"""A forgotten conversation is in no file of the state folder, and others are as they were."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.app.worked import Worked
from tests.cli.running import triseek
from tests.history import stub_agent
from tests.sessions.snapshots import ABOUT, WORK
from triseek import paths
from triseek.app.session_history import SessionHistory
from triseek.errors import Busy
from triseek.history import operations, service
from triseek.history.importing import run
from triseek.history.own_sessions import Removed
from triseek.history.service import History
from triseek.ipc import lock
from triseek.sessions import files
from triseek.sessions.action_log import NAME as LOG
from triseek.sessions.snapshot import LOG_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator

SAID = "Please mend the flaky quokka retry"
RAN = "pytest -k quokka"
OTHER = "Rename the heron module everywhere"
FORGOTTEN = frozenset({("opencode", "s")})


@pytest.fixture
def worked(tmp_path: Path) -> Iterator[Worked]:
    worked = Worked(tmp_path)
    yield worked
    worked.keeping.close()


@pytest.fixture
def own(worked: Worked) -> SessionHistory:
    return SessionHistory(worked.keeping.sessions, worked.keeping.snapshots)


@pytest.fixture
def history(own: SessionHistory) -> Iterator[History]:
    history = History(own=own)
    yield history
    history.close()


def work(worked: Worked) -> None:
    worked.hook("UserPromptSubmit", prompt=SAID)
    worked.tool("bash", {"command": RAN}, "1 failed")
    worked.read("src/a.py")


def other_work(worked: Worked) -> None:
    by: dict[str, str] = {"session_id": "o", "tool_use_id": "o1", "tool_name": "read"}
    worked.hook("UserPromptSubmit", prompt=OTHER, session_id="o")
    path = f"{worked.root}/src/b.py"
    worked.hook("PostToolUse", tool_input={"filePath": path}, tool_response="1: x", **by)


def holding(text: str) -> list[str]:
    """Return the files of the state folder in which a text is, packed or not."""
    found = []
    for path in Path(paths.home()).rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            if data[:2] == b"\x1f\x8b":
                data = gzip.decompress(data)
            if text.encode() in data:
                found.append(str(path))
    return found


def exported(worked: Worked) -> str:
    """Take a snapshot with a briefing, and export it; return the snapshot's id."""
    answer = worked.ask("session_handoff", output="out.tcp")
    return str(answer["snapshot_id"])


def test_no_file_of_the_state_folder_has_it(worked: Worked, history: History, home: Path) -> None:
    work(worked)
    worked.hook("PreCompact")
    worked.keeping.checkpoints.finish(60)
    exported(worked)
    worked.keeping.now()
    history.import_conversations([], stub_agent.place(home))
    Path(paths.sessions(), f"{files.INDEX}.damaged").write_text(f'["{SAID}"]')
    for text in ("quokka retry", RAN):
        assert len(holding(text)) >= 4  # the history, a log, snapshots and a pack

    counted = operations.forget(history, ["s"], dry_run=True)
    assert holding("quokka retry")
    assert operations.forget(history, ["s"]) == counted
    assert (counted["logs"], counted["snapshots"], counted["packs"]) == (1, 2, 1)
    worked.keeping.close()
    history.close()

    assert holding("quokka") == []
    assert worked.ask("session_list")["sessions"] == []


def test_an_open_session_is_deleted_and_the_next_prompt_begins_another(
    worked: Worked, own: SessionHistory
) -> None:
    work(worked)
    [before] = worked.keeping.sessions.every()
    assert own.forget(FORGOTTEN, dry_run=True) == Removed(logs=1)
    assert worked.keeping.sessions.every() == [before]
    assert own.forget(FORGOTTEN, dry_run=False) == Removed(logs=1)
    worked.tool("bash", {"command": "make"}, "ok")
    assert worked.keeping.sessions.every() == []
    time.sleep(0.002)  # ids are of the time
    worked.hook("UserPromptSubmit", prompt="go on with the rest of it")
    [after] = worked.keeping.sessions.every()
    assert after.session_id != before.session_id
    assert own.forget({("opencode", "nobody")}, dry_run=False) == Removed()
    assert worked.keeping.sessions.every() == [after]


def test_what_others_did_in_the_same_session_stays(worked: Worked, own: SessionHistory) -> None:
    worked.ask("session_open", goal="quokka things", session_id="mine")
    work(worked)
    other_work(worked)
    snapshot = worked.ask("session_snapshot", session_id="mine")["snapshot_id"]
    assert len(worked.entries("mine")) == 5
    removed = own.forget(FORGOTTEN, dry_run=False)
    assert removed == Removed(logs=1, snapshots=1)
    assert holding("quokka") == []
    assert holding(OTHER)
    assert snapshot not in {one.snapshot_id for one in worked.keeping.snapshots.all()}
    session = worked.keeping.sessions.get("mine")
    assert (session.goal, session.status) == ("", "open")
    assert [kind for kind, _ in worked.entries("mine")] == ["prompt", "read"]
    worked.hook("UserPromptSubmit", prompt="and on", session_id="o")
    ids = [entry.entry_id for entry in worked.keeping.sessions.log("mine")]
    assert ids == sorted(set(ids))
    worked.keeping.close()
    assert files.peek(paths.sessions())["mine"].goal == ""


def test_the_goal_of_another_conversation_stays(worked: Worked, own: SessionHistory) -> None:
    worked.ask("session_open", goal="heron things", session_id="mine")
    other_work(worked)
    work(worked)
    own.forget(FORGOTTEN, dry_run=False)
    assert worked.keeping.sessions.get("mine").goal == "heron things"
    assert holding("quokka") == []


def test_other_sessions_and_snapshots_stay(worked: Worked, own: SessionHistory) -> None:
    other_work(worked)
    [theirs] = worked.keeping.sessions.every()
    worked.ask("session_snapshot", session_id=theirs.session_id)
    log = Path(paths.sessions(), theirs.session_id, LOG)
    before = log.read_bytes()
    work(worked)
    assert own.forget(FORGOTTEN, dry_run=False) == Removed(logs=1)
    assert [one.session_id for one in worked.keeping.sessions.every()] == [theirs.session_id]
    assert log.read_bytes() == before
    assert len(worked.keeping.snapshots.all()) == 1


def test_a_snapshot_without_its_session_is_found_by_its_log(
    worked: Worked, own: SessionHistory
) -> None:
    work(worked)
    exported(worked)
    [session] = worked.keeping.sessions.every()
    worked.keeping.sessions.rewrite(session.session_id, lambda _session, _log: None)
    assert own.forget(FORGOTTEN, dry_run=False) == Removed(snapshots=1, packs=1)
    assert holding("quokka") == []


def test_the_command_forgets_without_a_daemon(worked: Worked, tmp_path: Path, home: Path) -> None:
    work(worked)
    exported(worked)
    worked.keeping.close()
    assert triseek(["history", "import", "--all"], tmp_path).status == 0
    counted = triseek(["history", "forget", "s", "--dry-run", "--json"], tmp_path)
    assert json.loads(counted.out)["snapshots"] == 1
    done = triseek(["history", "forget", "s"], tmp_path)
    assert b"forgotten, also in 1 session, 1 snapshot and 1 exported pack\n" in done.out
    assert holding("quokka") == []
    assert lock.is_free()


def test_the_command_waits_for_no_daemon_that_starts(worked: Worked) -> None:
    work(worked)
    lock.ensure_folder()
    held = lock.take()
    assert held is not None
    try:
        with pytest.raises(Busy, match="daemon"):
            SessionHistory().forget(FORGOTTEN, dry_run=False)
    finally:
        os.close(held)
    assert holding("quokka retry")


def test_forgetting_waits_for_an_import(
    worked: Worked, history: History, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(worked)
    history.import_conversations([], stub_agent.place(home))
    monkeypatch.setattr(service, "WAIT_S", 0.1)
    with run.alone(paths.history()), pytest.raises(Busy, match="import"):
        operations.forget(history, ["s"])
    assert holding("quokka retry")
    assert operations.forget(history, ["s"])["logs"] == 1


def test_a_snapshot_that_is_being_made_is_forgotten_too(worked: Worked) -> None:
    work(worked)
    kept = worked.keeping
    [session] = kept.sessions.every()
    newest = kept.sessions.log(session.session_id).newest(LOG_MAX)

    def finish(_within_s: float) -> None:
        kept.snapshots.create(session, newest, WORK, (), ABOUT)

    own = SessionHistory(kept.sessions, kept.snapshots, finish)
    assert own.forget(FORGOTTEN, dry_run=False) == Removed(logs=1, snapshots=1)
    assert holding("quokka") == []
