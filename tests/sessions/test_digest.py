"""What the tools of sessions answered, as an agent reads it."""

from __future__ import annotations

from tests.app.digests import digest
from triseek.sessions.digest import GOAL_MAX

SESSION = {"session_id": "session-123", "goal": "Debug\nretry", "status": "open"}
MANIFEST = {
    "snapshot_id": "snap_1", "session_id": "session-123", "source_harness": "codex",
    "repo_commit": "abc123abc123abc123", "goal": "Debug retry",
}  # fmt: skip


def test_a_session():
    assert digest("session_open", {}, {"session": SESSION}) == (
        "session_open: session-123 (open): Debug retry"
    )
    told = {"session": {**SESSION, "goal": ""}, "action_log_size": 1}
    assert digest("session_status", {}, told) == "session_status: session-123 (open), 1 entry"
    assert digest("session_status", {}, {**told, "action_log_size": 1234}).endswith("1,234 entries")


def test_a_long_goal_is_cut():
    text = digest("session_open", {}, {"session": {**SESSION, "goal": "g" * 500}})

    assert text.endswith("g…")
    assert len(text) < GOAL_MAX + 50


def test_sessions():
    told = {"sessions": [SESSION], "omitted": {"sessions": 1200}}

    assert digest("session_list", {}, told).splitlines() == [
        "session_list: 1 session",
        "  session-123 (open): Debug retry",
        "[1,200 more of sessions left out]",
    ]
    assert digest("session_list", {}, {"sessions": []}) == "session_list: 0 sessions"


def test_a_snapshot_that_was_made_says_how_to_go_on():
    told = {"snapshot_id": "snap_1", "snapshot_dir": "/d/snap_1", "manifest": MANIFEST}

    assert digest("session_snapshot", {}, told).splitlines() == [
        "session_snapshot: snap_1 of session-123 by codex at abc123abc123: Debug retry",
        "  in /d/snap_1",
        'To go on with it: session_resume {"snapshot_id": "snap_1"}, or `triseek resume snap_1`',
    ]


def test_a_handoff_says_what_else_it_did():
    told = {
        "snapshot_id": "snap_1", "snapshot_dir": "/d", "manifest": MANIFEST, "pack": "/x.tcp",
        "session": {"status": "resolved"},
    }  # fmt: skip

    assert digest("session_handoff", {}, told).splitlines()[2:4] == [
        "  packed as /x.tcp", "  the session is resolved"
    ]  # fmt: skip


def test_snapshots():
    bare = {**MANIFEST, "source_harness": None, "repo_commit": None, "goal": ""}

    assert digest("session_snapshot_list", {}, {"snapshots": [MANIFEST, bare]}).splitlines() == [
        "session_snapshot_list: 2 snapshots",
        "  snap_1 of session-123 by codex at abc123abc123: Debug retry",
        "  snap_1 of session-123",
    ]


def test_what_a_snapshot_holds():
    held = {
        "manifest": MANIFEST,
        "working_set": {
            "files_read": [
                {"path": "a.py", "line_start": 1, "line_end": 9, "sha": "f" * 64},
                {"path": "b.py", "line_start": None, "line_end": None, "sha": ""},
            ],
            "searches_run": [
                {
                    "search_id": "search-0001", "kind": "literal", "query": "x",
                    "result_paths": ["a.py"] * 9,
                },
                {"search_id": "search-0002", "kind": "path", "query": "y", "result_paths": []},
            ],
        },
        "pinned_snippets": [{"path": "a.py", "line_start": 4, "line_end": 5}],
        "action_log": [
            {"entry_id": 1, "kind": "session_open", "payload": {"session": {}}},
            {"entry_id": 2, "kind": "search", "payload": {"arguments": {"query": "x\ny"}}},
            {"entry_id": 3, "kind": "read", "payload": {"path": "a.py", "arguments": 5}},
            {"entry_id": 4, "kind": "odd", "payload": {"path": 5}},
        ],
    }  # fmt: skip

    assert digest("session_snapshot_get", {}, {"snapshot": held}).splitlines()[1:] == [
        "  file a.py:1-9 (ffffffffffff)",
        "  file b.py (unknown)",
        "  search [search-0001] literal: x -> a.py, a.py, a.py, a.py",
        "  search [search-0002] path: y -> nothing noted",
        "  pinned a.py:4-5",
        "  #1 session_open",
        "  #2 search x y",
        "  #3 read a.py",
        "  #4 odd",
    ]


def test_what_differs():
    diff = {
        "added_files": ["a.py"], "removed_files": [], "changed_files": ["b.py"],
        "added_searches": ["search-0009"], "removed_searches": ["search-0001"],
        "added_queries": ["jitter"], "removed_queries": ["back off"],
    }  # fmt: skip

    assert digest("session_snapshot_diff", {}, {"diff": diff}).splitlines() == [
        "session_snapshot_diff: 1 file added, 1 file changed, 1 search added, 1 search removed",
        "  + file a.py",
        "  ~ file b.py",
        "  + search jitter",
        "  - search back off",
    ]
    same = {name: [] for name in diff}
    assert digest("session_snapshot_diff", {}, {"diff": same}).endswith(": nothing differs")


def test_a_resume_is_the_payload_and_what_to_know_before():
    told = {
        "session_id": "session-123",
        "payload_markdown": "# TriSeek Hydration Payload\n\nread this\n",
        "hydration_report": {
            "files_primed": 3, "stale_files": [{"path": "a", "reason": "changed"}],
            "differs": ["the commit was a, and is b"],
        },
        "searches": [{}],
    }  # fmt: skip

    assert digest("session_resume", {}, told).splitlines() == [
        "session_resume: session-123, 3 files unchanged, 1 not, 1 search warmed",
        "note: the commit was a, and is b",
        "",
        "# TriSeek Hydration Payload",
        "",
        "read this",
    ]


def test_an_error_is_one_line():
    error = {"code": "INVALID_QUERY", "message": "no", "suggested_action": "Say yes."}

    assert digest("session_status", {}, {"error": error}) == (
        "session_status error [INVALID_QUERY]: no. Suggested: Say yes."
    )


def test_a_search_that_was_asked_before_says_what_it_was():
    found = {
        "files_with_matches": 1, "strategy": "triseek_indexed", "fallback_used": False,
        "cache": "miss", "total_line_matches": 1, "results": [{"path": "a.py"}],
        "prior_snapshot_id": "snap_1", "prior_search_id": "search-0009",
        "prior_result_paths": ["a.py", "b.py"], "prior_paths_differ": True,
    }  # fmt: skip

    same = {**found, "prior_paths_differ": False}
    lead = "note: snap_1 had asked this (search-0009)"
    assert f"{lead}; then: a.py, b.py" in digest("find_files", {"query": "x"}, found).splitlines()
    assert f"{lead}: the same files then" in digest("find_files", {}, same).splitlines()
    nothing = {**found, "prior_result_paths": []}
    assert f"{lead}; then: nothing" in digest("find_files", {}, nothing).splitlines()
