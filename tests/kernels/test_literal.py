import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.kernels.literal import find

BYTES = st.lists(st.sampled_from(b"ab\n\xff"), max_size=60).map(bytes)
NEEDLES = st.lists(st.sampled_from(b"ab\xff"), min_size=1, max_size=4).map(bytes)


@given(BYTES, NEEDLES, st.data())
@settings(deadline=None, max_examples=300)
def test_the_first_occurrence_is_that_of_bytes_find_whatever_byte_is_rarest(text, needle, data):
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, len(text)))
    rare = data.draw(st.integers(0, len(needle) - 1))
    before = b"xx"
    needles = np.frombuffer(before + needle, np.uint8)
    wanted = text.find(needle, begin, end)
    found = find(np.frombuffer(text, np.uint8), begin, end, needles, 2, len(needle), rare)
    assert found == (end if wanted < 0 else wanted)


def test_a_needle_at_either_edge_is_found_and_one_across_the_end_is_not():
    text = np.frombuffer(b"needle hay needle", np.uint8)
    needle = np.frombuffer(b"needle", np.uint8)
    for rare in range(6):
        assert find(text, 0, 17, needle, 0, 6, rare) == 0
        assert find(text, 1, 17, needle, 0, 6, rare) == 11
        assert find(text, 1, 16, needle, 0, 6, rare) == 16
        assert find(text, 3, 5, needle, 0, 6, rare) == 5
