"""Recent queries: a bounded list, read back as it was saved; invalid entries are left out."""

from __future__ import annotations

import pytest

from triseek.engine.recent import PATHS_MAX, PATTERN_CHARACTERS_MAX, QUERIES_MAX, Recent


@pytest.fixture
def recent():
    queries = Recent()
    queries.add(1.5, "one", "literal", [b"a", b"\xff"])
    queries.add(2.5, "two", "regex", [b"a"])
    return queries


def test_the_newest_query_with_a_path_gets_its_selection(recent):
    recent.select([b"a", b"a", b"\xff", b"unknown"])

    assert [query.selected for query in recent] == [[b"\xff"], [b"a"]]


def test_what_was_saved_is_read_again(recent):
    recent.select([b"\xff"])

    assert list(Recent.from_json(recent.as_json())) == list(recent)


def test_queries_paths_and_patterns_are_bounded():
    recent = Recent()
    for number in range(QUERIES_MAX + 5):
        recent.add(float(number), "p" * 5000, "literal", [b"%d" % each for each in range(100)])

    assert len(recent) == QUERIES_MAX
    first = next(iter(recent))
    assert (first.at_s, len(first.pattern)) == (5.0, PATTERN_CHARACTERS_MAX)
    assert len(first.result_paths) == PATHS_MAX


@pytest.mark.parametrize(
    "change",
    [
        {"at_s": float("nan")}, {"at_s": "1"}, {"pattern": None}, {"kind": 1},
        {"result_paths": None}, {"selected": "a"}, {"result_paths": ["\ud800"]},
    ],
)  # fmt: skip
def test_an_invalid_query_is_left_out(recent, change):
    first, second = recent.as_json()

    assert [query.pattern for query in Recent.from_json([{**first, **change}, second])] == ["two"]


@pytest.mark.parametrize("body", [None, {}, "x", [None, 1, []]])
def test_what_is_no_list_of_queries_is_empty(body):
    assert len(Recent.from_json(body)) == 0
