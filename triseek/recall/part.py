"""Scores of some sessions for one query, and the ranking of several such parts together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.recall import ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class Refined:
    """The windows of some sessions, one session after another, with the proximity of terms."""

    windows: np.ndarray[Any, Any]
    """float32 by message: the score of the window around it."""
    terms_in: np.ndarray[Any, Any]
    """uint8 by message: how many of the query's terms are in it."""
    middles: np.ndarray[Any, Any]
    """int64 by session: the place of its best window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Scores of the sessions of one segment. Messages and sessions are numbered from 0."""

    first: np.ndarray[Any, Any]
    """uint32[sessions + 1]: the first message of each; no session is empty."""
    session_ids: np.ndarray[Any, Any]
    session_ms: np.ndarray[Any, Any]
    message_ids: np.ndarray[Any, Any]
    message_ms: np.ndarray[Any, Any]
    counted: np.ndarray[Any, Any]
    """bool by session: false for one that is not searched, written again elsewhere, or gone."""
    allowed: np.ndarray[Any, Any]
    """bool by session: false for one that may not be returned."""
    best: np.ndarray[Any, Any]
    """float32: the score of each session's best window, without proximity."""
    whole: np.ndarray[Any, Any]
    """float32: the score of each session as a whole."""
    messages: int
    """How many messages may be returned."""
    refine: Callable[[np.ndarray[Any, Any]], Refined]
    """Computes the windows of these sessions, int64, ascending."""


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
    message: np.ndarray[Any, Any]
    """The message that shows the session: of the best window, that with the most terms."""
    refined: list[tuple[np.ndarray[Any, Any], Refined]]
    """By part: the places of its candidates, and their windows."""


def rank(
    parts: Sequence[Part], query: ranking.Query, *, by: ranking.By, most: int, since_ms: int
) -> tuple[list[Found], int]:
    """Return the best `most` sessions or messages, best first, and how many there are."""
    chosen = _candidates(parts, query, max(most, ranking.CANDIDATES))
    if not chosen.total:
        return [], 0
    scored = _refined(parts, chosen)
    if by == "session":
        return _best_sessions(parts, chosen, scored, most), chosen.total
    found = _best_messages(parts, chosen, scored, most, len(query.terms), since_ms)
    return found, sum(part.messages for part in parts)


def _candidates(parts: Sequence[Part], query: ranking.Query, most: int) -> _Candidates:
    """Return the sessions with the best scores before proximity is known."""
    if not parts:
        empty = np.zeros(0, np.int64)
        return _Candidates(empty, empty, np.zeros(0, np.float32), 0)
    counted = np.concatenate([part.counted for part in parts])
    dates = np.zeros(len(counted), np.float32)
    if query.months or query.years:
        times = np.concatenate([part.session_ms for part in parts])
        dates[counted] = ranking.date_scores(query, times[counted])
    best = np.concatenate([part.best for part in parts])
    whole = np.concatenate([part.whole for part in parts])
    at = np.flatnonzero(np.concatenate([part.allowed for part in parts]) & (whole + dates > 0))
    best, whole = (best + dates)[at], (whole + dates)[at]
    first = ranking.mixed(
        best, whole, (float(best.max(initial=0.0)), float(whole.max(initial=0.0)))
    )
    total = len(at)
    if total > most:
        at = np.sort(at[np.argpartition(-first, most)[:most]])
    part_of = np.repeat(np.arange(len(parts)), [len(part.counted) for part in parts])
    base = np.cumsum([0, *(len(part.counted) for part in parts)])
    return _Candidates(part_of[at], at - base[part_of[at]], dates[at], total)


def _refined(parts: Sequence[Part], chosen: _Candidates) -> _Scored:
    """Return the candidates' scores with the proximity of terms."""
    best, whole = chosen.dates.astype(np.float64), chosen.dates.astype(np.float64)
    message = np.zeros(len(best), np.int64)
    refined = []
    for number, part in enumerate(parts):
        at = np.flatnonzero(chosen.part == number)
        if not len(at):
            continue
        sessions = chosen.session[at]
        windows = part.refine(sessions)
        begins, sizes = _extents(part, sessions)
        starts = np.cumsum(sizes) - sizes
        low = np.maximum(windows.middles - 1, starts)
        high = np.minimum(windows.middles + 1, starts + sizes - 1)
        around = np.stack((windows.middles, low, high))
        shown = around[windows.terms_in[around].argmax(axis=0), np.arange(len(at))]
        message[at] = begins + shown - starts
        best[at] += windows.windows[windows.middles]
        whole[at] += part.whole[sessions]
        refined.append((at, windows))
    return _Scored(best, whole, message, refined)


def _extents(
    part: Part, sessions: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the first message and the number of messages of each session: int64."""
    begins = part.first[sessions].astype(np.int64)
    return begins, part.first[sessions + 1] - begins


def _best_sessions(
    parts: Sequence[Part], chosen: _Candidates, scored: _Scored, most: int
) -> list[Found]:
    scores = ranking.mixed(
        scored.best, scored.whole, (float(scored.best.max()), float(scored.whole.max()))
    )
    ids, times, messages = (np.zeros(len(scores), np.int64) for _ in range(3))
    for at, _ in scored.refined:
        part, sessions = parts[chosen.part[at[0]]], chosen.session[at]
        ids[at], times[at] = part.session_ids[sessions], part.session_ms[sessions]
        messages[at] = part.message_ids[scored.message[at]]
    order = np.lexsort((-ids, -times, -scores))[:most]
    return _listed(*(column[order] for column in (ids, messages, times, scores)))


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
    owners, ids, times, scores = [], [], [], []
    for at, windows in scored.refined:
        part, sessions = parts[chosen.part[at[0]]], chosen.session[at]
        begins, sizes = _extents(part, sessions)
        has = np.flatnonzero(windows.terms_in)
        owner = np.repeat(np.arange(len(at)), sizes)[has]
        messages = (begins - (np.cumsum(sizes) - sizes))[owner] + has
        times.append(part.message_ms[messages])
        ids.append(part.message_ids[messages])
        owners.append(part.session_ids[sessions][owner])
        scores.append(
            0.5 * windows.windows[has] / max(float(scored.best.max()), 1e-9)
            + 0.25 * scored.whole[at][owner] / max(float(scored.whole.max()), 1e-9)
            + 0.25 * windows.terms_in[has] / max(terms, 1)
        )
    columns = [np.concatenate(one) for one in (owners, ids, times, scores)]
    if since_ms:
        columns = [column[columns[2] >= since_ms] for column in columns]
    if len(columns[3]) > most:  # sorting what may be among them is all
        least = np.partition(columns[3], -most)[-most]
        columns = [column[columns[3] >= least] for column in columns]
    order = np.lexsort((-columns[1], -columns[2], -columns[3]))[:most]
    return _listed(*(column[order] for column in columns))


def _listed(*columns: np.ndarray[Any, Any]) -> list[Found]:
    return [Found(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
