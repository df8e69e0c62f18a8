"""No pattern keeps a search: it is refused in words, answered in full, or stopped in time."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.app.contexts import indexed
from triseek.engine.search.backends import scan
from triseek.engine.search.query import Query
from triseek.engine.service import Service
from triseek.engine.tool_host import ToolHost
from triseek.errors import Cancelled, InvalidQuery, OutOfTime
from triseek.model import budget
from triseek.model.call import Call
from triseek.model.search import PatternSpec, SearchRequest, Totals
from triseek.query import pattern
from triseek.search import envelopes, searching
from triseek.search.context import SearchContext
from triseek.search.requests import SearchContentRequest

pytestmark = pytest.mark.long

TEXT = "int main(void) { return frobnicate(x, 123); } // naïve é ü 文字\n" * 300
HOSTILE = {
    "long literal": {"query": "a" * 16_000},
    "long literal in any case": {"query": "aK" * 8_000, "case": "insensitive"},
    "many literals": {"query": "ab", "patterns": tuple(f"w{n:05}" for n in range(2_000))},
    "boundaries": {"query": r"\b\w*\b" * 500, "mode": "regex"},
    "boundaries with text": {"query": r"\b\w*\bx" * 500, "mode": "regex"},
    "starts of words": {"query": r"\b{start}\w?" * 500, "mode": "regex"},
    "any letters": {"query": r"\p{L}" * 1_000, "mode": "regex"},
    "nested repetitions": {"query": "((a*)*" * 40 + ")" * 40 + "b", "mode": "regex"},
    "counted repetitions": {"query": "((x{1,50}){1,50}){1,50}$", "mode": "regex"},
    "optional parts": {"query": "x?" * 4_000 + "y" * 4_000, "mode": "regex"},
    "alternatives": {"query": "|".join(f"a{n}b*c" for n in range(1_500)), "mode": "regex"},
    "alternatives in any case": {
        "query": "|".join(f"straße{n}" for n in range(1_000)),
        "mode": "regex",
        "case": "insensitive",
    },
    "large classes": {"query": r"[\p{L}&&[^\p{Greek}]]" * 300, "mode": "regex"},
    "lines": {"query": r"(\s*\w+)*\n" * 100, "mode": "regex", "multiline": True},
    "classes of bytes": {"query": r"(?-u:[\x80-\xff])+" * 800, "mode": "regex"},
}


@pytest.fixture
def context(repo):
    root = indexed(repo, {"a.c": TEXT, "b.py": TEXT, "d/c.txt": "nothing\n"})
    with Service() as service:
        yield SearchContext(ToolHost(service=service, root=root))


def answered(context: SearchContext, request: SearchContentRequest) -> dict[str, Any]:
    """The answer; of one that is refused what to do instead."""
    try:
        return searching.search_content(context, request, Call())
    except (InvalidQuery, OutOfTime) as error:
        return {"refused": error.next_step}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pattern_is_answered_within_its_budget(context, monkeypatch, name):
    # What is looked at is that time is looked at, in every stage: with none left, the first look
    # ends the search. The overall limit is only there to fail instead of hanging.
    monkeypatch.setattr(envelopes, "DEADLINE_S", 0.0)
    request = SearchContentRequest(**HOSTILE[name])
    answer = answered(context, request)
    assert "incomplete" in answer or answer["refused"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pattern_gets_an_answer(context, name):
    request = SearchContentRequest(**HOSTILE[name])
    answer = answered(context, request)
    assert "results" in answer or answer["refused"]


def test_a_search_that_is_cancelled_ends_while_its_pattern_is_read(context):
    gone = threading.Event()
    gone.set()
    request = SearchContentRequest(query=r"\b\w*\b" * 500, mode="regex")
    with pytest.raises(Cancelled):
        searching.search_content(context, request, Call(cancelled=gone.is_set))


def test_a_query_that_is_too_long_is_refused(context):
    with pytest.raises(InvalidQuery, match="65,000 characters"):
        searching.search_content(context, SearchContentRequest(query="a" * 65_000), Call())


def test_classes_repeated_too_often_are_refused():
    with pytest.raises(InvalidQuery, match="too large"):
        pattern.compile(PatternSpec(patterns=(r"\p{L}" * 5_000,)))


def test_what_a_scan_found_before_its_time_was_over_is_given(repo, monkeypatch):
    root = repo({f"{n:03}.txt": "needle\n" for n in range(300)})
    request = SearchRequest(pattern=PatternSpec(patterns=("needle",)))
    found, files = [], 0

    def ask() -> None:
        if files:
            raise OutOfTime("over")

    monkeypatch.setattr(budget, "ASK_S", 0.0)
    totals = Totals()
    batches = scan.search(Query.of(root, request), totals, threads=1)
    with budget.limited(ask=ask), pytest.raises(OutOfTime):  # noqa: PT012 - as it comes
        for batch in batches:
            found += batch.paths
            files = len(found)
    assert 0 < len(found) < 300
    assert totals.files_matched == len(found)


def test_patterns_are_kept_by_their_size():
    kept = pattern.PatternCache(parts_max=10_000)
    small = [pattern.Pattern(PatternSpec(patterns=(f"w{n}",))) for n in range(9)]
    for one in small:
        assert kept.put(one) is one
    assert all(kept.get(one.spec) is one for one in small)
    large = pattern.Pattern(PatternSpec(patterns=("x" * 4_900,)))  # of 9,801 parts
    kept.put(large)
    assert [one for one in small if kept.get(one.spec)] == []
    too_large = pattern.Pattern(PatternSpec(patterns=("y" * 50_000,)))
    assert kept.put(too_large) is too_large
    assert kept.get(too_large.spec) is None
    assert kept.get(large.spec) is large


def test_what_is_derived_from_a_pattern_goes_with_it():
    calls = []

    @pattern.with_pattern
    def derived(one: pattern.Pattern) -> int:
        calls.append(one)
        return len(calls)

    first = pattern.Pattern(PatternSpec(patterns=("a",)))
    second = pattern.Pattern(PatternSpec(patterns=("b",)))
    assert [derived(first), derived(first), derived(second)] == [1, 1, 2]
    assert len(first.derived) == 1
