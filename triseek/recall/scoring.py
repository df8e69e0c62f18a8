"""Scores a query on the segments of the index."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.recall import families, ranking
from triseek.recall.part import Part, Refined

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from triseek.recall.families import Family
    from triseek.recall.index import LiveSegment
    from triseek.recall.segment import Segment


_Array: TypeAlias = np.ndarray[Any, Any]
_Lists: TypeAlias = tuple[_Array, _Array, _Array, _Array]
"""Messages, weights, and where the postings of each term begin and end."""
_Columns: TypeAlias = tuple[_Array, _Array, _Array, _Array, float, float, float]
"""IDF by term; `first`, `token_at` and scored terms of a segment; BM25's mean length, k1 and b."""


@dataclass(frozen=True, slots=True)
class _Postings:
    """The postings of all families in a segment, one family after another."""

    messages: _Array
    """uint32."""
    weights: _Array
    """float32."""
    ends: list[int]
    """Where each family begins, and the end."""

    def of(self, order: Sequence[int]) -> _Lists:
        """Return messages, weights, and where some families begin and end."""
        begins, ends = ([self.ends[at + step] for at in order] for step in (0, 1))
        return self.messages, self.weights, np.array(begins, np.int64), np.array(ends, np.int64)


@dataclass(frozen=True, slots=True)
class _Term:
    """One term of the query with its variants, on all segments."""

    number: int
    """Its place in the query."""
    window_idf: float
    session_idf: float
    messages: int
    """How many messages have it."""
    sessions: _Array
    """uint32: the sessions that have it, numbered through all segments."""
    totals: _Array
    """float32: its weight in each."""


def score(
    segments: Sequence[LiveSegment],
    query: ranking.Query,
    sessions: Collection[int] | _Array | None,
    since_ms: int,
) -> tuple[list[Part], dict[str, float]]:
    """Return the scores of the segments that have sessions to search, and the IDF of each term.

    sessions: The sessions to search, as int64 if it is an array; None for all. Frequencies and
        lengths are those of these.
    since_ms: Only sessions with messages from this time on may be returned.

    Raises:
        IndexCorrupt: A file is damaged.
    """
    wanted = sessions
    if wanted is not None and not isinstance(wanted, np.ndarray):
        wanted = np.fromiter(wanted, np.int64)
    masks = [_counted(one, wanted) for one in segments]
    used = [at for at, mask in enumerate(masks) if mask.any()]
    some, masks = [segments[at].segment for at in used], [masks[at] for at in used]
    if not some:
        return [], {}
    narrow = [None if sessions is None else mask for mask in masks]
    all_families = [families.look_up(some, narrow, word) for word in query.terms]
    counted = np.concatenate(masks).astype(bool)
    windows = int(np.concatenate([one.sizes for one in some])[counted].sum())
    postings, terms = _merged(some, masks, all_families, windows)
    terms.sort(key=lambda term: term.messages)
    tokens = np.concatenate([one.session_tokens for one in some])
    whole, scored = _whole(terms, tokens, float(tokens[counted].mean()) or 1.0)
    window_tokens = np.concatenate([one.window_tokens for one in some])[counted].sum()
    mean = float(window_tokens) / windows or 1.0
    parts = []
    begin = 0
    for one, mask, merged in zip(some, masks, postings, strict=True):
        end = begin + len(mask)
        parts.append(
            _part(
                one, query, mask, terms, merged, whole[begin:end], scored[begin:end], mean, since_ms
            )
        )
        begin = end
    weights = {name: term.window_idf for term in terms for name in all_families[term.number].names}
    return parts, weights


def _counted(one: LiveSegment, wanted: _Array | None) -> _Array:
    """Return which sessions are searched: uint8."""
    if wanted is None:
        return one.live
    return one.live & np.isin(one.segment.session_ids, wanted)


def _merged(
    segments: Sequence[Segment],
    masks: Sequence[_Array],
    found: Sequence[Family],
    windows: int,
) -> tuple[list[_Postings], list[_Term]]:
    """Return the postings by segment, and the terms that occur.

    windows: How many are counted.
    """
    from triseek.kernels import recall

    sessions = sum(map(len, masks))
    columns = [(np.empty(sessions, np.uint32), np.empty(sessions, np.float32)) for _ in found]
    documents = np.zeros((len(found), 2), np.int64)
    postings = []
    base = 0
    for at, (segment, mask) in enumerate(zip(segments, masks, strict=True)):
        room = sum(family.room(at) for family in found)
        messages, weights = np.empty(room, np.uint32), np.empty(room, np.float32)
        ends = [0]
        for number, family in enumerate(found):
            begins, stops, factors = family.lists[at]
            filled = int(documents[number, 1])
            ends.append(
                ends[-1]
                + recall.merge_lists(
                    *segment.postings, begins, stops, factors, mask, segment.session_of,
                    segment.first, base, messages[ends[-1] :], weights[ends[-1] :],
                    columns[number][0][filled:], columns[number][1][filled:], documents[number],
                )
            )  # fmt: skip
        postings.append(_Postings(messages, weights, ends))
        base += len(mask)
    counted = sum(int(np.count_nonzero(mask)) for mask in masks)
    terms = [
        _Term(
            number,
            ranking.idf(int(in_windows), windows),
            ranking.idf(int(in_sessions), counted),
            sum(one.ends[number + 1] - one.ends[number] for one in postings),
            columns[number][0][:in_sessions],
            columns[number][1][:in_sessions],
        )
        for number, (in_windows, in_sessions) in enumerate(documents.tolist())
        if in_sessions
    ]
    return postings, terms


