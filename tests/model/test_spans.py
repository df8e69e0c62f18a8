"""Line sets, against Python's own."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.model import spans

PAIRS = st.lists(st.tuples(st.integers(1, 30), st.integers(0, 32)), max_size=8)


def lines(some):
    return {line for first, last in some for line in range(first, last + 1)}


@settings(derandomize=True, max_examples=100)
@given(PAIRS, PAIRS)
def test_spans_are_sets_of_lines(some, others):
    one, other = spans.joined(some), spans.joined(others)

    assert lines(one) == lines(some)
    assert all(a[1] + 1 < b[0] for a, b in pairwise(one))
    assert lines(spans.union(one, other)) == lines(one) | lines(other)
    assert lines(spans.minus(one, other)) == lines(one) - lines(other)
    assert spans.covers(one, other) == (lines(other) <= lines(one))
    assert spans.overlap(one, other) == bool(lines(one) & lines(other))
    assert spans.count(one) == len(lines(one))


def test_what_is_the_wrong_way_round_is_empty():
    assert spans.of(5, 4) == ()
    assert spans.of(5, 5) == ((5, 5),)


def test_spans_are_written_as_people_do():
    assert spans.text(((1, 50), (80, 80))) == "1-50, 80"
    assert spans.text(tuple((line, line) for line in (1, 3, 5)), most=2) == "1, 3, …"
