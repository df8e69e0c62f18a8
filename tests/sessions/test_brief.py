"""A briefing says what the log holds, cites it, and stays within its budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sessions.snapshots import ABOUT, Kept
from triseek.errors import InvalidRequest
from triseek.model.session import Entry
from triseek.model.snapshot import GitState, Manifest, WorkingSet
from triseek.sessions.brief import BYTES_MAX, HEADERS, template, validate
from triseek.sessions.snapshot_files import Snapshot
from triseek.sessions.working_set import gather


def entry(number, kind, **payload):
    return Entry(entry_id=number, session_id="mine", ts=number, kind=kind, payload=payload)


def snapshot(entries, goal="Fix the retry", dirty=()):
    manifest = Manifest(
        snapshot_id="snap_1_mine", session_id="mine", created_at=1, repo_root="/repo",
        repo_commit=None, repo_dirty_files=[], source_harness=None, source_model=None,
        generation=0, context_epoch=0, goal=goal,
    )  # fmt: skip
    git = GitState(commit=None, branch=None, dirty_files=list(dirty), hunk_summary={})
    nothing = WorkingSet(files_read=[], searches_run=[], frecency_top_n=[])
    return Snapshot(manifest, nothing, tuple(entries), (), git, {})


def search(number, query, results, **more):
    return entry(
        number, "search", tool="search_content", arguments={"query": query},
        result_paths=results, total_line_matches=len(results), search_id=f"search-{number:04d}",
        **more,
    )  # fmt: skip


def sections(text):
    parts = {}
    for line in text.splitlines():
        if line in HEADERS:
            parts[line] = []
        elif line:
            parts[list(parts)[-1]].append(line)
    return parts


WORK = [
    entry(1, "session_open", session={}),
    search(2, "backoff", ["src/retry.py", "src/net.py"]),
    search(3, "jitter", []),
    entry(4, "read", path="src/retry.py", sha="a" * 64, line_start=1, line_end=40),
    entry(5, "read", path="src/retry.py", sha="a" * 64, line_start=60, line_end=80),
    entry(6, "edit", path="src/retry.py", sha="b" * 64),
    entry(7, "read", path="src/net.py", sha="c" * 64),
    entry(8, "edit", path="src/net.py", sha="d" * 64),
    entry(9, "edit", path="src/net.py", sha="c" * 64),
    entry(10, "read", path="README.md", sha="e" * 64),
]


def test_it_tells_goal_facts_and_dead_ends():
    text = template(snapshot(WORK, dirty=["src/retry.py"]))

    validate(text, range(1, 11))
    assert sections(text) == {
        "## Goal": ["Fix the retry"],
        "## Current hypothesis": [
            "(none recorded: this briefing was made from the action log, without a model)"
        ],
        "## Established facts": [
            "- Edited `src/retry.py` [action_log:6]",
            "- `backoff` is in `src/retry.py`, `src/net.py` [action_log:2]",
            "- Read `README.md` [action_log:10]",
        ],
        "## Ruled out": [
            "- An edit of `src/net.py` was taken back [action_log:9]",
            "- `jitter` (literal) finds nothing [action_log:3]",
        ],
        "## Open questions": ["- Are the uncommitted changes complete: `src/retry.py`?"],
        "## Next planned action": [
            (
                "Review this payload, look at `src/retry.py` first, and check one fact with "
                "TriSeek before editing."
            )
        ],
    }


def test_of_an_empty_log_it_says_so():
    text = template(snapshot([], goal=""))
    validate(text, [])
    assert "Continue the captured session." in text
    assert "(none captured)" in text
    assert "(none identified)" in text


def test_without_a_goal_the_last_prompt_is_it():
    text = template(snapshot([entry(1, "prompt", prompt="why does\nit fail?")], goal=" "))
    assert sections(text)["## Goal"] == ["why does it fail?"]


def test_lines_that_were_read_are_put_together():
    work = gather(WORK[:5])
    [seen] = [trail.seen() for trail in work.files]
    assert (seen.line_start, seen.line_end, seen.reads, seen.sha) == (1, 80, 2, "a" * 64)


TEXTS = st.text(max_size=300) | st.sampled_from(
    [
        "## Goal",
        "[action_log:99]",
        "`",
        "- x\n## Ruled out\n",
        "é" * 200,
        "\u2028## Goal\x85x",
        "\udc80x",
    ]
)
ENTRIES = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.fixed_dictionaries({"path": TEXTS, "sha": TEXTS})),
        st.tuples(st.just("edit"), st.fixed_dictionaries({"path": TEXTS, "line_start": st.none()})),
        st.tuples(
            st.just("search"),
            st.fixed_dictionaries(
                {
                    "arguments": st.fixed_dictionaries({"query": TEXTS}),
                    "result_paths": st.lists(TEXTS, max_size=5),
                    "total_line_matches": st.integers(0, 3),
                }
            ),
        ),
        st.tuples(st.just("prompt"), st.fixed_dictionaries({"prompt": TEXTS})),
    ),
    max_size=80,
)


@given(ENTRIES, TEXTS, st.lists(TEXTS, max_size=40))
def test_whatever_the_log_holds_it_is_valid_and_within_the_budget(entries, goal, dirty):
    log = [entry(number, kind, **payload) for number, (kind, payload) in enumerate(entries, 1)]
    text = template(snapshot(log, goal, dirty))

    validate(text, range(1, len(log) + 1))
    assert template(snapshot(log, goal, dirty)) == text


GOOD = "\n\n".join(f"{header}\n\nx" for header in HEADERS) + "\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD.replace("## Ruled out", "## Ruled"), "missing required header ## Ruled out"),
        (GOOD.replace("## Goal", "# Goal"), "missing required header ## Goal"),
        (GOOD + "## Goal\n", "twice"),
        (GOOD + "- y [action_log:2] [action_log:7]\n", "unknown action log citation 7"),
        (GOOD + "[action_log:]", "unknown action log citation"),
        (GOOD + "x" * (BYTES_MAX - len(GOOD)), "exceeds 6000 byte budget"),
        (GOOD + "é" * 3_000, "exceeds 6000 byte budget"),
    ],
)
def test_what_is_no_briefing_is_refused(text, why):
    validate(GOOD + "- y [action_log:2]", [2])
    with pytest.raises(InvalidRequest, match=why):
        validate(text, [2])


def test_a_real_snapshot_gives_one(tmp_path):
    kept = Kept(tmp_path)
    kept.sessions.record("mine", "read", {"path": "src/a.py"})
    manifest, _ = kept.create(about=ABOUT)
    found = kept.snapshots.get(manifest.snapshot_id)

    text = template(found)
    validate(text, [one.entry_id for one in found.entries])
    assert "Debug retry backoff config" in text
    assert "`src/a.py`" in text
