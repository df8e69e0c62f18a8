"""What a renderer gets: rows as lists, and where in a row the matches are."""

from __future__ import annotations

import pytest

from tests.cli.render.rendering import found_in
from triseek.cli.render.file_matches import (
    line_count,
    line_spans,
    located,
    may_hold_matches,
    seen_with,
)
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern


def test_rows_are_numbered_and_can_be_cut() -> None:
    rows = found_in(b"x\nb\nx\n", [0, 1, 2]).rows

    assert list(rows) == [(1, 0, 0, 2, False), (2, 2, 2, 4, True), (3, 4, 4, 6, False)]
    assert list(rows.part(1, 2)) == [(2, 2, 2, 4, True)]
    assert len(rows.part(0, 2)) == 2


@pytest.mark.parametrize(
    ("pattern", "line", "spans"),
    [
        ("x+", b"axx x\n", [(1, 3), (4, 5)]),
        ("$", b"ab\n", [(2, 2)]),
        ("$", b"ab", []),
        ("ab", b"abab", [(0, 2), (2, 4)]),
        (r"b\s*", b"b \r\n", [(0, 2)]),
    ],
)
def test_a_line_is_searched_without_its_end(
    pattern: str, line: bytes, spans: list[tuple[int, int]]
) -> None:
    found = found_in(line, [0])._replace(
        pattern=compile_pattern(PatternSpec(patterns=(pattern,), crlf=b"\r" in line))
    )
    line_end = b"\r\n" if b"\r" in line else b"\n"

    assert located(found, line, 0, line_end=line_end) == spans


def test_a_row_of_several_lines_is_searched_with_what_surrounds_it() -> None:
    text = b"a\nx\nb\n"
    pattern = compile_pattern(PatternSpec(patterns=(r"x\nb",), multiline=True))
    found = found_in(text, [1])._replace(multiline=True, text_end=len(text), pattern=pattern)

    assert located(found, b"x\n", 2, line_end=b"\n") == [(0, 2)]
    assert seen_with(found, b"x\n", 2, line_end=b"\n").text == b"\nx\nb\n"
    assert located(found, b"x\n", 2, line_end=b"\n", context=True) == []


def test_context_holds_matches_only_of_an_inverted_search() -> None:
    assert may_hold_matches(context=False, invert=False)
    assert may_hold_matches(context=True, invert=True)
    assert not may_hold_matches(context=True, invert=False)


@pytest.mark.parametrize(
    ("text", "spans"), [(b"", []), (b"a", [(0, 1)]), (b"a\n\nb", [(0, 2), (2, 3), (3, 4)])]
)
def test_lines_keep_their_ends(text: bytes, spans: list[tuple[int, int]]) -> None:
    assert line_spans(text) == spans
    if text:
        assert line_count(text) == len(spans)
