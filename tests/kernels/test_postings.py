from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import postings as oracle
from triseek.kernels import invert, postings

NUMBERS = st.sets(st.one_of(st.integers(0, 40), st.integers(0, 2**31 - 2)), max_size=40).map(sorted)
MANY = 2**31 - 1


def column(values, dtype=np.uint32):
    """As mapped columns are: read-only."""
    made = np.array(values, dtype)
    made.flags.writeable = False
    return made


def bytes_column(data: bytes):
    return np.frombuffer(data, np.uint8)


@given(NUMBERS)
@settings(deadline=None)
def test_decode_reads_what_was_encoded(numbers):
    data = oracle.encode(numbers)
    out = np.empty(len(numbers), np.uint32)
    around = bytes_column(b"\xff\x80" + data + b"\xff")
    assert postings.decode(around, 2, 2 + len(data), MANY, MANY, out) == len(numbers)
    assert out.tolist() == numbers


@given(st.binary(max_size=40), st.sampled_from([1, 100, MANY]), st.integers(0, 40))
@settings(deadline=None, max_examples=300)
def test_any_bytes_decode_as_the_oracle_says_or_are_damaged(data, blocks, room):
    wanted = oracle.decode(data, blocks)
    out = np.empty(room, np.uint32)
    found = postings.decode(bytes_column(data), 0, len(data), blocks, blocks, out)
    if wanted is None or len(wanted) > room:
        assert found == -1
    else:
        assert out[:found].tolist() == wanted


@given(NUMBERS.filter(bool), st.data())
@settings(deadline=None, max_examples=200)
def test_a_damaged_list_gives_no_more_than_the_oracle_has(numbers, data):
    encoded = bytearray(oracle.encode(numbers))
    at = data.draw(st.integers(0, len(encoded) - 1))
    encoded[at] ^= data.draw(st.integers(1, 255))
    wanted = oracle.decode(bytes(encoded), MANY)
    out = np.empty(len(encoded), np.uint32)
    found = postings.decode(bytes_column(bytes(encoded)), 0, len(encoded), MANY, MANY, out)
    assert found == (-1 if wanted is None else len(wanted))
    assert found < 0 or out[:found].tolist() == wanted


@given(NUMBERS, st.integers(0, MANY))
@settings(deadline=None)
def test_decoding_stops_at_the_first_number_that_is_not_wanted(numbers, below):
    data = oracle.encode(numbers)
    wanted = [number for number in numbers if number < below]
    out = np.empty(len(wanted), np.uint32)
    assert postings.decode(bytes_column(data), 0, len(data), MANY, below, out) == len(wanted)
    assert out.tolist() == wanted


@given(NUMBERS, NUMBERS)
@settings(deadline=None)
def test_intersections_are_those_of_sets(left, right):
    both = sorted({*left} & {*right})
    m, n = len(left), len(right)
    out = np.empty(m + n, np.uint32)
    assert out[: postings.intersect(column(left), m, column(right), n, out)].tolist() == both
    mine = np.array(left, np.uint32)
    assert mine[: postings.intersect(mine, m, column(right), n, mine)].tolist() == both
    data, kept = bytes_column(oracle.encode(right)), np.array(left, np.uint32)
    size = postings.intersect_encoded(data, 0, len(data), MANY, kept, m)
    assert kept[:size].tolist() == both


LONG = st.lists(
    st.sampled_from([*[1, 2, 3, 90] * 30, 127, 128, 20_000]), min_size=100, max_size=600
).map(lambda steps: np.cumsum(steps).tolist())
"""Lists in which most steps are one byte, and now and then one is not."""


@given(LONG, st.data())
@settings(deadline=None, max_examples=200)
def test_a_long_list_and_a_few_numbers_meet_where_both_have_them(numbers, data):
    at = st.integers(0, len(numbers) - 1)
    mine = data.draw(st.sets(at.map(numbers.__getitem__), max_size=6))
    other = data.draw(st.sets(st.integers(0, numbers[-1] + 5), max_size=6))
    encoded, kept = bytes_column(oracle.encode(numbers)), column(sorted(mine | other)).copy()
    size = postings.intersect_encoded(encoded, 0, len(encoded), MANY, kept, len(kept))
    assert kept[:size].tolist() == sorted({*numbers} & (mine | other))


def test_each_number_of_a_long_list_is_met_alone():
    numbers = list(range(7, 300))
    encoded = bytes_column(oracle.encode(numbers))
    for number in numbers:
        kept = np.array([number], np.uint32)
        assert postings.intersect_encoded(encoded, 0, len(encoded), MANY, kept, 1) == 1


