import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.query.strategies_patterns import lines as random_lines
from tests.query.strategies_patterns import patterns as random_patterns
from triseek.engine.search.backends import lines
from triseek.engine.search.query import Query
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec, SearchRequest
from triseek.query.pattern import Pattern


def every(pattern, **options):
    return Pattern(PatternSpec(patterns=(pattern,), **options)).matches_every_line


@pytest.mark.parametrize("pattern", ["", "x*", "^", "$", "a|", "(?:^)*x?", "^x*", "x?$", "a{0,3}"])
def test_a_pattern_that_can_match_nothing_anywhere_matches_every_line(pattern):
    assert every(pattern)
    assert every(pattern, crlf=True)


@pytest.mark.parametrize("pattern", ["x", "^$", r"\b", r"\B", "x+", "[^\\w\\W]", r"\b|x"])
def test_one_that_asks_for_more_is_not_said_to(pattern):
    assert not every(pattern)
    assert not every("x*", word=True)
    assert not every("x*", line=True)


@settings(max_examples=200, deadline=None)
@given(random_patterns(), st.booleans(), st.lists(random_lines, min_size=1, max_size=8))
def test_what_is_said_to_match_every_line_does(pattern, crlf, texts):
    try:
        found = Pattern(PatternSpec(patterns=(pattern,), crlf=crlf))
    except InvalidQuery:
        return

    if found.matches_every_line:
        assert all(map(found.matches, texts))


@pytest.mark.parametrize("text", [b"", b"a", b"a\n", b"\n\n", b"a\nb", b"\r\n\r"])
@pytest.mark.parametrize("limit", [None, 1, 2])
def test_lines_are_counted_without_looking_into_them(text, limit):
    spec = PatternSpec(patterns=("",))

    def count(**options):
        request = SearchRequest(pattern=spec, max_count=limit, **options)
        return lines.rows_of(text, Query("/", request, Pattern(spec))).count

    said = len(text.splitlines(keepends=True)) if b"\r" not in text else 2
    expected = said if limit is None else min(said, limit)
    assert count(mode="count") == count(mode="lines") == expected
    assert count(mode="files") == min(expected, 1)
    assert count(mode="count", invert=True) == 0


def test_counting_all_lines_of_a_large_text_takes_no_time_to_speak_of():
    """It took 3 seconds per megabyte when every place between two bytes was a match."""
    text = b"some line of code that is forty bytes long\n" * 200_000
    spec = PatternSpec(patterns=("",))
    started = time.thread_time()
    for _ in text:
        pass
    looped, started = time.thread_time() - started, time.thread_time()

    query = Query("/", SearchRequest(pattern=spec, mode="count"), Pattern(spec))
    count = lines.rows_of(text, query).count

    assert count == 200_000
    assert time.thread_time() - started < looped
