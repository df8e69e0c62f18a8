import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import lines as oracle
from triseek.kernels.needles import count_newlines, find, line_begin

BYTES = st.lists(st.sampled_from(b"ab\n\xff"), max_size=300).map(bytes)
NEEDLES = st.lists(st.sampled_from(b"ab\xff"), min_size=1, max_size=4).map(bytes)


@given(BYTES, NEEDLES, st.data())
@settings(deadline=None, max_examples=300)
def test_the_first_occurrence_is_that_of_bytes_find_whatever_two_bytes_lead(text, needle, data):
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    left, right = (data.draw(st.integers(0, len(needle) - 1)) for _ in range(2))
    before = b"xx"
    needles = np.frombuffer(before + needle, np.uint8)
    wanted = text.find(needle, begin, end)
    found = find(np.frombuffer(text, np.uint8), begin, end, needles, 2, len(needle), left, right)
    assert found == (end if wanted < 0 else wanted)


def test_a_needle_at_either_edge_is_found_and_one_across_the_end_is_not():
    text = np.frombuffer(b"needle hay needle", np.uint8)
    needle = np.frombuffer(b"needle", np.uint8)
    for left, right in itertools.product(range(6), repeat=2):
        assert find(text, 0, 17, needle, 0, 6, left, right) == 0
        assert find(text, 1, 17, needle, 0, 6, left, right) == 11
        assert find(text, 1, 16, needle, 0, 6, left, right) == 16
        assert find(text, 3, 5, needle, 0, 6, left, right) == 5


@given(st.integers(0, 200), st.integers(0, 140), st.binary(min_size=1, max_size=9))
@settings(deadline=None)
def test_the_only_needle_of_a_long_text_is_found_wherever_it_stands(before, after, needle):
    text = np.frombuffer(b"\0" * before + needle + b"\0" * after, np.uint8)
    column = np.frombuffer(needle, np.uint8)
    wanted = text.tobytes().find(needle)
    assert find(text, 0, len(text), column, 0, len(needle), 0, len(needle) - 1) == wanted


TEXTS = st.lists(st.sampled_from([b"\n", b"a", b"\x0b", b"\xff", b"ab\n"]), max_size=200).map(
    b"".join
)


@given(TEXTS, st.data())
@settings(deadline=None)
def test_newlines_are_counted_as_bytes_counts_them(text, data):
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    column = np.frombuffer(text, np.uint8)
    assert count_newlines(column, begin, end) == text.count(b"\n", begin, end)


@given(TEXTS.filter(bool), st.data())
@settings(deadline=None)
def test_a_line_begins_behind_the_newline_before_it(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    floor = data.draw(st.sampled_from([0, oracle.begin(text, at)]))
    column = np.frombuffer(text, np.uint8)
    assert line_begin(column, at, floor) == oracle.begin(text, at, floor)
