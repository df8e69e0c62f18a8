"""Looks up a term of the query with its variants in all segments."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.history.recall import ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.history.recall.segment import Segment


@dataclass(frozen=True, slots=True)
class Family:
    """A term with its variants."""

    word: str
    names: dict[str, float]
    """The term and its variants, with what each counts."""
    lists: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]]
    """By segment: where posting lists begin, where they end, what they count."""

    def room(self, segment: int) -> int:
        """Return how many postings a segment has at most."""
        begins, ends, _ = self.lists[segment]
        return int((ends - begins).sum())


def look_up(segments: Sequence[Segment], word: str) -> Family:
    """Return a term with its variants.

    Raises:
        IndexCorrupt: A file is damaged.
    """
    near = _near(segments, ranking.prefix(word))
    names = {word: 1.0}
    if near is None:
        numbers = [[(one.number(word), 1.0)] for one in segments]
    else:
        frequency, ranges = near
        names.update(dict.fromkeys(ranking.variants(word, frequency), ranking.VARIANT))
        numbers = [
            [(_number(low, terms, name), factor) for name, factor in names.items()]
            for low, terms in ranges
        ]
    lists = []
    for segment, pairs in zip(segments, numbers, strict=True):
        there = [(*segment.place(at), factor) for at, factor in pairs if at is not None]
        columns = zip(*there, strict=True) if there else ((), (), ())
        begins, ends, factors = columns
        lists.append(
            (np.array(begins, np.int64), np.array(ends, np.int64), np.array(factors, np.float32))
        )
    return Family(word, names, lists)


def _near(
    segments: Sequence[Segment], prefix: str
) -> tuple[dict[str, int], list[tuple[int, list[str]]]] | None:
    """Return the frequencies of all terms with a prefix, and of each segment their first and all.

    None if the prefix is empty, or they are too many.
    """
    if not prefix:
        return None
    frequency: dict[str, int] = {}
    ranges = [one.beginning(prefix) for one in segments]
    if max(high - low for low, high in ranges) > ranking.PREFIX_TERMS_MAX:
        return None
    terms = []
    for one, (low, high) in zip(segments, ranges, strict=True):
        names, counts = one.names(low, high)
        terms.append((low, names))
        for name, count in zip(names, counts, strict=True):
            frequency[name] = frequency.get(name, 0) + count
        if len(frequency) > ranking.PREFIX_TERMS_MAX:
            return None
    return frequency, terms


def _number(low: int, terms: Sequence[str], name: str) -> int | None:
    at = bisect_left(terms, name)
    return low + at if at < len(terms) and terms[at] == name else None
