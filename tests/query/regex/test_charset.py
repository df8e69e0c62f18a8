from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.query.regex import charset

small = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 6)), max_size=6).map(
    lambda pairs: charset.normalised((low, low + length) for low, length in pairs)
)
UNIVERSE = ((0, 40), (50, 70))


def members(ranges):
    return {value for low, high in ranges for value in range(low, high + 1)}


def is_normal(ranges):
    return all(low <= high for low, high in ranges) and all(
        first[1] + 1 < second[0] for first, second in pairwise(ranges)
    )


@given(small, small)
def test_set_operations_do_what_sets_do(first, second):
    expected = {
        charset.union: members(first) | members(second),
        charset.intersection: members(first) & members(second),
        charset.difference: members(first) - members(second),
        charset.symmetric_difference: members(first) ^ members(second),
    }

    for operation, wanted in expected.items():
        got = operation(first, second)
        assert members(got) == wanted
        assert is_normal(got)


@given(small)
def test_a_complement_stays_within_its_universe(ranges):
    got = charset.complement(ranges, UNIVERSE)

    assert members(got) == members(UNIVERSE) - members(ranges)
    assert charset.size(got) == len(members(got))


@given(small, st.integers(0, 80))
def test_membership_is_found_by_bisection(ranges, value):
    assert charset.contains(ranges, value) == (value in members(ranges))


code_points = st.one_of(
    st.integers(0, 0x10FFFF), st.sampled_from([0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF])
)


@given(code_points, st.integers(0, 3000), st.lists(code_points, max_size=20))
def test_utf8_sequences_spell_the_characters_of_the_set_and_no_others(low, length, others):
    high = min(low + length, 0x10FFFF)
    sequences = charset.utf8_sequences(((low, high),))
    tried = [low, high, (low + high) // 2, low - 1, high + 1, *others]

    for code in tried:
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            spelling = chr(code).encode()
            fitting = [
                one
                for one in sequences
                if len(one) == len(spelling)
                and all(
                    first <= byte <= last for byte, (first, last) in zip(spelling, one, strict=True)
                )
            ]
            assert len(fitting) == (low <= code <= high)


@pytest.mark.parametrize(
    "spelling", [b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80"]
)
def test_no_sequence_is_overlong_or_a_surrogate_or_too_large(spelling):
    for sequence in charset.utf8_sequences(charset.UNICODE):
        fits = len(sequence) == len(spelling) and all(
            low <= byte <= high for byte, (low, high) in zip(spelling, sequence, strict=True)
        )
        assert not fits
