"""Sets of line numbers, as the stretches they consist of.

Spans are `(first, last)` pairs, both included and counted from 1; sorted, apart from each other,
and never adjacent, so that equal sets are equal tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Spans: TypeAlias = "tuple[tuple[int, int], ...]"

NONE: Spans = ()
END = 1 << 40
"""Beyond the last line of any file."""


def of(first: int, last: int) -> Spans:
    """The lines from `first` to `last`; none if they are the wrong way round."""
    return ((first, last),) if first <= last else NONE


def joined(pairs: Iterable[tuple[int, int]]) -> Spans:
    """All lines of these pairs, which may come in any order and overlap."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if first > last:
            continue
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    return tuple(made)


def union(some: Spans, others: Spans) -> Spans:
    """The lines of either."""
    return joined((*some, *others))


def minus(some: Spans, others: Spans) -> Spans:
    """The lines of `some` that are not in `others`."""
    left: list[tuple[int, int]] = []
    for first, last in some:
        at = first
        for begin, end in others:
            if end < at or begin > last:
                continue
            if begin > at:
                left.append((at, begin - 1))
            at = end + 1
        if at <= last:
            left.append((at, last))
    return tuple(left)


def both(some: Spans, others: Spans) -> Spans:
    """The lines of `some` that are in `others` too."""
    return minus(some, minus(some, others))


def covers(some: Spans, others: Spans) -> bool:
    """Whether every line of `others` is in `some`."""
    return not minus(others, some)


def overlap(some: Spans, others: Spans) -> bool:
    """Whether a line is in both."""
    return any(first <= end and begin <= last for first, last in some for begin, end in others)


def count(spans: Spans) -> int:
    """How many lines."""
    return sum(last - first + 1 for first, last in spans)


def text(spans: Spans, most: int = 8) -> str:
    """As people write them, `1-50, 80`; at most so many stretches."""
    said = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:most]]
    return ", ".join(said) + (", …" if len(spans) > most else "")
