from itertools import accumulate, chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import recall as oracle
from triseek.kernels import recall

SHAPES = st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=1, max_size=6)


def column(values, dtype):
    """As mapped columns are: read-only."""
    made = np.array(values, dtype)
    made.flags.writeable = False
    return made


@given(st.lists(st.text("abcé", min_size=1, max_size=4), unique=True), st.text("abcé", min_size=1))
@settings(deadline=None)
def test_a_term_is_where_bisecting_says(words, wanted):
    ordered, wanted = sorted(word.encode() for word in words), wanted.encode()
    terms = np.frombuffer(b"".join(ordered) or b"-", np.uint8)
    term_at = column([0, *accumulate(map(len, ordered))], np.uint32)
    sought = np.frombuffer(wanted, np.uint8)
    assert recall.find_term(terms, term_at, sought, 0) == sum(one < wanted for one in ordered)
    behind = sum(one < wanted or one.startswith(wanted) for one in ordered)
    assert recall.find_term(terms, term_at, sought, 1) == behind


class Corpus:
    """Sessions, some of which are not counted, and the terms of their messages."""

    def __init__(self, data):
        shape = data.draw(SHAPES)
        sizes = [size for size, _ in shape]
        self.live = [alive for _, alive in shape]
        bounds = [0, *accumulate(sizes)]
        self.sessions = [list(range(a, b)) for a, b in pairwise(bounds)]
        self.spoken = [
            data.draw(st.lists(st.integers(0, 3), max_size=9)) for _ in range(bounds[-1])
        ]
        self.lengths = list(map(len, self.spoken))
        self.first = column(bounds, np.uint32)
        self.session_of = column(np.repeat(np.arange(len(sizes)), sizes), np.uint32)
        self.token_at = column([0, *accumulate(self.lengths)], np.uint32)
        self.mask = column(self.live, np.uint8)

    def merged(self, terms):
        """What the kernel makes of the lists of some terms, which count 1 and then 0.3."""
        lists = [oracle.inverted(self.spoken).get(term, []) for term in terms]
        ends = np.cumsum(list(map(len, lists)))
        flat = [pair for one in lists for pair in one]
        out = np.empty(len(flat), np.uint32), np.empty(len(flat), np.float32)
        totals = np.empty(len(self.live), np.uint32), np.empty(len(self.live), np.float32)
        documents = np.zeros(2, np.int64)
        size = recall.merge_lists(
            column([message for message, _ in flat], np.uint32),
            column([count for _, count in flat], np.uint8),
            ends - list(map(len, lists)), ends, column([1.0, 0.3, 0.3][: len(lists)], np.float32),
            self.mask, self.session_of, self.first, 100, *out, *totals, documents,
        )  # fmt: skip
        return out[0][:size], out[1][:size], *totals, documents

    def postings(self, terms):
        """The same by the oracle: weight by message."""
        weights = {}
        for term, factor in zip(terms, (1.0, 0.3, 0.3), strict=False):
            for message, count in oracle.inverted(self.spoken).get(term, []):
                weights[message] = weights.get(message, 0.0) + count * factor
        alive = {*chain(*self.alive())}
        return {one: weights[one] for one in sorted(weights) if one in alive}

    def alive(self):
        return [one for one, lives in zip(self.sessions, self.live, strict=True) if lives]


@given(st.data(), st.sampled_from([(0,), (0, 1), (3, 0, 2)]))
@settings(deadline=None)
def test_lists_merge_and_count_as_dictionaries_do(data, terms):
    corpus = Corpus(data)
    messages, weights, sessions, totals, documents = corpus.merged(terms)
    wanted = corpus.postings(terms)
    assert messages.tolist() == list(wanted)
    assert weights.tolist() == pytest.approx(list(wanted.values()), rel=1e-6)
    windows, count, _ = oracle.counted(wanted, corpus.alive())
    assert documents.tolist() == [windows, count]
    by_session = {}
    for message, weight in wanted.items():
        owner = 100 + int(corpus.session_of[message])
        by_session[owner] = by_session.get(owner, 0.0) + weight
    assert sessions[:count].tolist() == list(by_session)
    assert totals[:count].tolist() == pytest.approx(list(by_session.values()), rel=1e-5)


