import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from triseek.kernels import simd
from triseek.kernels.jit import BYTES, I64, U8, U64, kernel

TEXTS = st.binary(min_size=simd.WIDTH, max_size=3 * simd.WIDTH)


@kernel(U64, BYTES, I64, U8)
def equal(text, at, byte):
    return simd.equal(text, at, byte)


@kernel(I64, U64, I64)
def of_mask(mask, which):
    if which == 0:
        return simd.lowest(mask)
    if which == 1:
        return simd.highest(mask)
    return simd.ones(mask)


@given(TEXTS, st.data())
@settings(deadline=None)
def test_each_bit_says_whether_its_byte_is_the_one_wanted(text, data):
    at = data.draw(st.integers(0, len(text) - simd.WIDTH))
    byte = data.draw(st.sampled_from([*text, 0, 255]))
    wanted = sum(1 << i for i in range(simd.WIDTH) if text[at + i] == byte)
    assert int(equal(np.frombuffer(text, np.uint8), at, byte)) == wanted


@given(st.integers(0, 2**64 - 1))
@settings(deadline=None)
def test_a_mask_tells_its_lowest_its_highest_and_how_many(mask):
    assert of_mask(np.uint64(mask), 2) == mask.bit_count()
    assume(mask)
    assert of_mask(np.uint64(mask), 0) == (mask & -mask).bit_length() - 1
    assert of_mask(np.uint64(mask), 1) == mask.bit_length() - 1


@pytest.mark.parametrize("bit", [0, 1, 31, 32, 62, 63])
def test_every_single_bit_is_its_own_lowest_and_highest(bit):
    mask = np.uint64(1 << bit)
    assert (of_mask(mask, 0), of_mask(mask, 1), of_mask(mask, 2)) == (bit, bit, 1)
