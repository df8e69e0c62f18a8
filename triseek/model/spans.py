"""Sets of line numbers, stored as ranges of consecutive lines.

A span is a pair `(first, last)`, both included and counted from 1. Spans are sorted, disjoint and
never adjacent, so that equal sets are equal tuples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Spans: TypeAlias = "tuple[tuple[int, int], ...]"

NONE: Spans = ()
END = 1 << 40
"""A line number beyond the last line of any file."""


def of(first: int, last: int) -> Spans:
    """Return the lines from `first` to `last`; none if `first` is greater than `last`."""
    return ((first, last),) if first <= last else NONE


def joined(pairs: Iterable[tuple[int, int]]) -> Spans:
    """Return all lines of these pairs, which may be in any order and overlap."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if first > last:
            continue
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


def union(some: Spans, others: Spans) -> Spans:
    """Return the lines that are in `some` or in `others`."""
    return joined((*some, *others))


def minus(some: Spans, others: Spans) -> Spans:
    """Return the lines of `some` that are not in `others`."""
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
    """Return the lines that are in `some` and in `others`."""
    return minus(some, minus(some, others))


def covers(some: Spans, others: Spans) -> bool:
    """Whether every line of `others` is in `some`."""
    return not minus(others, some)


def overlap(some: Spans, others: Spans) -> bool:
    """Whether any line is in both."""
    return any(first <= end and begin <= last for first, last in some for begin, end in others)


def count(spans: Spans) -> int:
    """Return the number of lines."""
    return sum(last - first + 1 for first, last in spans)


def text(spans: Spans, most: int = 8) -> str:
    """Format at most `most` spans as `1-50, 80`; an ellipsis stands for the others."""
    parts = [str(first) if first == last else f"{first}-{last}" for first, last in spans[:most]]
    return ", ".join(parts) + (", …" if len(spans) > most else "")
