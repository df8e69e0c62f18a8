"""What can be done with sessions, whoever asks for it."""

from __future__ import annotations

import os

import pytest

from tests.app.worked import Worked
from triseek.errors import InvalidRequest
from triseek.sessions.operations import GOAL_MAX, NAME_MAX, SnapshotOptions
from triseek.sessions.snapshot import PINS_MAX, WantedPin


@pytest.fixture
def worked(tmp_path):
    worked = Worked(tmp_path)
    yield worked
    worked.keeping.close()


def test_a_session_belongs_to_the_repository_around_the_folder(worked):
    operations = worked.keeping.operations
    session = operations.open(os.path.join(worked.root, "src"), "a goal")

    assert session.repo_root == worked.root
    assert operations.status(worked.root) == (session, 1)
    assert operations.sessions(worked.root, "open") == [session]
    assert operations.close(session.session_id, "abandoned").status == "abandoned"
    with pytest.raises(InvalidRequest, match="no session is open"):
        operations.status(worked.root)


def test_a_handoff_makes_a_snapshot_that_can_be_resumed(worked):
    operations = worked.keeping.operations
    session_id = operations.open(worked.root, "a goal").session_id
    outcome = operations.handoff(worked.root, "", SnapshotOptions(harness="codex"), "x.tcp")

    assert outcome.session.status == "resolved"
    assert outcome.taken.manifest.source_harness == "codex"
    assert os.path.exists(outcome.pack)
    assert outcome.document()["pack"] == outcome.pack
    manifests, damaged = operations.snapshots(worked.root, session_id)
    assert (list(manifests), list(damaged)) == ([outcome.taken.manifest], [])
    resumed = operations.resume(worked.root, outcome.taken.manifest.snapshot_id, {})
    assert resumed.session_id == session_id
    assert resumed.report.repo_root == worked.root


@pytest.mark.parametrize(
    "capture",
    [
        SnapshotOptions(harness="x" * (NAME_MAX + 1)),
        SnapshotOptions(model="x" * (NAME_MAX + 1)),
        SnapshotOptions([WantedPin("src/a.py", 1, 1)] * (PINS_MAX + 1)),
    ],
    ids=["harness", "model", "pins"],
)
def test_what_is_too_long_is_refused_before_anything_is_written(worked, capture):
    operations = worked.keeping.operations
    operations.open(worked.root)
    with pytest.raises(InvalidRequest, match="has to be a"):
        operations.snapshot(worked.root, "", capture)

    assert operations.snapshots() == ([], [])


def test_a_goal_that_is_too_long_is_refused(worked):
    with pytest.raises(InvalidRequest, match="goal has to be a text"):
        worked.keeping.operations.open(worked.root, "x" * (GOAL_MAX + 1))
    assert worked.keeping.operations.sessions(worked.root) == []


def test_a_budget_of_a_resume_is_positive(worked):
    with pytest.raises(InvalidRequest, match="budget_tokens has to be a number from 1"):
        worked.keeping.operations.resume(worked.root, "any", {}, 0)
