"""What can be done with sessions, whoever asks for it."""

from __future__ import annotations

import os

import pytest

from tests.app.worked import Worked
from triseek.errors import InvalidRequest
from triseek.sessions.operations import GOAL_MAX, NAME_MAX
from triseek.sessions.requests import PinnedLines, SessionSnapshotRequest
from triseek.sessions.snapshot import PINS_MAX


@pytest.fixture
def worked(tmp_path):
    worked = Worked(tmp_path)
    yield worked
    worked.keeping.close()


def test_a_session_belongs_to_the_repository_around_the_folder(worked):
    operations = worked.keeping.operations
    session = operations.open(os.path.join(worked.root, "src"), "a goal")["session"]

    assert session["repo_root"] == worked.root
    assert operations.status(worked.root) == {"session": session, "action_log_size": 1}
    assert operations.sessions(worked.root, "open") == {"sessions": [session]}
    closed = operations.close(session["session_id"], "abandoned")
    assert closed["session"]["status"] == "abandoned"
    with pytest.raises(InvalidRequest, match="no session is open"):
        operations.status(worked.root)


def test_a_handoff_makes_a_snapshot_that_can_be_resumed(worked):
    operations = worked.keeping.operations
    session_id = operations.open(worked.root, "a goal")["session"]["session_id"]
    request = SessionSnapshotRequest(source_harness="codex")
    answer = operations.handoff(worked.root, request, "x.tcp")

    assert answer["session"]["status"] == "resolved"
    assert answer["manifest"]["source_harness"] == "codex"
    assert os.path.exists(answer["pack"])
    assert os.path.exists(answer["briefing"])
    assert operations.snapshots(worked.root, session_id) == {"snapshots": [answer["manifest"]]}
    resumed = operations.resume(worked.root, answer["snapshot_id"], {})
    assert resumed["session_id"] == session_id
    assert resumed["hydration_report"]["repo_root"] == worked.root


@pytest.mark.parametrize(
    "request_",
    [
        SessionSnapshotRequest(source_harness="x" * (NAME_MAX + 1)),
        SessionSnapshotRequest(source_model="x" * (NAME_MAX + 1)),
        SessionSnapshotRequest(
            pinned_snippet_paths=(PinnedLines(path="src/a.py", line_start=1, line_end=1),)
            * (PINS_MAX + 1)
        ),
    ],
    ids=["harness", "model", "pins"],
)
def test_what_is_too_long_is_refused_before_anything_is_written(worked, request_):
    operations = worked.keeping.operations
    operations.open(worked.root)
    with pytest.raises(InvalidRequest, match="has to be a"):
        operations.snapshot(worked.root, request_)

    assert operations.snapshots() == {"snapshots": []}


def test_a_goal_that_is_too_long_is_refused(worked):
    with pytest.raises(InvalidRequest, match="goal has to be a text"):
        worked.keeping.operations.open(worked.root, "x" * (GOAL_MAX + 1))
    assert worked.keeping.operations.sessions(worked.root) == {"sessions": []}


def test_a_budget_of_a_resume_is_positive(worked):
    with pytest.raises(InvalidRequest, match="budget_tokens has to be a number from 1"):
        worked.keeping.operations.resume(worked.root, "any", {}, 0)
