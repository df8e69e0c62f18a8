import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import lines as oracle
from triseek.kernels import lines

TEXTS = st.lists(st.sampled_from([b"\n", b"a", b"\x0b", b"\xff", b"ab\n"]), max_size=200).map(
    b"".join
)


@given(TEXTS, st.data())
@settings(deadline=None)
def test_newlines_are_counted_as_bytes_counts_them(text, data):
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    column = np.frombuffer(text, np.uint8)
    assert lines.count_newlines(column, begin, end) == text.count(b"\n", begin, end)


@given(TEXTS.filter(bool), st.data())
@settings(deadline=None)
def test_a_line_begins_behind_the_newline_before_it(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    floor = data.draw(st.sampled_from([0, oracle.begin(text, at)]))
    column = np.frombuffer(text, np.uint8)
    assert lines.line_begin(column, at, floor) == oracle.begin(text, at, floor)