@given(LONG, st.data())
@settings(deadline=None, max_examples=100)
def test_a_step_of_nothing_in_a_long_list_is_damage_wherever_it_stands(numbers, data):
    encoded = bytearray(oracle.encode(numbers))
    ends = [i + 1 for i, byte in enumerate(encoded) if byte < 128]
    at = data.draw(st.sampled_from(ends))
    damaged = bytes_column(bytes(encoded[:at]) + b"\0" + bytes(encoded[at:]))
    kept = np.array([numbers[-1] + 1], np.uint32)
    assert postings.intersect_encoded(damaged, 0, len(damaged), MANY, kept, 1) == -1


@given(NUMBERS, st.binary(max_size=30), st.sampled_from([50, MANY]))
@settings(deadline=None, max_examples=200)
def test_meeting_any_bytes_keeps_a_part_of_what_was_there_or_says_damaged(kept, data, blocks):
    values = np.array(kept, np.uint32)
    size = postings.intersect_encoded(bytes_column(data), 0, len(data), blocks, values, len(kept))
    wanted = oracle.decode(data, blocks)
    if wanted is not None:
        assert values[:size].tolist() == sorted({*wanted} & {*kept})
    elif size >= 0:
        # It stops reading when nothing is left to keep, so damage behind that is not seen.
        assert set(values[:size].tolist()) <= set(kept)


BATCHES = st.lists(
    st.tuples(
        st.integers(1, 300),
        st.dictionaries(st.integers(0, 9), st.sets(st.integers(0, 299), min_size=1), max_size=6),
    ),
    max_size=5,
)


@given(BATCHES, st.integers(0, 10))
@settings(deadline=None)
def test_joined_batches_are_the_lists_of_all_blocks(batches, cut):
    """Each batch counts its blocks from zero; two stretches of output are as good as one."""
    encoded = [encode_batch(blocks, lists) for blocks, lists in batches]
    wanted = {gram: [] for _, lists, *_ in encoded for gram in sorted(lists)}
    base = 0
    for blocks, lists, *_ in encoded:
        for gram, numbers in lists.items():
            wanted[gram] += [base + number for number in numbers]
        base += blocks
    grams = sorted(wanted)
    assert joined(encoded, grams, cut) == [oracle.encode(wanted[gram]) for gram in grams]


def encode_batch(blocks, lists):
    kept = {g: sorted(n for n in lists[g] if n < blocks) for g in sorted(lists)}
    kept = {gram: numbers for gram, numbers in kept.items() if numbers}
    n, total = len(kept), sum(map(len, kept.values()))
    offsets, data = np.empty(n + 1, np.uint64), np.empty(5 * total, np.uint8)
    firsts, lasts = np.empty(n, np.uint32), np.empty(n, np.uint32)
    frequency = column([len(numbers) for numbers in kept.values()])
    listed = column([number for numbers in kept.values() for number in numbers])
    invert.encode_lists(frequency, n, listed, offsets, firsts, lasts, data)
    return blocks, kept, offsets, firsts, lasts, data


def joined(encoded, grams, cut):
    """Measure, then copy in two stretches; the bytes of each list."""
    n, cut = len(grams), min(cut, len(grams))
    slots = [column([grams.index(gram) for gram in lists]) for _, lists, *_ in encoded]
    previous, sizes, base = np.zeros(n, np.uint32), np.zeros(n, np.uint64), 0
    for slot, (blocks, _, offsets, firsts, lasts, _) in zip(slots, encoded, strict=True):
        postings.measure_join(slot, firsts, lasts, offsets, base, previous, sizes)
        base += blocks
    edges = np.concatenate(([0], np.cumsum(sizes))).astype(np.uint64)
    position, previous, written = edges[:-1].copy(), np.zeros(n, np.uint32), b""
    for first, last in ((0, cut), (cut, n)):
        origin, base = int(edges[first]), 0
        out = np.zeros(int(edges[last]) - origin, np.uint8)
        for slot, (blocks, _, offsets, firsts, lasts, data) in zip(slots, encoded, strict=True):
            begin, end = np.searchsorted(slot, (first, last))
            postings.join(
                slot, firsts, lasts, offsets, data, base, int(begin), int(end),
                previous, position, origin, out,
            )  # fmt: skip
            base += blocks
        written += out.tobytes()
    return [written[int(a) : int(b)] for a, b in pairwise(edges)]


@given(st.lists(NUMBERS.filter(bool), min_size=1, max_size=5), st.data())
@settings(deadline=None)
def test_check_finds_the_first_damaged_list(lists, data):
    parts = [oracle.encode(numbers) for numbers in lists]
    offsets = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.uint64)
    frequency, where = [len(numbers) for numbers in lists], np.zeros(1, np.int64)
    whole = bytes_column(b"".join(parts))
    assert postings.check(whole, offsets, column(frequency), MANY, where) == 0
    wrong = data.draw(st.integers(0, len(lists) - 1))
    frequency[wrong] += 1
    assert postings.check(whole, offsets, column(frequency), MANY, where) == 1
    assert where[0] == wrong
    assert postings.check(whole[:-1], offsets, column(frequency), MANY, where) == 1
