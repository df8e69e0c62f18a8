"""A file in which only our block is uncommitted is not said to be uncommitted."""

from __future__ import annotations

import pytest

from tests.app.worked import Worked, git
from triseek.agents import project_files
from triseek.sessions.own_blocks import without_own


@pytest.fixture
def worked(tmp_path):
    return Worked(tmp_path)


def put(worked, name, block="The payload."):
    project_files.put(f"{worked.root}/{name}", worked.root, block)


def test_a_new_file_of_ours(worked):
    put(worked, "AGENTS.md")
    assert without_own(worked.root, [b"AGENTS.md", b"src/a.py"]) == [b"src/a.py"]


def test_a_file_of_others_with_our_block(worked):
    (worked.path / "AGENTS.md").write_text("# Rules\n\nBe good.\n")
    git(worked.root, "add", "-A")
    git(worked.root, "commit", "-qm", "rules")
    put(worked, "AGENTS.md")
    assert without_own(worked.root, [b"AGENTS.md"]) == []
    (worked.path / "AGENTS.md").write_text("# Rules\n\nBe better.\n")
    put(worked, "AGENTS.md")
    assert without_own(worked.root, [b"AGENTS.md"]) == [b"AGENTS.md"]


def test_a_block_that_was_committed_and_is_replaced(worked):
    put(worked, "AGENTS.md")
    git(worked.root, "add", "-A")
    git(worked.root, "commit", "-qm", "block")
    put(worked, "AGENTS.md", "Another payload.")
    assert without_own(worked.root, [b"AGENTS.md"]) == []


def test_a_file_without_our_block(worked):
    (worked.path / "AGENTS.md").write_text("# Rules\n")
    assert without_own(worked.root, [b"AGENTS.md", b"CLAUDE.md"]) == [b"AGENTS.md", b"CLAUDE.md"]


def test_a_briefing_does_not_ask_about_it(worked):
    worked.ask("session_open", goal="Mend a", session_id="mine")
    worked.act("prompt", prompt="Mend a")
    put(worked, "AGENTS.md")
    made = worked.ask("session_handoff")
    assert "AGENTS.md" not in worked.keeping.snapshots.get(made["snapshot_id"]).briefing
    assert made["manifest"]["repo_dirty_files"] == []
