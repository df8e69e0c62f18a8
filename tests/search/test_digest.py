"""Envelopes as agents read them."""

from __future__ import annotations

from tests.app.digests import digest
from triseek.search.digest import QUERY_MAX, search_lines

FOUND = {
    "version": "1", "repo_root": "/repo", "strategy": "triseek_indexed", "fallback_used": False,
    "cache": "miss", "freshness": "synced", "search_id": "search-0001",
    "files_with_matches": 1, "total_line_matches": 2, "truncated": False,
    "results": [
        {
            "path": "src/a.rs", "reason": "content_match", "line_matches": 2,
            "matches": [
                {"line": 1, "context": True, "preview": "use std;"},
                {"line": 120, "column": 8, "preview": "pub fn route() {", "definition": True},
            ],
        }
    ],
}  # fmt: skip


def text(tool="search_content", asked=None, **changed):
    return digest(tool, asked or {"query": "route"}, {**FOUND, **changed})


def test_a_search():
    assert text() == ("2 matches in 1 file\nsrc/a.rs (1 of 2)\n1-use std;\n120:pub fn route() {")


LINES = [
    {"line": 3, "preview": "    self.close()"},
    {"line": 4, "preview": "\tif self.open:"},
    {"line": 9, "preview": "self.close()"},
]
FILES = [{"path": "a.py", "matches": LINES}, {"path": "b.py", "matches": LINES[:1]}]


def test_lines_of_an_overview_have_no_indentation_and_equal_ones_are_joined():
    lines = text(results=FILES, truncated=True, next_offset=20).splitlines()

    assert lines[1:] == [
        "a.py", "3,9:self.close()", "4:if self.open:", "b.py", "3:self.close()",
        "[truncated: next_offset 20]",
    ]  # fmt: skip


def test_lines_of_a_whole_answer_are_as_they_stand():
    assert text(results=FILES).splitlines()[1:] == [
        "a.py", "3:    self.close()", "4:\tif self.open:", "9:self.close()",
        "b.py", "3:    self.close()",
    ]  # fmt: skip


def test_lines_of_an_overview_with_context_are_as_they_stand():
    lines = [
        {"line": 3, "preview": "    x"},
        {"line": 4, "context": True, "preview": "  y"},
        {"line": 5, "preview": "    x"},
    ]

    told = text(results=[{"path": "a.py", "matches": lines}], truncated=True, next_offset=20)

    assert told.splitlines()[2:-1] == [
        "3:    x", "4-  y", "5:    x",
    ]  # fmt: skip


def test_what_limits_an_answer_comes_first():
    lines = text(notes=["read so"], incomplete="stopped").splitlines()

    assert lines[:3] == ["incomplete: stopped", "note: read so", "2 matches in 1 file"]


def test_an_answer_that_is_left_out():
    told = text(results=[], results_omitted=True, cache="hit", total_line_matches=1)

    assert told == (
        'same answer as before to "route", still in context: no relevant file has changed '
        "since; pass force_refresh to get it again"
    )


def test_an_answer_that_is_left_out_is_named_by_the_start_of_a_long_query():
    lines = search_lines(
        "search_path_and_content", {"content_query": "x" * 10**4}, {"results_omitted": True}
    )

    assert f'to "{"x" * QUERY_MAX}\\u2026"' in "\n".join(lines)


def test_a_page_without_lines_says_why():
    binary = text(results=[], notes=["bin: binary file matches"])

    assert binary.endswith("bin: binary file matches\nno lines to show: what matches is binary")


def test_a_page_that_is_not_the_last():
    assert text(truncated=True, next_offset=20).endswith("\n[truncated: next_offset 20]")


def test_nothing_found():
    told = text(
        results=[], files_with_matches=0, total_line_matches=0, next_step="Ask again.",
        searched={
            "files": 1_234, "skipped": 2, "freshness": "swept", "hidden": 3, "ignored": 0,
        },
        would_match=[{"change": {"case": "insensitive", "word": False}, "files": 1, "lines": 2}],
    )  # fmt: skip

    assert told.splitlines() == [
        (
            "no matches in 1,234 files, 2 skipped; not searched: 3 hidden files or folders "
            "(pass hidden: true)"
        ),
        'with case: "insensitive", word: false: 2 matches in 1 file',
        "Ask again.",
    ]


