"""Searching a wrapped blob finds what searching text by text finds."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.query.globs.gitignore import parse_line, wrap
from triseek.query.globs.wrapped import WrappedTexts

TEXT = st.lists(st.sampled_from([b"a", b"b", b"A", b"/", b"\n", b"\xff"]), max_size=6).map(b"".join)


def rows_of(texts):
    return WrappedTexts.of(wrap(texts), np.array([len(text) for text in texts], np.int64))


@settings(deadline=None)
@given(st.lists(TEXT, max_size=20), TEXT.filter(bool), st.sampled_from([b"", b"\0"]))
def test_a_row_holds_what_its_frame_holds(texts, wanted, end):
    for rows, kept in (
        (rows_of(texts), texts),
        (rows_of(texts).folded, [text.lower() for text in texts]),
    ):
        expected = [wanted + end in b"\0" + text + b"/\0" for text in kept]
        assert rows.holding(wanted + end).tolist() == expected


@settings(deadline=None)
@given(st.lists(TEXT, max_size=30), st.data())
def test_an_expression_is_asked_of_the_rows_in_question_alone(texts, data):
    rows = rows_of(texts)
    among = np.array([data.draw(st.integers(0, 9)) == 0 for _ in texts], bool)
    bodies = [parse_line(glob).body for glob in ("*a*b", "/b*/**/?")]
    everywhere = rows.matching(bodies)
    by_itself = [bool(rows_of([text]).matching(bodies)[0]) for text in texts]
    assert everywhere.tolist() == by_itself
    few = rows.matching(bodies, everywhere & among)
    assert few[among].tolist() == everywhere[among].tolist()
    assert not (few & ~everywhere).any()


def test_neighbours_that_match_are_found_each():
    rows = rows_of([b"a", b"ab", b"b", b"aa", b"", b"a"])
    assert rows.matching(["a[^\\x00]*"]).tolist() == [True, True, False, True, False, True]
    assert rows.matching([]).tolist() == [False] * 6
