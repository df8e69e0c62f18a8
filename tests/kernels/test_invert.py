from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import postings, trigrams
from triseek.kernels import invert
from triseek.kernels.jit import is_compiled

MANY = 1 << 24 if is_compiled() else 1 << 10
BLOCKS = st.lists(
    st.sets(st.one_of(st.integers(0, 30), st.integers(0, MANY - 1), st.just(MANY - 1))), max_size=12
)


@pytest.fixture(autouse=True, scope="module")
def fewer_trigrams():
    """As plain Python a walk over all 16 million would take a minute."""
    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled():
            patch.setattr(invert, "TRIGRAMS", MANY)
        yield


COUNTS = np.zeros(MANY, np.uint32)


def inverted(blocks):
    """Trigrams, frequencies and the scattered block numbers."""
    pairs = np.array([gram for block in blocks for gram in block], np.uint32)
    ends = np.cumsum([len(block) for block in blocks], dtype=np.uint64)
    found, frequency = np.empty(len(pairs), np.uint32), np.empty(len(pairs), np.uint32)
    n = invert.count(pairs, len(pairs), COUNTS, found, frequency)
    listed = np.empty(len(pairs), np.uint32)
    assert invert.scatter(pairs, ends, len(blocks), COUNTS, listed) == len(pairs)
    assert invert.clear(found, n, COUNTS) == n
    return found[:n], frequency[:n], listed


@given(BLOCKS)
@settings(deadline=None, max_examples=30)
def test_lists_are_those_of_a_dictionary_and_the_table_is_left_clean(blocks):
    found, frequency, listed = inverted(blocks)

    wanted = trigrams.lists(blocks)
    assert found.tolist() == list(wanted)
    assert frequency.tolist() == [len(numbers) for numbers in wanted.values()]
    assert listed.tolist() == [number for numbers in wanted.values() for number in numbers]
    assert not COUNTS.any()


@given(st.lists(st.sets(st.integers(0, 2**32 - 2), min_size=1), max_size=8))
@settings(deadline=None)
def test_encoded_lists_are_varints_of_steps_with_the_first_block_apart(lists):
    rising = [sorted(numbers) for numbers in lists]
    n = len(rising)
    frequency = np.array([len(numbers) for numbers in rising], np.uint32)
    listed = np.array([number for numbers in rising for number in numbers], np.uint32)
    offsets, out = np.empty(n + 1, np.uint64), np.zeros(5 * len(listed) + 3, np.uint8)
    firsts, lasts = np.empty(n, np.uint32), np.empty(n, np.uint32)

    size = invert.encode_lists(frequency, n, listed, offsets, firsts, lasts, out)

    parts = [out[int(a) : int(b)].tobytes() for a, b in pairwise(offsets)]
    steps = [[b - a for a, b in pairwise(row)] for row in rising]
    assert parts == [b"".join(map(postings.varint, row)) for row in steps]
    assert size == sum(map(len, parts)) == offsets[n]
    assert firsts.tolist() == [row[0] for row in rising]
    assert lasts.tolist() == [row[-1] for row in rising]
