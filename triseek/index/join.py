"""Join spilled posting lists, in block order, into a segment's four posting columns.

Two passes over the spills. The first sums what each joined list will take, the second copies the
lists stretch by stretch of the output, so memory is bounded by the stretch, not by the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.kernels import invert, postings
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.index.batch import Spill
    from triseek.store.segment import SegmentBuilder

Array: TypeAlias = np.ndarray[Any, Any]

STRETCH_BYTES = 48 << 20
"""Postings joined at a time."""
_SMALL = 1 << 20


def write_postings(
    segment: SegmentBuilder,
    spills: Sequence[Spill],
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> int:
    """Write the trigram, offset, frequency and posting columns; the number of postings.

    spills: in block order. progress(bytes written, bytes in all) is called now and then.
    """
    trigrams = distinct([spill.trigrams for spill in spills])
    slots = [np.searchsorted(trigrams, spill.trigrams).astype(np.uint32) for spill in spills]
    sizes, frequency = _measure(spills, slots, len(trigrams))
    offsets = np.zeros(len(trigrams) + 1, np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    segment.column(layout.TRIGRAMS, trigrams, np.uint32)
    segment.column(layout.OFFSETS, offsets, np.uint64)
    segment.column(layout.FREQUENCY, frequency, np.uint32)
    stream = segment.stream(layout.POSTINGS, np.uint8)
    try:
        _copy(spills, slots, offsets, stream.append, progress)
    except BaseException:
        stream.abort()
        raise
    segment.add(layout.POSTINGS, stream.close())
    return int(frequency.sum(dtype=np.int64))


def distinct(parts: Sequence[Array]) -> Array:
    """uint32: every trigram of any part (uint32 each, below 2**24), rising."""
    if sum(map(len, parts)) < _SMALL:
        return np.unique(np.concatenate([np.empty(0, np.uint32), *parts]))
    there = np.zeros(invert.TRIGRAMS, np.bool_)
    for part in parts:
        there[part] = True
    return np.flatnonzero(there).astype(np.uint32)


def _measure(spills: Sequence[Spill], slots: Sequence[Array], n: int) -> tuple[Array, Array]:
    """Bytes and blocks of each joined list."""
    previous, sizes = np.zeros(n, np.uint32), np.zeros(n, np.uint64)
    frequency = np.zeros(n, np.uint32)
    base = 0
    for spill, slot in zip(spills, slots, strict=True):
        postings.measure_join(slot, spill.firsts, spill.lasts, spill.offsets, base, previous, sizes)
        frequency[slot] += spill.frequency
        base += spill.blocks
    return sizes, frequency


def _copy(
    spills: Sequence[Spill],
    slots: Sequence[Array],
    offsets: Array,
    append: Callable[[Array], None],
    progress: Callable[[int, int], None],
) -> None:
    """Write the joined lists, a stretch of them at a time."""
    n = len(offsets) - 1
    position, previous = offsets[:-1].copy(), np.zeros(n, np.uint32)
    first = 0
    while first < n:
        origin = int(offsets[first])
        last = int(np.searchsorted(offsets, origin + STRETCH_BYTES, "right")) - 1
        last = max(last, first + 1)
        out = np.empty(int(offsets[last]) - origin, np.uint8)
        base = 0
        for spill, slot in zip(spills, slots, strict=True):
            begin, end = np.searchsorted(slot, (first, last))
            postings.join(
                slot, spill.firsts, spill.lasts, spill.offsets, spill.data, base,
                int(begin), int(end), previous, position, origin, out,
            )  # fmt: skip
            base += spill.blocks
        append(out)
        progress(int(offsets[last]), int(offsets[-1]))
        first = last
