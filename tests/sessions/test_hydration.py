"""What is handed on says what matters first, and never more than it may."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.test_brief import TEXTS, WORK, snapshot
from triseek.model.snapshot import FileSeen, Pin, SearchRun, WorkingSet
from triseek.sessions.hydration import BUDGET_MAX, BUDGET_MIN, CUT, Since, Stale, payload, tokens
from triseek.sessions.snapshot_files import sha
from triseek.sessions.working_set import gather

NOTHING = Since(None, None, (), None)


def full(text="def retry():\n    return 1", goal="Fix the retry"):
    name = sha(text.encode())
    return snapshot(WORK, goal)._replace(
        working_set=gather(WORK).working_set([("src/retry.py", 2.0)]),
        pins=(Pin(path="src/retry.py", line_start=3, line_end=4, sha=name),),
        snippets={name: text},
    )


def test_its_parts_come_in_the_order_of_what_they_are_worth():
    since = Since("b" * 40, "work", ["src/retry.py"], 3)
    text = payload(full(), since, [Stale("src/net.py", "changed")])

    headers = [line for line in text.splitlines() if line.startswith(("# ", "## "))]
    assert headers == [
        "# TriSeek Hydration Payload", "## Goal", "## Briefing", "## Repository since the snapshot",
        "## Changed since they were read (read these again)", "## Pinned Snippets",
        "## Working Set", "## Searches",
    ]  # fmt: skip
    assert "- commit: (none) at the snapshot, bbbbbbbbbbbb now, 3 commits later" in text
    assert "- newly uncommitted: `src/retry.py`" in text
    assert "```text\ndef retry():\n    return 1\n```" in text
    assert "- src/retry.py:1-80 (bbbbbbbbbbbb), edited" in text
    assert "- src/net.py (cccccccccccc), edited, changed since" in text
    assert "- [search-0003] literal: `jitter` -> nothing" in text
    assert text.count("Fix the retry") == 1
    assert CUT not in text


def test_a_briefing_that_was_written_is_the_one_that_is_told():
    written = full()._replace(briefing="## Goal\n\nother\n\n## Ruled out\n\n- the cache\n")
    text = payload(written, NOTHING, [])
    assert "### Ruled out\n\n- the cache" in text
    assert "other" not in text


def test_where_nothing_changed_it_says_so():
    text = payload(snapshot([]), NOTHING, [])
    assert "## Repository since the snapshot\n\n- unchanged" in text


def test_another_repository_is_named():
    text = payload(full(), Since(None, None, (), None, "/else/where", same_history=False), [])
    assert "another repository" in text
    assert "- the repository is now in /else/where" in text


@pytest.mark.parametrize("fence", ["```", "`````", "```\n````"])
def test_a_snippet_does_not_end_its_own_fence(fence):
    text = payload(full(f"a\n{fence}\nb"), NOTHING, [])
    longest = "`" * (max(map(len, fence.split("\n"))) + 1)
    assert f"{longest}text\na\n{fence}\nb\n{longest}\n" in text


@given(
    st.integers(-5, 20_000),
    st.lists(st.tuples(TEXTS, st.text(max_size=20)), max_size=60),
    st.lists(TEXTS, max_size=50),
    TEXTS.map(lambda text: text * 20),
    st.text(max_size=3_000),
)
def test_it_keeps_within_its_budget_in_whole_lines(budget, files, dirty, goal, quoted):
    long = full(quoted, goal)
    seen = FileSeen(path="a", sha="", line_start=None, line_end=None, last_read_at=0)
    run = SearchRun(search_id="s", query="q", kind="literal", result_paths=[])
    work = WorkingSet(
        files_read=[dataclasses.replace(seen, path=path or "x") for path, _ in files],
        searches_run=[
            dataclasses.replace(run, query=path, kind=kind, result_paths=[path])
            for path, kind in files
        ],
        frecency_top_n=[],
    )
    manifest = dataclasses.replace(
        long.manifest, snapshot_id="s" * 128, session_id="t" * 128, repo_root="/" + "é" * 300,
        source_harness="h" * 300, source_model="m" * 300,
    )  # fmt: skip
    text = payload(
        long._replace(working_set=work, manifest=manifest),
        Since("c", "b" * 300, dirty, 1),
        [Stale(path, reason) for path, reason in files],
        budget,
    )

    assert tokens(text) <= min(max(budget, BUDGET_MIN), BUDGET_MAX)
    assert text.startswith("# TriSeek Hydration Payload\n")
    assert text.encode().decode() == text
    if CUT not in text:
        roomy = payload(
            long._replace(working_set=work, manifest=manifest),
            Since("c", "b" * 300, dirty, 1),
            [Stale(path, reason) for path, reason in files],
            BUDGET_MAX,
        )
        assert text == roomy
