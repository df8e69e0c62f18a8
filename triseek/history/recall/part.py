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
    refine: Callable[[np.ndarray[Any, Any]], None]
    """Adds the proximity of terms to the windows of these sessions."""


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


@dataclass(frozen=True, slots=True)
class _Scored:
    """Scores of the candidates."""

    best: np.ndarray[Any, Any]
    """Of the best window, with dates."""
    whole: np.ndarray[Any, Any]
    """Of the session, with dates."""
    middle: np.ndarray[Any, Any]
    """The message in the middle of the best window."""
    top_best: float
    top_whole: float


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
    if not chosen.total:
        return [], 0
    scored = _refined(parts, chosen)
    if by == "session":
        return _best_sessions(parts, chosen, scored, most), chosen.total
    found = _best_messages(parts, chosen, scored, most, len(query.terms), since_ms)
    total = sum(
        _messages_found(part, mask, since_ms) for part, mask in zip(parts, allowed, strict=True)
    )
    return found, total


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


def _refined(parts: Sequence[Part], chosen: _Candidates) -> _Scored:
    """Return the candidates' scores with the proximity of terms."""
    best, whole = chosen.dates.astype(np.float64), chosen.dates.astype(np.float64)
    middle = np.zeros(len(best), np.int64)
    for number, part in enumerate(parts):
        at = np.flatnonzero(chosen.part == number)
        sessions = chosen.session[at]
        part.refine(sessions)
        for one, session in zip(at.tolist(), sessions.tolist(), strict=True):
            begin = int(part.first[session])
            middle[one] = begin + part.windows[begin : part.first[session + 1]].argmax()
        best[at] += part.windows[middle[at]]
        whole[at] += part.sessions[sessions]
    return _Scored(best, whole, middle, float(best.max()), float(whole.max()))


def _best_sessions(
    parts: Sequence[Part], chosen: _Candidates, scored: _Scored, most: int
) -> list[Found]:
    scores = ranking.mixed(scored.best, scored.whole, (scored.top_best, scored.top_whole))
    found = []
    times = np.array(
        [parts[part].session_ms[at] for part, at in zip(chosen.part, chosen.session, strict=True)]
    )
    ids = np.array(
        [parts[part].session_ids[at] for part, at in zip(chosen.part, chosen.session, strict=True)]
    )
    for at in np.lexsort((-ids, -times, -scores))[:most].tolist():
        part, session, middle = parts[chosen.part[at]], chosen.session[at], int(scored.middle[at])
        begin, end = int(part.first[session]), int(part.first[session + 1])
        window = (middle, max(middle - 1, begin), min(middle + 1, end - 1))
        message = max(window, key=lambda one: part.terms_in[one])
        found.append(
            Found(int(ids[at]), int(part.message_ids[message]), int(times[at]), float(scores[at]))
        )
    return found


def _best_messages(
    parts: Sequence[Part],
    chosen: _Candidates,
    scored: _Scored,
    most: int,
    terms: int,
    since_ms: int,
) -> list[Found]:
    """Return the best messages of the candidates that have terms.

    The score is half the window's, a quarter the session's and a quarter the share of the terms
    that the message itself has.
    """
    ids, scores, times, owners = [], [], [], []
    for at, (number, session) in enumerate(
        zip(chosen.part.tolist(), chosen.session.tolist(), strict=True)
    ):
        part = parts[number]
        begin, end = int(part.first[session]), int(part.first[session + 1])
        has = part.terms_in[begin:end]
        mask = (has > 0) & (part.message_ms[begin:end] >= since_ms)
        ids.append(part.message_ids[begin:end][mask])
        times.append(part.message_ms[begin:end][mask])
        scores.append(
            0.5 * part.windows[begin:end][mask] / max(scored.top_best, 1e-9)
            + 0.25 * scored.whole[at] / max(scored.top_whole, 1e-9)
            + 0.25 * has[mask] / max(terms, 1)
        )
        owners.append(np.full(len(ids[-1]), part.session_ids[session]))
    columns = [np.concatenate(one) for one in (owners, ids, times, scores)]
    order = np.lexsort((-columns[1], -columns[2], -columns[3]))[:most]
    return [
        Found(int(owner), int(message), int(time_ms), float(score))
        for owner, message, time_ms, score in zip(
            *(column[order].tolist() for column in columns), strict=True
        )
    ]


def _messages_found(part: Part, allowed: np.ndarray[Any, Any], since_ms: int) -> int:
    session_of = np.repeat(allowed, np.diff(part.first.astype(np.int64)))
    return int(((part.terms_in > 0) & session_of & (part.message_ms >= since_ms)).sum())
