"""A briefing says what the log holds, cites it, and stays within its budget."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sessions.snapshots import ABOUT, Kept
from triseek.errors import InvalidRequest
from triseek.model.session import LogEntry
from triseek.model.snapshot import GitState, SnapshotManifest, WorkingSet
from triseek.sessions.brief import BYTES_MAX, FACTS_MAX, HEADERS, template, tidied, validate
from triseek.sessions.snapshot_files import Snapshot
from triseek.sessions.working_set import gather


def entry(number, kind, **payload):
    return LogEntry(entry_id=number, session_id="mine", ts=number, kind=kind, payload=payload)


def snapshot(entries, goal="Fix the retry", dirty=()):
    manifest = SnapshotManifest(
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
            "(none recorded)",
        ],
    }


def test_what_was_asked_of_the_memo_was_not_read():
    log = [
        entry(1, "read", path="a.py", sha="a" * 64, line_start=1, line_end=9),
        entry(2, "memo_check", path="a.py", sha="b" * 64),
        entry(3, "memo_check", path="b.py", sha="c" * 64),
    ]
    a, b = (trail.seen() for trail in reversed(gather(log).files))

    assert (a.sha, a.line_start, a.line_end, a.reads) == ("a" * 64, 1, 9, 1)
    assert (b.path, b.reads) == ("b.py", 0)
    assert sections(template(snapshot(log)))["## Established facts"] == [
        "- Read `a.py` lines 1-9 [action_log:1]",
        "- Checked memo freshness for `b.py` [action_log:3]",
    ]


@pytest.mark.parametrize(
    ("steps", "taken_back"),
    [
        ("read a, edit b, read a", True),  # git restore
        ("read a, edit b, edit a", True),
        ("edit a, edit b, edit a", True),
        ("read a, edit b, read b", False),
        ("read a, edit b, edit c", False),
        ("edit b, read c, read b", False),  # somebody else's change came and went
        ("read a, read b, read a", False),
        ("edit a, edit a", False),
    ],
)
def test_an_edit_is_ruled_out_when_its_file_is_as_it_was(steps, taken_back):
    pairs = [step.split(" ") for step in steps.split(", ")]
    log = [entry(n, kind, path="x", sha=sha * 64) for n, (kind, sha) in enumerate(pairs, 1)]

    assert ("was taken back" in template(snapshot(log))) is taken_back


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


PIECES = [
    "## Goal", "## ", "\n", "[action_log:99]", "[action_log:", "99]", "[", "_log:", "action", "\0",
    "`", "- x\n## Ruled out\n", "é" * 200, "\U0001f600" * 300, "\u2028## Goal\x85x", "\udc80x",
    "\x1b[2J", "\u202e", "<!-- TRISEEK:END hydration -->", "\xa0", "…",
]  # fmt: skip
TEXTS = st.text(max_size=300) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
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


@settings(max_examples=300)
@given(ENTRIES, TEXTS, st.lists(TEXTS, max_size=40))
def test_whatever_the_log_holds_it_is_valid_and_within_the_budget(entries, goal, dirty):
    log = [entry(number, kind, **payload) for number, (kind, payload) in enumerate(entries, 1)]
    text = template(snapshot(log, goal, dirty))

    validate(text, range(1, len(log) + 1))
    assert template(snapshot(log, goal, dirty)) == text
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]|<!--", text)


def test_the_widest_of_everything_still_fits():
    wide = "\U0001f600" * 4_000
    log = [entry(1, "prompt", prompt=wide)]
    for number in range(2, 90, 3):
        log.append(entry(number, "edit", path=f"{number}{wide}"[:4_000], sha="f" * 64))
        log.append(entry(number + 1, "read", path=f"x{number}{wide}"[:4_000], sha="e" * 64))
        log.append(search(number + 2, f"{number}{wide}", [wide] * 9))
    for goal in (wide, ""):
        text = template(snapshot(log, goal, [f"{number}{wide}" for number in range(40)]))

        validate(text, range(1, 100))
        assert 4_000 < len(text.encode()) < BYTES_MAX


def test_no_kind_of_fact_keeps_another_out():
    log = [search(number, f"q{number}", ["src/a.py"]) for number in range(1, 60)]
    log += [entry(number, "edit", path=f"e{number}", sha="a" * 64) for number in range(60, 120)]
    log += [entry(200, "read", path="one.py", sha="b" * 64)] * 3

    facts = sections(template(snapshot(log)))["## Established facts"]

    assert len(facts) == FACTS_MAX
    assert facts[0] == "- Edited `e119` [action_log:119]"
    assert facts[-1] == "- Read `one.py` 3 times [action_log:200]"


def test_searches_whose_finds_were_worked_with_come_first():
    log = [
        search(1, "edited later", ["src/a.py"]),
        search(2, "read later", ["src/b.py"]),
        search(3, "looked at", ["src/c.py"]),
        entry(4, "read", path="src/b.py", sha="b" * 64),
        entry(5, "edit", path="src/a.py", sha="a" * 64),
    ]
    facts = sections(template(snapshot(log)))["## Established facts"]

    assert [fact.split("`")[1] for fact in facts if " is in " in fact] == [
        "edited later", "read later", "looked at",
    ]  # fmt: skip


def test_the_last_prompt_is_an_open_question_beside_a_goal():
    log = [entry(1, "prompt", prompt="first"), entry(2, "prompt", prompt="and `now` this?")]
    asked = "- Is what was asked last done: `and 'now' this?` [action_log:2]"

    assert sections(template(snapshot(log)))["## Open questions"][0] == asked
    assert asked not in template(snapshot(log, goal=""))


CONTROL = ["\x1b[2J", "a\x00", "\x9b2J", "\u202e", "\ud800", "\r"]


@pytest.mark.parametrize("text", CONTROL, ids=range(len(CONTROL)))
def test_a_briefing_is_plain_text(text):
    with pytest.raises(InvalidRequest, match="control characters"):
        validate(GOOD + text, [])


@pytest.mark.parametrize(
    "around",
    [
        "{}", "Sure!\n\n{}\nI hope this helps.", "```markdown\n{}```", "```\n{}\n```\n", "\ufeff{}",
        "<think>## Goal\nnot this</think>\n{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_stands_around_a_models_briefing_is_taken_off(around, end):
    answer = around.replace("{}", GOOD).replace("\n", end)
    text = tidied(answer, snapshot([]))

    validate(text, [])
    assert sections(text)["## Goal"] == ["Fix the retry"]
    assert sections(text)["## Ruled out"] == ["x"]


def test_where_nobody_told_the_goal_the_models_stands():
    assert sections(tidied(GOOD, snapshot([], goal="")))["## Goal"] == ["x"]


@settings(max_examples=300)
@given(st.lists(st.sampled_from([*PIECES, *HEADERS, "\n\n", "```", "<think>", "x"])).map("".join))
def test_whatever_a_model_answers_it_is_valid_or_refused(answer):
    text = tidied(answer, snapshot([]))
    try:
        validate(text, [1])
    except InvalidRequest:
        return
    assert sections(text)["## Goal"] == ["Fix the retry"]


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
