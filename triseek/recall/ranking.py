"""How recall ranks: the query, the parameters and the formulas that index and scan share.

A session's score is half that of its best window (three messages in a row), half its own, each
BM25 divided by the greatest of the query. Terms near one another add to their window, and a month
or year in the query adds to sessions of that time. The parameters were chosen on one half of
LoCoMo's conversations: docs/decisions/0036-recall-ranking.md.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from triseek.recall import words

if TYPE_CHECKING:
    from collections.abc import Mapping

By: TypeAlias = Literal["session", "message"]

K1, B = 1.2, 0.75
"""BM25's parameters for windows; sessions take k1 = 1."""
VARIANT = 0.3
"""What a term counts that only begins as the query's."""
PREFIX = 5
"""Characters that a variant begins with."""
LENGTH_DIFFERENCE = 3
"""The most characters by which a variant is longer or shorter."""
VARIANTS_MAX = 8
PREFIX_TERMS_MAX = 500
"""A prefix of more terms says too little: its variants are not searched."""
PROXIMITY = 2.0
REACH = 5
"""Terms from one to the next that are still near."""
DATE = 3.0
NEXT_MONTH = 0.3
"""What the month after the query's counts: one speaks of a thing when it is over."""
TERMS_MAX = 64
"""Terms of a query that are searched."""
FREQUENT = 20_000
"""Messages; a term that more have is scored in the contenders alone, if rarer ones find so many."""
CONTENDERS = 2_000
"""Sessions with the best scores by the rarer terms."""
CANDIDATES = 200
"""Sessions whose proximity is computed."""

_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True, slots=True)
class Query:
    """A query's distinct terms, in order, and the dates that it names."""

    terms: tuple[str, ...]
    months: frozenset[int]
    """1 to 12."""
    years: frozenset[int]


def parse(text: str) -> Query:
    """Return the query that a text means."""
    spoken = set(words.WORD.findall(text[: words.TEXT_MAX].lower()))
    return Query(
        tuple(dict.fromkeys(words.terms(text)))[:TERMS_MAX],
        frozenset(at for at, name in enumerate(_MONTHS, 1) if name in spoken),
        frozenset(int(word) for word in spoken if _YEAR.fullmatch(word)),
    )


def idf(count: float, documents: float) -> float:
    """Return BM25's inverse document frequency, never negative."""
    return math.log1p((documents - count + 0.5) / (count + 0.5))


def variants(term: str, frequency: Mapping[str, int]) -> list[str]:
    """Return the variants of a term to search, of all terms that begin with its first characters.

    frequency: how often each of these terms occurs.
    """
    if len(frequency) > PREFIX_TERMS_MAX:
        return []
    near = (
        word
        for word in frequency
        if word != term and abs(len(word) - len(term)) <= LENGTH_DIFFERENCE
    )
    return sorted(near, key=lambda word: (-frequency[word], word))[:VARIANTS_MAX]


def prefix(term: str) -> str:
    """Return what the variants of a term begin with; empty if it has none."""
    return term[:PREFIX] if len(term) >= PREFIX and term.isascii() else ""


def date_scores(query: Query, times_ms: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return what the query's dates add to each session: float32.

    times_ms: int64, Unix time of each session, 0 if unknown.
    """
    out = np.zeros(len(times_ms), np.float32)
    if not query.months and not query.years:
        return out
    month_number = times_ms.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64)
    known = times_ms > 0
    for month in query.months:
        out += _matches(known & (month_number % 12 + 1 == month))
        after = known & (month_number % 12 == month % 12)
        out += NEXT_MONTH * _matches(known & (month_number % 12 + 1 == month), after)
    for year in query.years:
        out += _matches(known & (month_number // 12 + 1970 == year))
    return out


def _matches(
    named: np.ndarray[Any, Any], gets: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """Return the score of a date, which `named` sessions have, for those that get it."""
    count = int(named.sum())
    if not count:
        return np.zeros(len(named), np.float32)
    score = DATE * idf(count, len(named))
    return (score * (named if gets is None else gets)).astype(np.float32)


def mixed(
    best: np.ndarray[Any, Any], whole: np.ndarray[Any, Any], top: tuple[float, float]
) -> np.ndarray[Any, Any]:
    """Return scores of 0 to 1 from those of best windows and sessions and the greatest of each."""
    return 0.5 * best / max(top[0], 1e-9) + 0.5 * whole / max(top[1], 1e-9)