def test_behind_the_last_page_it_is_not_said_that_nothing_matches():
    told = text(results=[], asked={"query": "route", "offset": 40})

    assert told == "no more results — `offset` is behind the last one"


def test_files_and_counts():
    told = text(
        "find_files", {"query": "a"}, files_with_matches=2, total_line_matches=0,
        results=[{"path": "a.c", "reason": "path_match"}, {"path": "b.c", "count": 3}],
    )  # fmt: skip

    assert told == "2 files\na.c\nb.c:3"


def test_no_file_found():
    told = text("find_files", results=[], files_with_matches=0, next_step="Fewer words.")

    assert told.endswith("no matches — Fewer words.")


STATUS = {
    "index_present": True, "index_fresh": False, "indexed_files": 28_132, "index_bytes": 91_256_489,
    "repo_category": "large", "last_updated": "2025-11-08T12:14:30Z",
}  # fmt: skip


def test_the_index():
    assert digest("index_status", {}, STATUS) == (
        "index_status: present (stale), 28,132 files, 91.3 MB, large repo, "
        "last built 2025-11-08T12:14:30Z"
    )
    assert digest("index_status", {}, {"index_present": False}) == (
        "index_status: no index present — call `reindex` to build one"
    )
    refused = {"index_present": False, "not_indexed": "it is too large. Do that."}
    assert digest("index_status", {}, refused) == (
        "index_status: no index: it is too large. Do that."
    )
    assert "(broken)" in digest("index_status", {}, {"index_present": False, "problem": "broken"})


def test_a_reindex():
    done = {"rebuilt_full": True, "mode": "incremental", "indexed_files": 5, "elapsed_ms": 1_412}

    assert digest("reindex", {}, done) == (
        "reindex: full rebuild (mode=incremental) · 5 files in 1,412 ms"
    )


def test_an_error():
    error = {"code": "INVALID_QUERY", "message": "no", "suggested_action": "Correct it."}

    assert digest("reindex", {}, {"error": error}) == (
        "reindex error [INVALID_QUERY]: no. Suggested: Correct it."
    )


def test_what_the_memo_says_of_a_file():
    told = {
        "path": "src/auth/router.rs", "status": "fresh", "recommendation": "skip_reread",
        "tokens_at_last_read": 120, "last_read_ago_seconds": 9,
    }  # fmt: skip

    assert digest("memo_check", {}, told) == (
        'memo_check: last_read_ago_seconds=9 · path="src/auth/router.rs" · '
        'recommendation="skip_reread" · status="fresh" · tokens_at_last_read=120'
    )


def test_what_has_changed_is_told_in_full():
    told = {"path": "a" * 100, "status": "stale", "diff": "@@ -1 +1 @@\n-a\n+b\n"}

    assert digest("memo_check", {}, told) == (
        f'memo_check: path="{"a" * 79}…" · status="stale"\n\n@@ -1 +1 @@\n-a\n+b'
    )


def test_what_the_memo_says_of_several():
    told = {
        "session_id": "session-123",
        "results": [
            {
                "path": "src/auth/router.rs", "status": "stale", "tokens": 120, "read_count": 1,
                "message": "Changed since last read (now ~132 tokens); re-read file.",
                "current_tokens": 132,
            }
        ],
    }  # fmt: skip

    assert digest("memo_status", {}, told) == (
        'memo_status: session_id="session-123"\n'
        "  src/auth/router.rs: stale — Changed since last read (now ~132 tokens); re-read file."
    )


def test_what_the_memo_says_of_a_session():
    told = {
        "session_id": "s", "tracked_files": 1, "total_reads": 2, "tokens_saved": 1200,
        "redundant_reads_prevented": 1, "compaction_count": 0,
        "files": [{"path": "/repo/a", "status": "fresh", "reads": 2, "tokens": 1200}],
    }  # fmt: skip

    assert digest("memo_session", {}, told) == (
        'memo_session: compaction_count=0 · redundant_reads_prevented=1 · session_id="s" · '
        "tokens_saved=1200 · total_reads=2 · tracked_files=1\n"
        "  /repo/a: fresh, 2x, 1,200 tokens"
    )
