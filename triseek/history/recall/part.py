"""Scores of some sessions for one query, and the ranking of several such parts together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.history.recall import ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Scores of the sessions of one segment. Messages and sessions are numbered from 0."""

    first: np.ndarray[Any, Any]
    """uint32[sessions + 1]: the first message of each; no session is empty."""
    session_ids: np.ndarray[Any, Any]
    session_ms: np.ndarray[Any, Any]
    message_ids: np.ndarray[Any, Any]
    message_ms: np.ndarray[Any, Any]
    live: np.ndarray[Any, Any]
    """uint8 by session: 0 for one that is written again elsewhere, or gone."""
    windows: np.ndarray[Any, Any]
    """float32 by message: the score of the window around it."""
    sessions: np.ndarray[Any, Any]
    """float32: the score of each session as a whole."""
    terms_in: np.ndarray[Any, Any]
    """uint8 by message: how many of the query's terms are in it."""
    refine: Callable[[int], None]
    """Adds the proximity of terms to the windows of a session."""


@dataclass(frozen=True, slots=True)
class Found:
    """A session or message and its score."""

    session_id: int
    message_id: int
    time_ms: int
    score: float


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Sessions in order of their first scores: three columns of the same length."""

    part: np.ndarray[Any, Any]
    session: np.ndarray[Any, Any]
    dates: np.ndarray[Any, Any]
    total: int


def rank(
    parts: Sequence[Part],
    query: ranking.Query,
    *,
    by: ranking.By,
    most: int,
    sessions: Collection[int] | None,
    since_ms: int,
) -> tuple[list[Found], int]:
    """Return the best `most` sessions or messages, best first, and how many there are."""
    allowed = [_allowed(part, sessions, since_ms) for part in parts]
    chosen = _candidates(parts, query, allowed, max(most, ranking.CANDIDATES))
    best, at, whole = _refined(parts, chosen)
    top = float(best.max(initial=0.0)), float(whole.max(initial=0.0))
    if by == "session":
        scores = ranking.mixed(best, whole, top)
        found = [
            _session(parts[part], session, message, score)
            for part, session, message, score in zip(
                chosen.part.tolist(), chosen.session.tolist(), at, scores.tolist(), strict=True
            )
        ]
        total = chosen.total
    else:
        found = [
            one
            for part, session, score in zip(
                chosen.part.tolist(), chosen.session.tolist(), whole.tolist(), strict=True
            )
            for one in _messages(parts[part], session, score, top, len(query.terms), since_ms)
        ]
        total = sum(
            _messages_found(part, mask, since_ms) for part, mask in zip(parts, allowed, strict=True)
        )
    found.sort(key=lambda one: (-one.score, -one.time_ms, -one.message_id))
    return found[:most], total


def _allowed(part: Part, sessions: Collection[int] | None, since_ms: int) -> np.ndarray[Any, Any]:
    """Return which sessions of a part may be returned: bool."""
    mask = part.live.astype(bool)
    if sessions is not None:
        mask &= np.isin(part.session_ids, np.fromiter(sessions, np.int64))
    if since_ms:
        mask &= np.maximum.reduceat(part.message_ms, part.first[:-1]) >= since_ms
    return mask


def _candidates(
    parts: Sequence[Part],
    query: ranking.Query,
    allowed: Sequence[np.ndarray[Any, Any]],
    most: int,
) -> _Candidates:
    """Return the sessions with the best scores before proximity is known."""
    if not parts:
        empty = np.zeros(0, np.int64)
        return _Candidates(empty, empty, np.zeros(0, np.float32), 0)
    live = np.concatenate([part.live for part in parts]).astype(bool)
    dates = np.zeros(len(live), np.float32)
    dates[live] = ranking.date_scores(
        query, np.concatenate([part.session_ms for part in parts])[live]
    )
    best = np.concatenate([np.maximum.reduceat(part.windows, part.first[:-1]) for part in parts])
    whole = np.concatenate([part.sessions for part in parts])
    mask = np.concatenate(allowed) & (whole + dates > 0)
    at = np.flatnonzero(mask)
    best, whole = (best + dates)[at], (whole + dates)[at]
    first = ranking.mixed(
        best, whole, (float(best.max(initial=0.0)), float(whole.max(initial=0.0)))
    )
    total = len(at)
    if total > most:
        at = at[np.argpartition(-first, most)[:most]]
    part_of = np.repeat(np.arange(len(parts)), [len(part.live) for part in parts])
    base = np.cumsum([0, *(len(part.live) for part in parts)])
    return _Candidates(part_of[at], at - base[part_of[at]], dates[at], total)


def _refined(
    parts: Sequence[Part], chosen: _Candidates
) -> tuple[np.ndarray[Any, Any], list[int], np.ndarray[Any, Any]]:
    """Return the candidates' best windows' scores, their best messages, and their own scores."""
    best = chosen.dates.astype(np.float64)
    whole = chosen.dates.astype(np.float64)
    messages = []
    for at, (number, session) in enumerate(
        zip(chosen.part.tolist(), chosen.session.tolist(), strict=True)
    ):
        part = parts[number]
        part.refine(session)
        begin, end = int(part.first[session]), int(part.first[session + 1])
        middle = begin + int(part.windows[begin:end].argmax())
        best[at] += part.windows[middle]
        whole[at] += part.sessions[session]
        window = (middle, max(middle - 1, begin), min(middle + 1, end - 1))
        messages.append(max(window, key=lambda one: part.terms_in[one]))
    return best, messages, whole


def _session(part: Part, session: int, message: int, score: float) -> Found:
    return Found(
        int(part.session_ids[session]),
        int(part.message_ids[message]),
        int(part.session_ms[session]),
        score,
    )


def _messages(
    part: Part, session: int, whole: float, top: tuple[float, float], terms: int, since_ms: int
) -> list[Found]:
    """Return a session's messages that have terms.

    The score is half the window's, a quarter the session's and a quarter the share of the terms
    that the message itself has.
    """
    begin, end = int(part.first[session]), int(part.first[session + 1])
    has = part.terms_in[begin:end]
    own = 0.25 * has / max(terms, 1) + 0.5 * part.windows[begin:end] / max(top[0], 1e-9)
    scores = own + 0.25 * whole / max(top[1], 1e-9)
    numbers = np.flatnonzero((has > 0) & (part.message_ms[begin:end] >= since_ms))
    session_id = int(part.session_ids[session])
    return [
        Found(
            session_id,
            int(part.message_ids[begin + at]),
            int(part.message_ms[begin + at]),
            float(scores[at]),
        )
        for at in numbers.tolist()
    ]


def _messages_found(part: Part, allowed: np.ndarray[Any, Any], since_ms: int) -> int:
    session_of = np.repeat(allowed, np.diff(part.first.astype(np.int64)))
    return int(((part.terms_in > 0) & session_of & (part.message_ms >= since_ms)).sum())
