"""Sets of code points or bytes as sorted ranges, and their UTF-8 encodings.

Ranges are `syntax.Ranges`: sorted, disjoint, non-adjacent, both ends included. Surrogates
(U+D800 to U+DFFF) are not scalar values. `UNICODE` excludes them, so any set intersected with it or
complemented against it has none.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.query.regex.syntax import Ranges

ByteSequence: TypeAlias = "tuple[tuple[int, int], ...]"
"""One inclusive range per byte. Stands for all strings that take one byte from each range."""

UNICODE: Ranges = ((0, 0xD7FF), (0xE000, 0x10FFFF))
BYTES: Ranges = ((0, 0xFF),)
ASCII: Ranges = ((0, 0x7F),)

_LENGTH_ENDS = (0x7F, 0x7FF, 0xD7FF, 0xFFFF, 0x10FFFF)
"""Code points after which UTF-8 gets longer, and where surrogates split the three-byte range."""


def normalised(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same set, sorted and with adjoining ranges joined."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            if high > out[-1][1]:
                out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    return tuple(out)


def union(first: Ranges, second: Ranges) -> Ranges:
    """Return the union of two sets."""
    if not first or not second:
        return first or second
    return normalised((*first, *second))


def intersection(first: Ranges, second: Ranges) -> Ranges:
    """Return the intersection of two sets."""
    out: list[tuple[int, int]] = []
    i = j = 0
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if low <= high:
            out.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(out)


def complement(ranges: Ranges, universe: Ranges) -> Ranges:
    """Return the values that are in `universe` but not in `ranges`."""
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    gaps.append((start, max(start, universe[-1][1])))
    return intersection(tuple(gaps), universe)


def difference(first: Ranges, second: Ranges) -> Ranges:
    """Return the values that are in `first` but not in `second`."""
    return complement(second, first) if first and second else first


def symmetric_difference(first: Ranges, second: Ranges) -> Ranges:
    """Return the values that are in exactly one of two sets."""
    return difference(union(first, second), intersection(first, second))


def contains(ranges: Ranges, value: int) -> bool:
    """Return whether `value` is in the set."""
    at = bisect_right(ranges, (value, 0x7FFFFFFF)) - 1
    return at >= 0 and ranges[at][1] >= value


def size(ranges: Ranges) -> int:
    """Return the number of values in the set."""
    return sum(high - low + 1 for low, high in ranges)


def is_ascii(ranges: Ranges) -> bool:
    """Return whether the set has no value above U+007F."""
    return not ranges or ranges[-1][1] <= 0x7F


@lru_cache(maxsize=256)
def utf8_sequences(ranges: Ranges) -> tuple[ByteSequence, ...]:
    """Return the UTF-8 encodings of the set, in code point order, as products of byte ranges.

    The idea is Ken Thompson's, described in Russ Cox's "Regular Expression Matching in the Wild".
    """
    out: list[ByteSequence] = []
    for low, high in intersection(ranges, UNICODE):
        start = low
        for end in _LENGTH_ENDS:
            if start <= min(end, high):
                first, last = chr(start).encode(), chr(min(end, high)).encode()
                out.extend(_sequences(first, last))
                start = min(end, high) + 1
    return tuple(out)


def _sequences(first: bytes, last: bytes) -> list[ByteSequence]:
    """Split the interval between two encodings of equal length into products of byte ranges."""
    low, high = first[0], last[0]
    if len(first) == 1:
        return [((low, high),)]
    if low == high:
        return [((low, low), *rest) for rest in _sequences(first[1:], last[1:])]
    out: list[ByteSequence] = []
    tail: list[ByteSequence] = []
    bottom, top = b"\x80" * (len(first) - 1), b"\xbf" * (len(first) - 1)
    if first[1:] != bottom:
        out.extend(((low, low), *rest) for rest in _sequences(first[1:], top))
        low += 1
    if last[1:] != top:
        tail.extend(((high, high), *rest) for rest in _sequences(bottom, last[1:]))
        high -= 1
    if low <= high:
        out.append(((low, high), *(((0x80, 0xBF),) * len(bottom))))
    return out + tail
