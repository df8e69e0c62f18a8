"""Scores a query by reading all messages: what the index does, slower and without kernels."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.recall import ranking, words
from triseek.recall.part import Part, Refined

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.recall.source import SessionRows


class _Corpus:
    """All messages: what of each the query asks for, in columns."""

    def __init__(self, rows: Iterable[SessionRows], prefixes: set[str]) -> None:
        self.first, self.session_ids, self.session_ms = [0], list[int](), list[int]()
        self.message_ids, self.message_ms, self.lengths = list[int](), list[int](), list[int]()
        self.words: list[list[tuple[int, str]]] = []
        """By message: the position and term of the terms that begin as one of the query's."""
        self.frequency: Counter[str] = Counter()
        for session_id, started_ms, messages in rows:
            first_ms = 0
            for message_id, time_ms, text in messages:
                terms = words.terms(text)
                kept = [(at, term) for at, term in enumerate(terms) if _key(term) in prefixes]
                self.words.append(kept)
                self.frequency.update({term for _, term in kept})
                self.lengths.append(len(terms))
                self.message_ids.append(message_id)
                self.message_ms.append(time_ms)
                first_ms = first_ms or time_ms
            if len(self.message_ids) > self.first[-1]:
                self.first.append(len(self.message_ids))
                self.session_ids.append(session_id)
                self.session_ms.append(first_ms or started_ms)


def _key(term: str) -> str:
    return ranking.prefix(term) or term


def score(
    rows: Iterable[SessionRows], query: ranking.Query, since_ms: int
) -> tuple[list[Part], dict[str, float]]:
    """Return the scores of all sessions, and the IDF of each term and variant.

    rows: id and start (Unix milliseconds) of each session, and its messages in order.
    since_ms: Only sessions with messages from this time on may be returned.
    """
    corpus = _Corpus(rows, {_key(term) for term in query.terms})
    if not corpus.session_ids:
        return [], {}
    first = np.array(corpus.first, np.int64)
    sessions, messages = len(first) - 1, len(corpus.message_ids)
    lengths = np.array(corpus.lengths, np.float64)
    session_lengths = np.add.reduceat(lengths, first[:-1])
    window_lengths = _window_sums(lengths, first)
    windows, whole = np.zeros(messages), np.zeros(sessions)
    terms_in, term_weights = np.zeros(messages, np.uint8), np.zeros(messages, np.float32)
    weights: dict[str, float] = {}
    idf: dict[str, float] = {}
    for word in query.terms:
        family = _family(corpus, word)
        counts = np.array([sum(family.get(term, 0.0) for _, term in row) for row in corpus.words])
        if not counts.any():
            continue
        in_windows, in_sessions = _window_sums(counts, first), np.add.reduceat(counts, first[:-1])
        idf[word] = ranking.idf(int((in_windows > 0).sum()), messages)
        weights.update(dict.fromkeys(family, idf[word]))
        windows += idf[word] * _saturated(in_windows, window_lengths, ranking.K1)
        whole += ranking.idf(int((in_sessions > 0).sum()), sessions) * _saturated(
            in_sessions, session_lengths, 1.0
        )
        terms_in += counts > 0
        term_weights += np.minimum(counts, 1).astype(np.float32)
    message_ms = np.array(corpus.message_ms, np.int64)
    allowed = np.maximum.reduceat(message_ms, first[:-1]) >= since_ms
    part = Part(
        first=first,
        session_ids=np.array(corpus.session_ids, np.int64),
        session_ms=np.array(corpus.session_ms, np.int64),
        message_ids=np.array(corpus.message_ids, np.int64),
        message_ms=message_ms,
        counted=np.ones(sessions, bool),
        allowed=allowed,
        best=np.maximum.reduceat(windows, first[:-1]),
        whole=whole,
        messages=int(((terms_in > 0) & (message_ms >= since_ms)).sum()),
        weights=lambda: term_weights,
        refine=partial(_refine, corpus, first, idf, windows, terms_in),
    )
    return [part], weights


def _family(corpus: _Corpus, word: str) -> dict[str, float]:
    beginning = ranking.prefix(word)
    if not beginning:
        return {word: 1.0}
    like = {term: count for term, count in corpus.frequency.items() if term.startswith(beginning)}
    return {word: 1.0, **dict.fromkeys(ranking.variants(word, like), ranking.VARIANT)}


def _window_sums(values: np.ndarray[Any, Any], first: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return for each message the sum over it and its neighbours in the session."""
    sums = values.copy()
    is_first = np.zeros(len(values), bool)
    is_first[first[:-1]] = True
    sums[1:] += np.where(is_first[1:], 0, values[:-1])
    sums[:-1] += np.where(is_first[1:], 0, values[1:])
    return sums


def _saturated(
    counts: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], k1: float
) -> np.ndarray[Any, Any]:
    norm = k1 * (1 - ranking.B + ranking.B * lengths / (lengths.mean() or 1.0))
    return np.where(counts > 0, counts * (k1 + 1) / (counts + norm + (counts == 0)), 0.0)


def _refine(
    corpus: _Corpus,
    first: np.ndarray[Any, Any],
    idf: dict[str, float],
    windows: np.ndarray[Any, Any],
    terms_in: np.ndarray[Any, Any],
    sessions: np.ndarray[Any, Any],
) -> Refined:
    """Return the windows of these sessions with the proximity of terms."""
    kept = [range(first[one], first[one + 1]) for one in sessions.tolist()]
    scores = [
        windows[each.start : each.stop] + [_proximity(corpus.words[at], idf) for at in each]
        for each in kept
    ]
    starts = np.cumsum([0, *map(len, scores)])
    middles = [start + each.argmax() for start, each in zip(starts, scores, strict=False)]
    return Refined(
        np.concatenate(scores),
        np.concatenate([terms_in[each.start : each.stop] for each in kept]),
        np.array(middles, np.int64),
    )


def _proximity(said: Iterable[tuple[int, str]], idf: dict[str, float]) -> float:
    """Return what terms of the query near one another add to a message."""
    spoken = [(at, term) for at, term in said if term in idf]
    nearest: dict[frozenset[str], float] = {}
    for (before, left), (after, right) in pairwise(spoken):
        if left != right and after - before <= ranking.REACH:
            value = ranking.PROXIMITY * min(idf[left], idf[right]) / (after - before)
            pair = frozenset((left, right))
            nearest[pair] = max(nearest.get(pair, 0.0), value)
    return sum(nearest.values())
