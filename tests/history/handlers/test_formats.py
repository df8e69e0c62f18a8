"""The texts of answers, each format a file under tests/golden/history.

`TRISEEK_GOLDEN=update pytest tests/history/handlers/test_formats.py` writes them anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.history.rows import MINUTE, NOON
from triseek.history.formats.timeline import cell

GOLDEN = Path(__file__).parents[2] / "golden" / "history"
DAY = 1_440 * MINUTE


@pytest.fixture
def filled(history):
    """Two days of work: prompts, observations of every type and a summary; ids from 1."""
    rows = history.rows
    session = rows.session("5f0c", title="Token expiry", started_at_epoch=NOON)
    rows.prompt(session, "Tokens expire at once.\nPlease fix that `today`.", NOON, 1)
    rows.observation(
        session, "Fix token expiry", NOON + 5 * MINUTE, type="bugfix",
        subtitle="Expiry was compared in seconds with milliseconds",
        narrative="The middleware compared two units.\nBoth are milliseconds now.",
        facts=("src/auth.ts: isExpired", "npm test exit 1 → 0"),
        concepts=("problem-solution", "gotcha"), read=("src/time.ts",), modified=("src/auth.ts",),
    )  # fmt: skip
    rows.observation(
        session, "Add a | refresh\n`token` <b>", NOON + 5 * MINUTE + 1, type="feature",
        text="Only old text.",
    )  # fmt: skip
    for at, kind in enumerate(("refactor", "change", "discovery", "decision", "other")):
        rows.observation(session, f"A {kind}", NOON + DAY + at * MINUTE, type=kind)
    rows.observation(session, "", NOON + DAY + 5 * MINUTE)
    rows.summary(
        session, "Fix token expiry", NOON + 10 * MINUTE, prompt_number=1,
        investigated="src/auth.ts", learned="Units differ", completed="Expiry is in milliseconds",
        next_steps="Write a test", notes="A dead end: clock skew",
    )  # fmt: skip
    rows.prompt(session, "And refresh tokens?", NOON + DAY, 2)
    running = rows.session("77aa", started_at_epoch=NOON + DAY, status="active")
    rows.prompt(running, "Measure it", NOON + DAY + 7 * MINUTE)
    rows.observation(running, "Measured: 3 ms", NOON + DAY + 8 * MINUTE, narrative="x" * 41)
    broken = rows.session("99bb", started_at_epoch=NOON + 2 * DAY, status="failed")
    rows.prompt(broken, "Deploy", NOON + 2 * DAY)
    said = rows.said(session, "The token expires because of the units.", NOON + MINUTE)
    hit = SimpleNamespace(session_id=session, message_id=said, score=0.9, span=(4, 9), copies=0)
    page = SimpleNamespace(hits=[hit], total=1)
    history.service.recall = SimpleNamespace(search=lambda query, **_: page)
    return history


CALLS = {
    "observations_index": ("search_observations", {"query": "token"}),
    "observations_full": ("search_observations", {"query": "token", "format": "full"}),
    "observations_partial": ("search_observations", {"query": "token OR", "limit": 1}),
    "observations_none": ("search_observations", {"query": "zebra"}),
    "sessions_index": ("search_sessions", {"query": "token"}),
    "sessions_full": ("search_sessions", {"query": "token", "format": "full"}),
    "prompts_index": ("search_user_prompts", {"query": "tokens"}),
    "prompts_full": ("search_user_prompts", {"query": "tokens", "format": "full"}),
    "concept_index": ("find_by_concept", {"concept": "gotcha"}),
    "type_index": ("find_by_type", {"type": ["bugfix", "feature"]}),
    "file_index": ("find_by_file", {"filePath": "auth.ts"}),
    "file_full": ("find_by_file", {"filePath": "auth.ts", "format": "full"}),
    "recent_context": ("get_recent_context", {"project": "shop"}),
    "recent_context_none": ("get_recent_context", {"project": "other"}),
    "timeline_anchor": ("get_context_timeline", {"anchor": 1}),
    "timeline_session": (
        "get_context_timeline", {"anchor": "S1", "depth_before": 1, "depth_after": 1}
    ),
    "timeline_time": (
        "get_context_timeline", {"anchor": "2025-10-22", "depth_before": 1, "depth_after": 2}
    ),
    "timeline_query": (
        "get_timeline_by_query", {"query": "token expiry", "depth_before": 2, "depth_after": 2}
    ),
    "timeline_interactive": (
        "get_timeline_by_query", {"query": "token", "mode": "interactive"}
    ),
    "timeline_none": ("get_timeline_by_query", {"query": "zebra"}),
    "recall": ("memory_search", {"query": "why do tokens expire", "by": "session"}),
    "records": ("get_observations", {"ids": [2, "claude-mem://user-prompt/1", 99]}),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_format_is_as_reviewed(filled, name):
    tool, raw = CALLS[name]
    path = GOLDEN / f"{name}.txt"

    text = filled.text(tool, **raw) + "\n"

    if os.environ.get("TRISEEK_GOLDEN") == "update":
        path.write_text(text)
    assert text == path.read_text()


def test_every_golden_file_is_of_a_call():
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(CALLS)


def test_vector_5_the_index_is_as_the_contract_shows_it(history):
    rows = history.rows
    session = rows.session()
    rows.observation(session, "Implement graceful build system", type="decision")

    assert history.text("search_observations", query="build system") == (
        'Found 1 observation(s) matching "build system":\n'
        "\n"
        "1. [decision] Implement graceful build system\n"
        "   Date: 2025-10-21 12:00\n"
        "   Source: claude-mem://observation/1"
    )


def test_vector_5_the_full_format_has_every_field_that_is_not_empty(filled):
    text = filled.text("search_observations", query="milliseconds", format="full")

    for part in (
        "## Fix token expiry", "*Source: claude-mem://observation/1*",
        "**Expiry was compared in seconds with milliseconds**", "Both are milliseconds now.",
        "Type: bugfix | Facts: src/auth.ts: isExpired; npm test exit 1 → 0 | Concepts: ",
        "Concepts: problem-solution, gotcha | Files: src/auth.ts, src/time.ts",
        "Date: 2025-10-21 12:05",
    ):  # fmt: skip
        assert part in text
    assert "Found" not in text


def test_vector_5_titles_do_not_break_tables(filled):
    lines = filled.text("get_context_timeline", anchor=2).splitlines()
    [row] = [line for line in lines if line.startswith("| #2 ")]

    assert row.count("|") - row.count("\\|") == 6
    assert cell("a|b`c\n<d>\\|") == "a\\|b\\`c \\<d>\\\\\\|"


def test_text_of_others_cannot_move_a_terminals_cursor(history):
    session = history.rows.session()
    history.rows.observation(
        session, "fix \x1b[2J\u202e", narrative="\x1b]0;x\x07", facts=("\x1b",)
    )
    history.rows.prompt(session, "fix \x1b[2J")
    history.rows.summary(session, "fix \x1b[2J", learned="\x1b")

    for tool in ("search_observations", "search_sessions", "search_user_prompts"):
        for kind in ("index", "full"):
            text = history.text(tool, query="fix", format=kind)
            assert "\x1b" not in text
            assert "\u202e" not in text
    assert "\x1b" not in history.text("get_context_timeline", anchor=1)
    assert "\x1b" not in history.text("get_recent_context", project="shop")
