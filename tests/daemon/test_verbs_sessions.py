"""What the verbs on sessions and snapshots answer and refuse."""

from __future__ import annotations

import os

import pytest

from tests.app.worked import Worked
from triseek import paths
from triseek.errors import InvalidRequest, TriseekError
from triseek.sessions import pack


@pytest.fixture
def worked(tmp_path):
    worked = Worked(tmp_path)
    yield worked
    worked.keeping.close()


def test_a_session_from_its_opening_to_its_end(worked):
    one = worked.ask("session_open", goal="Debug retry backoff config")["session"]
    assert set(one) == {
        "schema_version", "session_id", "goal", "repo_root", "status", "created_at", "updated_at",
    }  # fmt: skip
    assert (one["status"], one["repo_root"]) == ("open", worked.root)
    assert one["session_id"].startswith("session_")
    assert worked.ask("session_status") == {"session": one, "action_log_size": 1}

    closed = worked.ask("session_close", session_id=one["session_id"], status="abandoned")
    assert closed["session"]["status"] == "abandoned"
    assert worked.ask("session_list", status="open") == {"sessions": []}
    with pytest.raises(InvalidRequest, match="no session is open"):
        worked.ask("session_status")


def test_a_folder_below_is_the_same_repository(worked):
    below = os.path.join(worked.root, "src")
    assert worked.ask("session_open", target_root=below)["session"]["repo_root"] == worked.root


def test_the_next_daemon_knows_it_all(worked):
    worked.ask("session_open", session_id="mine", goal="x")
    worked.read("src/a.py")
    before = worked.ask("session_status")
    worked.keeping.close()
    worked.begin()
    after = worked.ask("session_status")
    assert after == before
    assert after["action_log_size"] == 2


def test_a_handoff_is_a_snapshot_with_a_briefing_and_ends_the_session(worked):
    worked.ask("session_open", session_id="mine", goal="mend the parser")
    told = worked.ask("session_handoff", output="handoff.tcp")
    assert told["manifest"]["trigger"] == "handoff"
    assert told["session"]["status"] == "resolved"
    with open(told["briefing"], encoding="utf-8") as file:
        assert "mend the parser" in file.read()
    held = pack.unpack(told["pack"]).snapshot
    assert held.manifest.snapshot_id == told["snapshot_id"]
    assert held.briefing is not None


def test_two_snapshots_are_compared(worked):
    worked.ask("session_open", session_id="mine")
    worked.act("read", path="src/a.py")
    worked.act("read", path="src/b.py")
    first = worked.ask("session_snapshot")["snapshot_id"]
    (worked.path / "src/a.py").write_text("other\n")
    worked.act("read", path="src/a.py")
    worked.act("read", path="gone.py")
    second = worked.ask("session_snapshot")["snapshot_id"]
    told = worked.ask("session_snapshot_diff", snapshot_a=first, snapshot_b=second)
    assert told == {
        "diff": {
            "added_files": ["gone.py"], "removed_files": [], "changed_files": ["src/a.py"],
            "added_searches": [], "removed_searches": [], "added_queries": [],
            "removed_queries": [],
        }
    }  # fmt: skip


@pytest.mark.parametrize(
    ("verb", "params"),
    [
        ("session_open", {"target_root": "repo"}),
        ("session_open", {"target_root": None}),
        ("session_open", {"session_id": "../up"}),
        ("session_open", {"session_id": "a/b"}),
        ("session_open", {"session_id": ".hidden"}),
        ("session_open", {"session_id": "x" * 129}),
        ("session_open", {"session_id": 3}),
        ("session_open", {"goal": ["x"]}),
        ("session_open", {"goal": "x" * 30_000}),
        ("session_status", {"session_id": "never"}),
        ("session_list", {"status": "closed"}),
        ("session_close", {"session_id": "never"}),
        ("session_close", {"session_id": "mine", "status": "open"}),
        ("session_note", {"notes": {}}),
        ("session_note", {"notes": [3]}),
        ("session_note", {"notes": [{"kind": "read"}]}),
        ("session_note", {"notes": [{"kind": "", "payload": {}}]}),
        ("session_note", {"notes": [{"kind": "read", "payload": []}]}),
        ("session_note", {"notes": [{"kind": "read", "payload": {}}] * 1_001}),
        ("session_snapshot", {"session_id": "never"}),
        ("session_snapshot", {"pinned_snippet_paths": {}}),
        ("session_snapshot", {"pinned_snippet_paths": [{"path": "src/a.py"}]}),
        ("session_snapshot", {"pinned_snippet_paths": [
            {"path": "/etc/passwd", "line_start": 1, "line_end": 2}]}),
        ("session_snapshot", {"pinned_snippet_paths": [
            {"path": "src/a.py", "line_start": 0, "line_end": 2}]}),
        ("session_handoff", {"output": "folder/relative.tcp"}),
        ("session_handoff", {"output": "/tmp/absolute.tcp"}),
        ("session_handoff", {"output": "../above.tcp"}),
        ("session_handoff", {"output": "not-a-pack"}),
        ("session_snapshot_list", {"session_id": "../x"}),
        ("session_snapshot_get", {"snapshot_id": ""}),
        ("session_snapshot_get", {"snapshot_id": "../sessions"}),
        ("session_snapshot_diff", {"snapshot_a": "a", "snapshot_b": "b"}),
        ("session_resume", {"snapshot_id": "a", "budget_tokens": "many"}),
        ("session_resume", {"snapshot_id": "a", "budget_tokens": -1}),
        ("session_resume", {"snapshot_id": "a", "budget_tokens": True}),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_one_line_and_nothing_is_lost(worked, verb, params):
    worked.ask("session_open", session_id="mine", goal="mine")
    before = worked.entries("mine"), worked.ask("session_list")
    with pytest.raises(TriseekError) as raised:
        worked.ask(verb, **params)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600
    assert (worked.entries("mine"), worked.ask("session_list")) == before
    assert worked.ask("session_snapshot_list") == {"snapshots": []}


def test_what_is_kept_is_for_its_owner_alone(worked):
    worked.ask("session_open", session_id="mine")
    worked.read("src/a.py")
    told = worked.ask("session_handoff")
    worked.ask("session_resume", snapshot_id=told["snapshot_id"])
    seen = 0
    for folder, folders, names in os.walk(paths.daemon()):
        for name in (*folders, *names):
            seen += 1
            assert os.stat(os.path.join(folder, name)).st_mode & 0o077 == 0, name
    assert seen > 10
