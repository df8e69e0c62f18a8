"""Rows of matches that span lines, as ripgrep prints them."""

from __future__ import annotations

import pytest

from triseek.engine.search.backends.spanning import (
    LOOK_AHEAD,
    located,
    seen_with_row,
    spanning_rows,
)
from triseek.engine.search.query import Query
from triseek.model.search import PatternSpec, SearchRequest
from triseek.query.pattern import compile as compile_pattern

TEXT = b"a\nb\nc\na\nb\nd\n"


def rows(pattern, text=TEXT, **fields):
    spec = PatternSpec(patterns=(pattern,), multiline=True)
    request = SearchRequest(pattern=spec, **fields)
    return [
        (text[row.begin : row.end], row.context)
        for row in spanning_rows(text, Query.of("/", request))
    ]


@pytest.mark.parametrize(
    ("pattern", "fields", "expected"),
    [
        ("a\\nb", {}, [(b"a\nb\n", False), (b"a\nb\n", False)]),
        ("a\\nb", {"max_count": 1}, [(b"a\nb\n", False)]),
        ("a\\nb", {"mode": "files"}, [(b"a\nb\n", False)]),
        ("b\\nc\\n|a\\nb\\n", {}, [(b"a\nb\n", False), (b"a\nb\n", False)]),
        ("b\\n|c\\n", {}, [(b"b\nc\n", False), (b"b\n", False)]),
        ("a\\nb", {"invert": True}, [(b"c\n", False), (b"d\n", False)]),
        ("c\\na", {"before": 1}, [(b"b\n", True), (b"c\na\n", False)]),
        ("c\\na", {"after": 1}, [(b"c\na\n", False), (b"b\n", True)]),
        ("c\\na", {"passthru": True},
         [(b"a\n", True), (b"b\n", True), (b"c\na\n", False), (b"b\n", True), (b"d\n", True)]),
        ("x\\ny", {}, []),
    ],
)  # fmt: skip
def test_rows(pattern, fields, expected):
    assert rows(pattern, **fields) == expected


def test_matches_in_a_row_may_end_behind_it_and_begin_in_it_only():
    pattern = compile_pattern(PatternSpec(patterns=("b\\nc?",), multiline=True))
    seen = seen_with_row(b"ab\ncb\n", 3, at_start=True)

    assert (seen.first, seen.size) == (0, 3)
    assert located(seen, pattern) == [(1, 4)]


def test_a_row_sees_the_line_end_before_it_and_a_little_behind():
    seen = seen_with_row(b"a\n" + b"x" * 1000, 2, at_start=False)

    assert seen.first == 1
    assert seen.text.startswith(b"\na\n")
    assert len(seen.text) == 1 + 2 + LOOK_AHEAD