def _whole(terms: Sequence[_Term], tokens: _Array, mean: float) -> tuple[_Array, _Array]:
    """Return the scores of all sessions, and how many of the terms are scored in each.

    A frequent term is scored in the sessions that rarer terms put in front.
    """
    from triseek.kernels import recall

    norms = (1.0 - ranking.B + ranking.B * tokens / mean).astype(np.float32)
    scores, scored = np.zeros(len(tokens), np.float32), np.zeros(len(tokens), np.uint8)
    least = 0.0
    for rank, term in enumerate(terms, 1):
        if term.messages > ranking.FREQUENT:
            best = scores[scores > 0] if not least else scores[scores >= least]
            if len(best) > ranking.CONTENDERS:
                least = float(np.partition(best, -ranking.CONTENDERS)[-ranking.CONTENDERS])
        recall.add_session_scores(
            term.sessions, term.totals, norms, term.session_idf, least, rank, scores, scored
        )
    return scores, scored


def _part(
    segment: Segment,
    query: ranking.Query,
    mask: _Array,
    terms: Sequence[_Term],
    merged: _Postings,
    whole: _Array,
    scored: _Array,
    mean: float,
    since_ms: int,
) -> Part:
    from triseek.kernels import recall

    allowed = mask.astype(bool)
    if since_ms:
        allowed &= segment.last_ms >= since_ms
    scored = scored * allowed
    best = np.zeros(len(mask), np.float32)
    longest = int(segment.sizes.max())
    idf = np.array([term.window_idf for term in terms], np.float32)
    order = [term.number for term in terms]
    lists, columns = merged.of(order), (
        idf, segment.first, segment.token_at, scored, mean, ranking.K1, ranking.B,
    )  # fmt: skip
    messages = recall.best_windows(
        lists[0], lists[1], lists[2], lists[3], *columns, segment.message_ms, since_ms,
        np.empty(longest, np.float32), np.empty(longest, np.uint8), best,
    )  # fmt: skip
    return Part(
        first=segment.first,
        session_ids=segment.session_ids,
        session_ms=segment.session_ms,
        message_ids=segment.message_ids,
        message_ms=segment.message_ms,
        counted=mask.astype(bool),
        allowed=allowed,
        best=best,
        whole=whole,
        messages=messages,
        weights=partial(_weights, segment, partial(merged.of, order)),
        refine=partial(
            _refine, segment, [query.terms[at] for at in order], partial(merged.of, order), columns
        ),
    )


def _weights(segment: Segment, merged: partial[_Lists]) -> _Array:
    """Return how many of the query's terms each message has, variants for less: float32."""
    sums = np.zeros(len(segment.message_ids), np.float32)
    messages, weights, begins, ends = merged()
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        sums[messages[begin:end]] += np.minimum(weights[begin:end], np.float32(1))
    return sums


def _refine(
    segment: Segment,
    words: Sequence[str],
    merged: partial[_Lists],
    columns: _Columns,
    sessions: _Array,
) -> Refined:
    """Return the windows of these sessions with the proximity of terms."""
    from triseek.kernels import recall

    term_of = np.full(segment.vocabulary, -1, np.int8)
    for at, word in enumerate(words):
        number = segment.number(word)
        if number is not None:
            term_of[number] = at
    begins, ends = segment.first[sessions].astype(np.int64), segment.first[sessions + 1]
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        segment.verify_tokens(begin, end)
    size = int((ends - begins).sum())
    windows, terms_in = np.zeros(size, np.float32), np.zeros(size, np.uint8)
    middles = np.zeros(len(sessions), np.int64)
    lists = merged()
    recall.refine(
        sessions, lists[0], lists[1], lists[2], lists[3], *columns,
        segment.tokens, term_of, ranking.PROXIMITY, ranking.REACH,
        np.zeros(len(words) ** 2, np.float32), windows, terms_in, middles,
    )  # fmt: skip
    segment.release_tokens()
    return Refined(windows, terms_in, middles)