@given(st.data())
@settings(deadline=None)
def test_scores_are_the_oracles(data):
    corpus = Corpus(data)
    terms, idf = [(0, 1), (2,)], [1.5, 2.5]
    alive = corpus.alive()
    lists = [corpus.merged(one) for one in terms]
    cursors = np.array([0, len(lists[0][0])], np.int64)
    ends = cursors + [len(one[0]) for one in lists]
    scored = corpus.mask * np.uint8(2)
    columns = (
        np.concatenate([one[0] for one in lists]), np.concatenate([one[1] for one in lists]),
        cursors, ends, column(idf, np.float32), corpus.first, corpus.token_at, scored,
        7.0, 1.2, 0.75,
    )  # fmt: skip
    by_window, whole, has = {}, [0.0] * len(alive), {}
    for one, weight in zip(terms, idf, strict=True):
        postings = corpus.postings(one)
        windows, sessions = oracle.scores(
            postings, alive, corpus.lengths, (weight, weight), (7.0, 11.0), 1.2, 0.75
        )
        by_window = {at: by_window.get(at, 0.0) + score for at, score in windows.items()}
        whole = [a + b for a, b in zip(whole, sessions, strict=True)]
        has.update({at: has.get(at, 0) + 1 for at in postings})

    best, longest = np.zeros(len(corpus.live), np.float32), max(map(len, corpus.sessions))
    total = recall.best_windows(
        *columns, np.arange(len(corpus.spoken)), 2,
        np.empty(longest, np.float32), np.empty(longest, np.uint8), best,
    )  # fmt: skip
    assert total == sum(at >= 2 for at in has)
    tops = [max(by_window[at] for at in one) for one in alive]
    assert best[corpus.mask.astype(bool)].tolist() == pytest.approx(tops, rel=1e-5)

    cursors[:] = [0, len(lists[0][0])]
    said = [*chain(*alive)]
    windows, terms_in = np.zeros(len(said), np.float32), np.zeros(len(said), np.uint8)
    middles = np.zeros(len(alive), np.int64)
    term_of = column([0, -1, 1, -1], np.int8)
    recall.refine(
        np.flatnonzero(corpus.mask), *columns,
        column([*chain(*corpus.spoken)], np.uint32), term_of, 2.0, 5,
        np.zeros(4, np.float32), windows, terms_in, middles,
    )  # fmt: skip
    wanted = [
        by_window[at] + oracle.proximity(term_of[corpus.spoken[at]].tolist(), idf, 2.0, 5)
        if has.get(at, 0) > 1
        else by_window[at]
        for at in said
    ]
    assert windows.tolist() == pytest.approx(wanted, rel=1e-5)
    assert terms_in.tolist() == [has.get(at, 0) for at in said]
    starts = np.cumsum([0, *map(len, alive)]).tolist()
    assert middles.tolist() == [a + int(windows[a:b].argmax()) for a, b in pairwise(starts)]

    norms = [
        1 - 0.75 + 0.75 * sum(corpus.lengths[at] for at in one) / 11.0 for one in corpus.sessions
    ]
    scores, rank = np.zeros(len(norms), np.float32), np.zeros(len(norms), np.uint8)
    for number, (one, weight) in enumerate(zip(lists, idf, strict=True), 1):
        count = int(one[4][1])
        recall.add_session_scores(
            one[2][:count] - np.uint32(100), one[3][:count], column(norms, np.float32),
            weight, 0.0, number, scores, rank,
        )  # fmt: skip
    assert scores[corpus.mask.astype(bool)].tolist() == pytest.approx(whole, rel=1e-5)
    assert not scores[~corpus.mask.astype(bool)].any()
