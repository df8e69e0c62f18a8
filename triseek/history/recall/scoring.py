"""Scores a query on the segments of the index."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.history.recall import ranking
from triseek.history.recall.part import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.history.recall.segment import Segment


@dataclass(frozen=True, slots=True, eq=False)
class LiveSegment:
    """A segment, which of its sessions count, and how much text these have."""

    segment: Segment
    live: np.ndarray[Any, Any]
    """uint8 by session."""
    messages: int
    tokens: int
    window_tokens: int
    """The lengths of all windows together."""


@dataclass(frozen=True, slots=True)
class _Term:
    """One term of the query with its variants, on all segments."""

    postings: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]
    """By segment: messages, uint32, and weights, float32."""
    window_idf: float
    session_idf: float
    messages: int
    """How many messages have it."""


def measure(segment: Segment, live: np.ndarray[Any, Any]) -> LiveSegment:
    """Return a segment with the figures of its live sessions."""
    if live.all():
        messages, tokens = len(segment.session_of), int(segment.token_at[-1])
        return LiveSegment(segment, live, messages, tokens, segment.entry["window_tokens"])
    lives = live.astype(bool)
    per_session = np.diff(segment.first.astype(np.int64))
    of_message = np.repeat(lives, per_session)
    lengths = np.diff(segment.token_at.astype(np.int64))
    return LiveSegment(
        segment,
        live,
        int(per_session[lives].sum()),
        int(lengths[of_message].sum()),
        int(segment.window_lengths()[of_message].sum()),
    )


def score(
    segments: Sequence[LiveSegment], query: ranking.Query
) -> tuple[list[Part], dict[str, float]]:
    """Return the scores of each segment, and the IDF of each term and variant.

    Raises:
        IndexCorrupt: A file is damaged.
    """
    from triseek.kernels import recall

    windows = sum(one.messages for one in segments)
    sessions = sum(int(one.live.sum()) for one in segments)
    window_mean = sum(one.window_tokens for one in segments) / max(windows, 1) or 1.0
    session_mean = sum(one.tokens for one in segments) / max(sessions, 1) or 1.0
    arrays = [_empty(one.segment) for one in segments]
    weights: dict[str, float] = {}
    idf = np.zeros(max(len(query.terms), 1), np.float32)
    terms = []
    for number, word in enumerate(query.terms):
        family = _family(segments, word)
        term = _look_up(segments, family, windows, sessions)
        if term is not None:
            idf[number] = term.window_idf
            weights.update(dict.fromkeys(family, term.window_idf))
            terms.append(term)
    for term in sorted(terms, key=lambda term: term.messages):
        masks = [one.live for one in segments]
        if term.messages > ranking.FREQUENT:
            masks = _best_so_far(masks, [out[1] for out in arrays])
        for one, mask, postings, out in zip(segments, masks, term.postings, arrays, strict=True):
            segment = one.segment
            recall.add_scores(
                *postings, segment.session_of, segment.first, segment.token_at, mask,
                term.window_idf, term.session_idf, window_mean, session_mean,
                ranking.K1, ranking.B, *out,
            )  # fmt: skip
    parts = [_part(one, query, idf, *out) for one, out in zip(segments, arrays, strict=True)]
    return parts, weights


def _best_so_far(
    masks: list[np.ndarray[Any, Any]], scores: list[np.ndarray[Any, Any]]
) -> list[np.ndarray[Any, Any]]:
    """Return which sessions a frequent term is scored in: those that rarer terms put in front."""
    whole = np.concatenate(scores)
    if np.count_nonzero(whole) <= ranking.CONTENDERS:
        return masks
    least = np.partition(whole, -ranking.CONTENDERS)[-ranking.CONTENDERS]
    return [mask & (one >= least) for mask, one in zip(masks, scores, strict=True)]


def _empty(segment: Segment) -> tuple[np.ndarray[Any, Any], ...]:
    messages, sessions = len(segment.message_ids), len(segment.session_ids)
    return (
        np.zeros(messages, np.float32),
        np.zeros(sessions, np.float32),
        np.zeros(messages, np.uint8),
    )


def _family(segments: Sequence[LiveSegment], word: str) -> dict[str, float]:
    """Return a term and its variants with what each counts."""
    family = {word: 1.0}
    beginning = ranking.prefix(word)
    if beginning:
        frequency: Counter[str] = Counter()
        for one in segments:
            terms = one.segment.beginning(beginning, ranking.PREFIX_TERMS_MAX)
            if terms is None:
                return family
            frequency.update(terms)
        family.update(dict.fromkeys(ranking.variants(word, frequency), ranking.VARIANT))
    return family


def _look_up(
    segments: Sequence[LiveSegment], family: dict[str, float], windows: int, sessions: int
) -> _Term | None:
    """Return the postings of a family, with its IDF; None if it does not occur."""
    from triseek.kernels import recall

    counts = np.zeros(2, np.int64)
    found = 0
    postings = []
    for one in segments:
        segment = one.segment
        merged = _merged(segment, family)
        found += recall.count_documents(
            merged[0], segment.session_of, segment.first, one.live, counts
        )
        postings.append(merged)
    if not found:
        return None
    return _Term(
        postings,
        ranking.idf(int(counts[0]), windows),
        ranking.idf(int(counts[1]), sessions),
        found,
    )


def _merged(
    segment: Segment, family: dict[str, float]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the postings of all terms of a family in a segment."""
    from triseek.kernels import recall

    messages, weights = np.zeros(0, np.uint32), np.zeros(0, np.float32)
    for word, factor in family.items():
        number = segment.number(word)
        if number is None:
            continue
        others, counts = segment.postings(number)
        if not len(messages):
            messages, weights = others, counts * np.float32(factor)
            continue
        room = len(messages) + len(others)
        out = np.empty(room, np.uint32), np.empty(room, np.float32)
        length = recall.merge_postings(messages, weights, others, counts, factor, *out)
        messages, weights = out[0][:length], out[1][:length]
    return messages, weights


