"""No answer is longer than an agent can afford, and what is left out is counted."""

from __future__ import annotations

import hashlib

from triseek.model import token_estimate
from triseek.model.session import LogEntry, Session
from triseek.model.snapshot import FileSeen, GitState, Pin, SearchRun, SnapshotManifest, WorkingSet
from triseek.sessions import session_pages
from triseek.sessions.hydration import HydrationReport, Resumed, Stale
from triseek.sessions.snapshot import list_answer
from triseek.sessions.snapshot_files import Snapshot

BOUND = 10_000
"""Tokens above which clients warn."""
TEXT = "y" * 2_000
SHA = hashlib.sha256(TEXT.encode()).hexdigest()


def entry(number, size=50):
    return LogEntry(
        entry_id=number, session_id="mine", ts=1, kind="search", payload={"query": "x" * size}
    )


def manifest(dirty=()):
    return SnapshotManifest(
        snapshot_id="snap_1", session_id="mine", created_at=1, repo_root="/r", repo_commit=None,
        repo_dirty_files=list(dirty), source_harness=None, source_model=None, generation=0,
        context_epoch=0,
    )  # fmt: skip


def session(number, goal=""):
    return Session(session_id=f"s{number}", goal=goal, repo_root="/r", created_at=1, updated_at=1)


def named(count):
    return [f"src/some/folder/file_{number}.py" for number in range(count)]


def search(number, paths):
    return SearchRun(
        search_id=f"search-{number}", query="x" * 400, kind="literal", result_paths=paths[:20]
    )


def huge(size):
    paths = named(size)
    return Snapshot(
        manifest(paths),
        WorkingSet(
            files_read=[
                FileSeen(path=path, sha="0" * 64, line_start=1, line_end=9, last_read_at=1)
                for path in paths
            ],
            searches_run=[search(number, paths) for number in range(size)],
            frecency_top_n=[(path, 1.0) for path in paths],
        ),
        tuple(entry(number) for number in range(size)),
        tuple(Pin(path=path, line_start=1, line_end=2, sha=SHA) for path in paths),
        GitState(commit=None, branch=None, dirty_files=paths, hunk_summary=dict.fromkeys(paths, 3)),
        {SHA: TEXT},
        "z" * 6_000,
    )


def test_of_a_huge_snapshot_the_newest_entries_are_shown_and_the_rest_counted():
    whole = huge(5_000)
    shown = session_pages.cut({"snapshot": whole.document()})
    log, held = shown["snapshot"]["action_log"], whole.document()

    assert token_estimate.of_json(shown) < BOUND
    assert log == held["action_log"][-len(log) :]
    assert len(log) > 20
    assert len(log) + shown["omitted"]["action_log"] == 5_000
    for name in ("files_read", "searches_run", "frecency_top_n"):
        kept = shown["snapshot"]["working_set"][name]
        assert kept == held["working_set"][name][: len(kept)]
        assert len(kept) + shown["omitted"][name] == 5_000
    for name in ("dirty_files", "hunk_summary"):
        kept = shown["snapshot"]["git_state"][name]
        assert len(kept) + shown["omitted"][name] == 5_000
    pins = shown["snapshot"]["pinned_snippets"]
    assert pins == held["pinned_snippets"][: len(pins)]
    assert len(pins) + shown["omitted"]["pinned_snippets"] == 5_000
    assert shown["snapshot"]["manifest"]["repo_dirty_files_omitted"] > 4_000


def test_a_small_snapshot_is_shown_as_it_is():
    whole = huge(2)

    answer = {"snapshot": whole.document()}
    assert session_pages.cut(answer) == answer


def test_one_thing_larger_than_its_share_leaves_the_rest():
    whole = huge(1)._replace(entries=(entry(1), entry(2, size=100_000)))
    shown = session_pages.cut({"snapshot": whole.document()})

    assert shown["snapshot"]["action_log"] == []
    assert shown["omitted"] == {"action_log": 2}
    assert shown["snapshot"]["working_set"] == whole.document()["working_set"]


def test_lists_are_bounded():
    sessions = [session(number, "g" * 2_000) for number in range(1_000)]
    listed = session_pages.cut({"sessions": [session.document() for session in sessions]})
    manifests = session_pages.cut(list_answer([manifest(["a" * 80] * 400)] * 500, []))

    assert token_estimate.of_json(listed) < BOUND
    kept = len(listed["sessions"])
    assert listed["sessions"] == [session.document() for session in sessions[:kept]]
    assert listed["omitted"]["sessions"] + kept == 1_000
    assert token_estimate.of_json(manifests) < BOUND
    assert manifests["omitted"]["snapshots"] > 400
    assert "damaged" not in manifests


def test_damaged_snapshots_are_named():
    shown = session_pages.cut(list_answer([], [{"snapshot_id": "one", "reason": "not JSON"}]))

    assert shown == {
        "snapshots": [], "damaged": [{"snapshot_id": "one", "reason": "not JSON"}]
    }  # fmt: skip


def test_of_a_new_snapshot_the_first_uncommitted_files_are_shown():
    made = {
        "snapshot_id": "snap_1", "snapshot_dir": "/snapshots/snap_1",
        "manifest": manifest(named(2_000)).document(),
    }  # fmt: skip
    more = {
        "briefing": "/snapshots/snap_1/briefing.md", "session": session(1).document(),
        "pack": "/exports/x.tcp",
    }  # fmt: skip
    shown = session_pages.cut(made)

    assert shown["snapshot_dir"] == "/snapshots/snap_1"
    assert shown["manifest"]["repo_dirty_files_omitted"] > 1_900
    assert session_pages.cut({**made, **more}) == {**shown, **more}


def test_differences_and_resumes_are_bounded():
    paths = named(2_000)
    names = ("added_files", "removed_files", "changed_files", "added_searches", "removed_searches")
    diff = session_pages.cut({"diff": dict.fromkeys(names, paths)})
    report = HydrationReport(
        1, 300, 0, [Stale(path, "changed") for path in paths], "/r", ["the commit was another"]
    )
    outcome = Resumed("mine", "text", report, [search(number, paths) for number in range(300)])
    resumed = session_pages.cut(outcome.document())

    assert token_estimate.of_json(diff) < BOUND
    assert set(diff["omitted"]) == set(names)
    assert token_estimate.of_json(resumed) < BOUND
    assert set(resumed["omitted"]) == {"stale_files", "searches"}
    short = outcome._replace(report=report._replace(stale_files=[]), searches=[])
    assert session_pages.cut(short.document()) == short.document()
