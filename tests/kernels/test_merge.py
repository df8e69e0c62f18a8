"""Lists of several sources become one list each, whatever is dropped or lies between."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import postings as oracle
from triseek.kernels import merge

TRIGRAMS = 5


@st.composite
def sources(draw):
    """Some sources of a few blocks, each with lists, whose blocks go anywhere in one order."""
    sizes = draw(st.lists(st.integers(0, 300), min_size=1, max_size=4))
    whose = draw(st.permutations([k for k, size in enumerate(sizes) for _ in range(size)]))
    made = []
    for k, size in enumerate(sizes):
        places = [number for number, source in enumerate(whose) if source == k]
        dropped = draw(st.sets(st.integers(0, max(size - 1, 0)), max_size=20))
        everywhere = draw(st.booleans())
        renumber = {b: n for b, n in enumerate(places) if b not in dropped}
        some = st.sets(st.integers(0, size - 1), min_size=1, max_size=40) if size else st.nothing()
        numbers = st.just(set(range(size))) if everywhere and size else some
        keys = st.integers(0, TRIGRAMS - 1)
        lists = draw(st.dictionaries(keys, numbers.map(sorted), max_size=TRIGRAMS)) if size else {}
        made.append((lists, renumber, size))
    return sorted(made, key=lambda source: source[2])


def frozen(values, dtype):
    """As mapped columns are: read-only."""
    array = np.array(values, dtype)
    array.flags.writeable = False
    return array


def columns(lists, renumber, size):
    """What the kernel is given of a source."""
    keys = sorted(lists)
    coded = [oracle.encode(lists[key]) for key in keys]
    remap = [renumber.get(block, merge.DROPPED) for block in range(size)]
    return (
        np.frombuffer(b"".join(coded), np.uint8),
        frozen(np.cumsum([0, *map(len, coded)]), np.uint64),
        frozen([len(lists[key]) for key in keys], np.uint32),
        frozen(keys, np.uint32),
        frozen(remap, np.uint32),
    )


def room_for(made):
    sizes = [sum(len(lists.get(key, [])) for lists, *_ in made) for key in range(TRIGRAMS)]
    return np.cumsum([0, *sizes]).astype(np.int64)


def fold(made, cut=0):
    """Merge the lists below `cut`, then the others, as stretches of an index."""
    found, starts = {}, room_for(made)
    for first, last in ((0, cut), (cut, TRIGRAMS)):
        room = starts[first : last + 1] - starts[first]
        counts = np.zeros(last - first, np.int64)
        numbers = np.zeros(int(room[-1]), np.uint32)
        scratch = np.zeros(int(np.diff(room, prepend=0).max(initial=0)), np.uint32)
        for source in made:
            data, offsets, frequency, keys, remap = columns(*source)
            begin, end = np.searchsorted(keys, (first, last)).tolist()
            assert end - begin == merge.gather(
                data, offsets, frequency, begin, end, keys, first, remap,
                room, counts, numbers, scratch,
            )  # fmt: skip
        out, ends = np.zeros(5 * len(numbers), np.uint8), np.zeros(last - first, np.int64)
        size = merge.encode(numbers, room, counts, out, ends)
        assert size == (int(ends[-1]) if len(ends) else 0)
        edges = [0, *ends.tolist()]
        for key in range(first, last):
            coded = out[edges[key - first] : edges[key - first + 1]].tobytes()
            assert len(oracle.decode(coded, 1 << 32)) == counts[key - first]
            if coded:
                found[key] = oracle.decode(coded, 1 << 32)
    return found


@given(sources(), st.integers(0, TRIGRAMS))
@settings(deadline=None, max_examples=150)
def test_merged_lists_are_what_the_oracle_merges(made, cut):
    assert fold(made, cut) == oracle.merge([(lists, renumber) for lists, renumber, _ in made])


def test_numbers_and_steps_of_any_length_survive():
    far = (1 << 32) - 2
    wide = {0: [0, 1, 200], 1: [0, 1, 2, 3]}
    renumber = {0: 0, 1: 127, 2: 128, 3: 1 << 14, 200: far}
    assert fold([(wide, renumber, 201)]) == {0: [0, 127, far], 1: [0, 127, 128, 1 << 14]}


@given(sources().filter(lambda made: any(lists for lists, *_ in made)), st.data())
@settings(deadline=None, max_examples=150)
def test_a_damaged_list_is_named_or_is_another_sound_list(made, data):
    """Whatever the bytes say nothing is written outside a list's own place."""
    source = data.draw(st.sampled_from([source for source in made if source[0]]))
    coded, offsets, frequency, keys, remap = columns(*source)
    damaged = coded.copy()
    at = data.draw(st.integers(0, len(damaged) - 1))
    damaged[at] ^= data.draw(st.integers(1, 255))
    k = int(np.searchsorted(offsets, at, "right")) - 1
    room = room_for([source])
    counts = np.zeros(TRIGRAMS, np.int64)
    guard = 7
    numbers = np.full(int(room[-1]) + guard, 0xDEAD, np.uint32)
    done = merge.gather(
        damaged, offsets, frequency, 0, len(keys), keys, 0, remap,
        room, counts, numbers, np.zeros(len(remap), np.uint32),
    )  # fmt: skip
    assert (numbers[-guard:] == 0xDEAD).all()
    said = oracle.decode(damaged[int(offsets[k]) : int(offsets[k + 1])].tobytes(), len(remap))
    if said is None or len(said) != frequency[k]:
        assert done == -1 - k
    else:
        assert done == len(keys)


def test_a_list_that_is_said_to_lie_elsewhere_is_damaged():
    data, _, frequency, keys, remap = columns({0: [0, 1]}, {0: 0, 1: 1}, 2)
    room, numbers = np.array([0, 2], np.int64), np.zeros(2, np.uint32)
    for edges in ([0, 3], [2, 1], [1 << 63, 2]):
        offsets = frozen(edges, np.uint64)
        args = data, offsets, frequency, 0, 1, keys, 0, remap
        assert merge.gather(*args, room, np.zeros(1, np.int64), numbers, numbers.copy()) == -1
    narrow = np.array([0, 1], np.int64)
    offsets = frozen([0, 2], np.uint64)
    args = data, offsets, frequency, 0, 1, keys, 0, remap
    assert merge.gather(*args, narrow, np.zeros(1, np.int64), numbers, numbers.copy()) == -1
