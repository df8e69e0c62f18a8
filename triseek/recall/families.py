"""Looks up a term of the query with its variants in all segments."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.recall import ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.recall.segment import Segment


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


def look_up(
    segments: Sequence[Segment], masks: Sequence[np.ndarray[Any, Any] | None], word: str
) -> Family:
    """Return a term with its variants.

    masks: By segment, the sessions in which variants have to occur; None for any.

    Raises:
        IndexCorrupt: A file is damaged.
    """
    near = _near(segments, masks, ranking.prefix(word))
    names = {word: 1.0}
    if near is None:
        numbers = [[(one.number(word), 1.0)] for one in segments]
    else:
        frequency, terms = near
        names.update(dict.fromkeys(ranking.variants(word, frequency), ranking.VARIANT))
        numbers = [
            [(_number(*columns, name), factor) for name, factor in names.items()]
            for columns in terms
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
    segments: Sequence[Segment], masks: Sequence[np.ndarray[Any, Any] | None], prefix: str
) -> tuple[dict[str, int], list[tuple[list[str], np.ndarray[Any, Any]]]] | None:
    """Return the frequencies of all terms with a prefix, and the terms' numbers in each segment.

    None if the prefix is empty, or they are too many.
    """
    if not prefix:
        return None
    ranges = [one.beginning(prefix, mask) for one, mask in zip(segments, masks, strict=True)]
    if max(len(numbers) for numbers, _ in ranges) > ranking.PREFIX_TERMS_MAX:
        return None
    terms = []
    place: dict[str, int] = {}
    for one, (numbers, _) in zip(segments, ranges, strict=True):
        terms.append((one.names(numbers), numbers))
        place.update(dict.fromkeys(terms[-1][0], 0))
        if len(place) > ranking.PREFIX_TERMS_MAX:
            return None
    place = dict(zip(place, range(len(place)), strict=True))  # a loop over all would be slow
    places = np.array([place[name] for names, _ in terms for name in names], np.int64)
    totals = np.bincount(places, np.concatenate([counts for _, counts in ranges]))
    return dict(zip(place, totals.astype(int).tolist(), strict=True)), terms


def _number(names: Sequence[str], numbers: np.ndarray[Any, Any], name: str) -> int | None:
    at = bisect_left(names, name)
    return int(numbers[at]) if at < len(names) and names[at] == name else None