def _part(
    one: LiveSegment,
    query: ranking.Query,
    idf: np.ndarray[Any, Any],
    windows: np.ndarray[Any, Any],
    sessions: np.ndarray[Any, Any],
    terms_in: np.ndarray[Any, Any],
) -> Part:
    segment = one.segment
    term_of = np.full(segment.vocabulary, -1, np.int8)
    for at, word in enumerate(query.terms):
        number = segment.number(word)
        if number is not None:
            term_of[number] = at
    pairs = np.zeros(len(idf) ** 2, np.float32)
    return Part(
        first=segment.first,
        session_ids=segment.session_ids,
        session_ms=segment.session_ms,
        message_ids=segment.message_ids,
        message_ms=segment.message_ms,
        live=one.live,
        windows=windows,
        sessions=sessions,
        terms_in=terms_in,
        refine=partial(_refine, segment, term_of, idf, pairs, windows, terms_in),
    )


def _refine(
    segment: Segment,
    term_of: np.ndarray[Any, Any],
    idf: np.ndarray[Any, Any],
    pairs: np.ndarray[Any, Any],
    windows: np.ndarray[Any, Any],
    terms_in: np.ndarray[Any, Any],
    sessions: np.ndarray[Any, Any],
) -> None:
    """Add the proximity of terms to the windows of these sessions."""
    from triseek.kernels import recall

    for session in sessions.tolist():
        segment.verify_tokens(int(segment.first[session]), int(segment.first[session + 1]))
    recall.add_proximity(
        segment.tokens, segment.token_at, terms_in, segment.first, sessions.astype(np.int64),
        term_of, idf, ranking.PROXIMITY, ranking.REACH, pairs, windows,
    )  # fmt: skip
    segment.release_tokens()
