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
    weights: Callable[[], np.ndarray[Any, Any]]
    """Computes how many of the query's terms each message has, variants for less: float32."""
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
    is_front: np.ndarray[Any, Any]
    """bool: false for one that was not chosen by its score."""
    total: int


@dataclass(frozen=True, slots=True)
class _Scored:
    """Scores of the candidates."""

    top: tuple[float, float]
    """The greatest of `best` and of `whole` in front."""
    best: np.ndarray[Any, Any]
    """Of the best window, with dates."""
    whole: np.ndarray[Any, Any]
    """Of the session, with dates."""
    message: np.ndarray[Any, Any]
    """The message that shows the session: of the best window, that with the most terms."""
    refined: list[tuple[np.ndarray[Any, Any], Refined]]
    """By part: the places of its candidates, and their windows."""


@dataclass(frozen=True, slots=True)
class Mix:
    """What each part of a message's score counts; together 1."""

    window: float
    session: float
    terms: float = 0.0
    """The share of the terms that the message itself has."""
    exact: float = 0.0
    """The same, where a variant of a term counts less."""
    best: float = 0.0
    """The session's best window."""


MESSAGE = Mix(0.5, 0.25, 0.25)


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
    kept = [part.message_ms >= since_ms for part in parts] if since_ms else None
    found = _best_messages(parts, chosen, scored, most, len(query.terms), MESSAGE, kept)
    return found, sum(part.messages for part in parts)


def rank_messages(
    parts: Sequence[Part],
    query: ranking.Query,
    *,
    most: int,
    mix: Mix,
    kept: Sequence[np.ndarray[Any, Any]] | None = None,
    widens: bool = True,
    candidates: int = ranking.CANDIDATES,
) -> list[Found]:
    """Return the best `most` messages, best first.

    Args:
        parts: Scores of all sessions.
        query: The query.
        most: The most messages.
        mix: What makes their score.
        kept: bool by message, for each part: the messages that may be returned; None for all.
        widens: Whether all sessions with kept messages are refined, and not the best alone: few
            messages are then all returned, ranked as among all.
        candidates: The most sessions that are refined otherwise.
    """
    also = None
    if kept is not None and widens:
        also = [
            np.logical_or.reduceat(mask, part.first[:-1].astype(np.int64))
            for mask, part in zip(kept, parts, strict=True)
        ]
    chosen = _candidates(parts, query, candidates, also)
    if not len(chosen.part):
        return []
    scored = _refined(parts, chosen)
    return _best_messages(parts, chosen, scored, most, len(query.terms), mix, kept)


def _candidates(
    parts: Sequence[Part],
    query: ranking.Query,
    most: int,
    also: Sequence[np.ndarray[Any, Any]] | None = None,
) -> _Candidates:
    """Return the sessions with the best scores before proximity is known.

    also: bool by session, for each part: sessions to return with any score.
    """
    if not parts:
        empty = np.zeros(0, np.int64)
        return _Candidates(empty, empty, np.zeros(0, np.float32), np.zeros(0, bool), 0)
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
    is_front = np.ones(total, bool)
    if total > most:
        is_front[np.argpartition(-first, most)[most:]] = False
        taken = is_front if also is None else is_front | np.concatenate(also)[at]
        at, is_front = at[taken], is_front[taken]
    part_of = np.repeat(np.arange(len(parts)), [len(part.counted) for part in parts])
    base = np.cumsum([0, *(len(part.counted) for part in parts)])
    return _Candidates(part_of[at], at - base[part_of[at]], dates[at], is_front, total)


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
    top = float(best[chosen.is_front].max()), float(whole[chosen.is_front].max())
    return _Scored(top, best, whole, message, refined)


def _extents(
    part: Part, sessions: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the first message and the number of messages of each session: int64."""
    begins = part.first[sessions].astype(np.int64)
    return begins, part.first[sessions + 1] - begins


def _best_sessions(
    parts: Sequence[Part], chosen: _Candidates, scored: _Scored, most: int
) -> list[Found]:
    scores = ranking.mixed(scored.best, scored.whole, scored.top)
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
    mix: Mix,
    kept: Sequence[np.ndarray[Any, Any]] | None,
) -> list[Found]:
    """Return the best messages of the candidates that have terms.

    kept: bool by message, for each part; None for all.
    """
    owners, ids, times, scores = [], [], [], []
    for at, windows in scored.refined:
        part, sessions = parts[chosen.part[at[0]]], chosen.session[at]
        begins, sizes = _extents(part, sessions)
        has = np.flatnonzero(windows.terms_in)
        owner = np.repeat(np.arange(len(at)), sizes)[has]
        messages = (begins - (np.cumsum(sizes) - sizes))[owner] + has
        if kept is not None:
            is_kept = kept[chosen.part[at[0]]][messages]
            has, owner, messages = has[is_kept], owner[is_kept], messages[is_kept]
        times.append(part.message_ms[messages])
        ids.append(part.message_ids[messages])
        owners.append(part.session_ids[sessions][owner])
        scores.append(
            mix.window * windows.windows[has] / max(scored.top[0], 1e-9)
            + mix.session * scored.whole[at][owner] / max(scored.top[1], 1e-9)
            + mix.terms * windows.terms_in[has] / max(terms, 1)
            + (mix.exact * part.weights()[messages] / max(terms, 1) if mix.exact else 0.0)
            + mix.best * scored.best[at][owner] / max(scored.top[0], 1e-9)
        )
    columns = [np.concatenate(one) for one in (owners, ids, times, scores)]
    if len(columns[3]) > most:  # sorting what may be among them is all
        least = np.partition(columns[3], -most)[-most]
        columns = [column[columns[3] >= least] for column in columns]
    order = np.lexsort((-columns[1], -columns[2], -columns[3]))[:most]
    return _listed(*(column[order] for column in columns))


def _listed(*columns: np.ndarray[Any, Any]) -> list[Found]:
    return [Found(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
