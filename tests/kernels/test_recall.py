from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import recall as oracle
from triseek.kernels import recall

LISTS = st.dictionaries(st.integers(0, 30), st.integers(1, 255), max_size=15).map(
    lambda counts: dict(sorted(counts.items()))
)
SHAPES = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=6)


def column(values, dtype):
    """As mapped columns are: read-only."""
    made = np.array(values, dtype)
    made.flags.writeable = False
    return made


@given(LISTS, LISTS, st.sampled_from([1.0, 0.3]))
@settings(deadline=None)
def test_postings_merge_as_dictionaries_do(one, other, factor):
    room = len(one) + len(other)
    messages, weights = np.empty(room, np.uint32), np.empty(room, np.float32)
    length = recall.merge_postings(
        column(list(one), np.uint32), column(list(one.values()), np.float32),
        column(list(other), np.uint32), column(list(other.values()), np.uint8),
        factor, messages, weights,
    )  # fmt: skip
    wanted = oracle.merged(one, one.values(), other, other.values(), factor)
    assert messages[:length].tolist() == [message for message, _ in wanted]
    assert weights[:length].tolist() == pytest.approx([weight for _, weight in wanted], rel=1e-6)


@given(SHAPES, st.data())
@settings(deadline=None)
def test_counts_and_scores_are_the_oracles(shape, data):
    sizes = [size for size, _ in shape]
    first = [0, *accumulate(sizes)]
    sessions = [list(range(a, b)) for a, b in pairwise(first)]
    lengths = [data.draw(st.integers(0, 9)) for _ in range(first[-1])]
    postings = {one: data.draw(st.sampled_from([1.0, 2.0, 0.3])) for one in range(first[-1])}
    postings = {one: weight for one, weight in postings.items() if data.draw(st.booleans())}
    live = [alive for _, alive in shape]
    alive = [session for session, lives in zip(sessions, live, strict=True) if lives]
    columns = (
        column(np.repeat(np.arange(len(sizes)), sizes), np.uint32),
        column(first, np.uint32),
    )
    messages, mask = column(list(postings), np.uint32), column(live, np.uint8)
    counts = np.zeros(2, np.int64)
    total = recall.count_documents(messages, *columns, mask, counts)
    assert (*counts.tolist(), total) == oracle.counted(postings, alive)

    windows, whole = np.zeros(first[-1], np.float32), np.zeros(len(sizes), np.float32)
    terms_in = np.zeros(first[-1], np.uint8)
    recall.add_scores(
        messages, column(list(postings.values()), np.float32), *columns,
        column([0, *accumulate(lengths)], np.uint32), mask,
        1.5, 2.5, 7.0, 11.0, 1.2, 0.75, windows, whole, terms_in,
    )  # fmt: skip
    by_window, by_session = oracle.scores(
        postings, alive, lengths, (1.5, 2.5), (7.0, 11.0), 1.2, 0.75
    )
    assert windows.tolist() == pytest.approx(
        [by_window.get(one, 0.0) for one in range(first[-1])], rel=1e-5
    )
    assert whole[mask.astype(bool)].tolist() == pytest.approx(by_session, rel=1e-5)
    assert not whole[~mask.astype(bool)].any()
    said = {one for session in alive for one in session}
    assert terms_in.tolist() == [int(one in postings and one in said) for one in range(first[-1])]


@given(st.lists(st.lists(st.integers(-1, 3), max_size=12), min_size=1, max_size=4))
@settings(deadline=None)
def test_proximity_is_the_oracles(spoken):
    idf = [0.5, 1.0, 2.0, 4.0]
    tokens = [term + 1 for one in spoken for term in one]
    has = [len({term for term in one if term >= 0}) for one in spoken]
    windows = np.zeros(len(spoken), np.float32)
    recall.add_proximity(
        column(tokens, np.uint32), column([0, *accumulate(map(len, spoken))], np.uint32),
        column(has, np.uint8), column([0, len(spoken)], np.uint32), column([0], np.int64),
        column([-1, 0, 1, 2, 3], np.int8), column(idf, np.float32),
        2.0, 5, np.zeros(16, np.float32), windows,
    )  # fmt: skip
    wanted = [oracle.proximity(one, idf, 2.0, 5) for one in spoken]
    assert windows.tolist() == pytest.approx(wanted, rel=1e-5)
