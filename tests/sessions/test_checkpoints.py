"""A snapshot has what the application knows of its repository, and is made before a compaction."""

from __future__ import annotations

import itertools
import os

import pytest

from tests.app.contexts import until
from tests.app.worked import FILES, Worked, git, sha
from triseek.engine.roots import index_dir
from triseek.index.build import build
from triseek.sessions import checkpoints


@pytest.fixture
def worked(tmp_path):
    worked = Worked(tmp_path)
    worked.ask("session_open", goal="mend a", session_id="mine")
    yield worked
    worked.keeping.close()


def snapshot(worked, **more):
    taken = worked.ask("session_snapshot", **more)
    return taken, worked.ask("session_snapshot_get", snapshot_id=taken["snapshot_id"])["snapshot"]


def test_it_says_how_the_repository_stands(worked):
    (worked.path / "src/b.py").write_text("one\ntwo\nfour\n")
    (worked.path / "new.py").write_text("x\n")
    taken, whole = snapshot(worked, source_harness="Claude-Code", source_model="m")

    manifest = taken["manifest"]
    assert manifest["repo_commit"] == git(worked.root, "rev-parse", "HEAD")
    assert manifest["repo_branch"] == "work"
    assert manifest["repo_dirty_files"] == ["new.py", "src/b.py"]
    assert (manifest["source_harness"], manifest["source_model"]) == ("claude_code", "m")
    assert (manifest["goal"], manifest["trigger"]) == ("mend a", "asked")
    assert whole["git_state"]["hunk_summary"] == {"src/b.py": 2}
    assert os.path.isdir(taken["snapshot_dir"])


def test_it_takes_what_was_read_and_searched_along(worked):
    worked.read("src/a.py", offset=3, limit=5)
    worked.act(
        "search", tool="search_content", arguments={"query": "zzz"}, result_paths=[],
        search_id="search-0007", total_line_matches=0,
    )  # fmt: skip
    taken, whole = snapshot(worked)

    [seen] = whole["working_set"]["files_read"]
    assert (seen["path"], seen["sha"], seen["line_start"], seen["line_end"]) == (
        "src/a.py", sha(FILES["src/a.py"]), 3, 7,
    )  # fmt: skip
    [run] = whole["working_set"]["searches_run"]
    assert (run["search_id"], run["query"], run["matches"]) == ("search-0007", "zzz", 0)
    assert taken["manifest"]["source_harness"] == "opencode"  # whose hook was heard last


def test_the_scores_of_an_indexed_root_are_taken_along(worked):
    build(worked.root, index_dir(worked.root))
    engine = worked.service.engine(worked.root, exact=True)
    assert engine.frecency.claim()
    engine.touch("select", [b"src/a.py"])
    engine.touch("read", [b"src/b.py"])
    _, whole = snapshot(worked)
    top = whole["working_set"]["frecency_top_n"]
    assert [path for path, _ in top] == ["src/a.py", "src/b.py"]
    assert top[0][1] > top[1][1] > 0


def test_a_folder_that_is_no_repository_can_be_kept_too(tmp_path):
    worked = Worked(tmp_path)
    os.rename(worked.path / ".git", tmp_path / "git")
    worked.ask("session_open", session_id="mine")
    taken, whole = snapshot(worked)
    assert taken["manifest"]["repo_commit"] is None
    assert whole["git_state"]["branch"] is None


def test_pins_stay_inside_of_the_root(worked):
    pin = {"path": "src/b.py", "line_start": 2, "line_end": 3}
    _, whole = snapshot(worked, pinned_snippet_paths=[pin])
    assert whole["pinned_snippets"][0]["text"] == "two\nthree"


class Kept:
    """The snapshots that nobody asked for."""

    def __init__(self, worked):
        self.worked = worked

    def __call__(self):
        self.worked.keeping.checkpoints.finish(60)
        found = self.worked.ask("session_snapshot_list")["snapshots"]
        return [one for one in found if one["trigger"] == "compaction"]


def test_a_context_about_to_be_compacted_is_kept_once(worked):
    kept = Kept(worked)
    worked.read("src/a.py")
    worked.hook("PreCompact", trigger="auto")
    [one] = kept()
    assert (one["session_id"], one["source_harness"]) == ("mine", "opencode")
    worked.hook("PreCompact", trigger="auto")
    assert len(kept()) == 1


def test_of_those_nobody_asked_for_only_the_latest_stay(worked, monkeypatch):
    monkeypatch.setattr(checkpoints, "AGAIN_S", 0.0)
    monkeypatch.setattr(checkpoints, "KEPT_MAX", 2)
    seconds = itertools.count(1_795_000_000)
    monkeypatch.setattr(worked.keeping.snapshots, "_clock", lambda: next(seconds))
    kept = Kept(worked)
    first = worked.ask("session_snapshot")["snapshot_id"]
    names = []
    for _ in range(4):
        worked.hook("PreCompact", trigger="auto")
        names += [one["snapshot_id"] for one in kept() if one["snapshot_id"] not in names]
    assert len(kept()) == 2
    assert len(names) == 4
    ids = {one["snapshot_id"] for one in worked.ask("session_snapshot_list")["snapshots"]}
    assert first in ids


def test_it_can_be_switched_off(tmp_path):
    worked = Worked(tmp_path, auto_snapshot=False)
    worked.ask("session_open", session_id="mine")
    worked.hook("PreCompact", trigger="auto")
    assert Kept(worked)() == []


def test_without_a_session_a_compaction_keeps_nothing(tmp_path):
    worked = Worked(tmp_path)
    worked.hook("PreCompact", trigger="auto")
    assert Kept(worked)() == []


def test_what_it_is_told_by_then_is_in_it(worked):
    worked.read("src/b.py")
    worked.hook("PreCompact", trigger="auto")
    [one] = Kept(worked)()
    whole = worked.ask("session_snapshot_get", snapshot_id=one["snapshot_id"])["snapshot"]
    assert [entry["kind"] for entry in whole["action_log"]] == ["session_open", "read", "compact"]
    assert until(lambda: whole["working_set"]["files_read"])[0]["path"] == "src/b.py"
