"""Write a segment's four posting columns: from the spills of a build, or from older segments.

`join` is for a build: its spills hold consecutive blocks, so their lists are copied one after the
other. `fold` is for a merge: the lists of older segments are renumbered and merged. Both work on
one stretch of trigrams at a time, so memory is bounded by the stretch, not by the index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.kernels import invert, merge, postings
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.index.batch import Spill
    from triseek.model.index import Progress
    from triseek.store.segment import Segment, SegmentBuilder

Array: TypeAlias = np.ndarray[Any, Any]

JOINED_BYTES = 48 << 20
"""Bytes of postings joined at a time."""
FOLDED_POSTINGS = 4 << 20
"""Postings merged at a time, unless one list holds more; takes some 40 MB of buffers."""
_SMALL = 1 << 20
Stop: TypeAlias = Callable[[], bool]
"""Returns True to end a merge early."""


class Stopped(Exception):
    """The `stop` callback returned True."""


def join(segment: SegmentBuilder, spills: Sequence[Spill], progress: Progress) -> int:
    """Join the lists of spills into the posting columns; return the number of postings.

    The size of each joined list is computed first, in a pass of its own.

    spills: in block order. `progress` is told the bytes written.
    """
    trigrams = distinct([spill.trigrams for spill in spills])
    slots = [np.searchsorted(trigrams, spill.trigrams).astype(np.uint32) for spill in spills]
    n, base = len(trigrams), 0
    frequency, previous = np.zeros(n, np.uint32), np.zeros(n, np.uint32)
    sizes = np.zeros(n, np.uint64)
    for spill, slot in zip(spills, slots, strict=True):
        postings.measure_join(slot, spill.firsts, spill.lasts, spill.offsets, base, previous, sizes)
        frequency[slot] += spill.frequency
        base += spill.blocks
    offsets = np.zeros(len(trigrams) + 1, np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    total = _write_columns(segment, trigrams, offsets, frequency)
    position, previous = offsets[:-1].copy(), np.zeros(len(trigrams), np.uint32)
    with segment.stream(layout.POSTINGS, np.uint8) as stream:
        for first, last in _stretches(offsets, JOINED_BYTES):
            origin = int(offsets[first])
            out = np.empty(int(offsets[last]) - origin, np.uint8)
            base = 0
            for spill, slot in zip(spills, slots, strict=True):
                begin, end = np.searchsorted(slot, (first, last))
                postings.join(
                    slot, spill.firsts, spill.lasts, spill.offsets, spill.data, base,
                    int(begin), int(end), previous, position, origin, out,
                )  # fmt: skip
                base += spill.blocks
            stream.append(out)
            progress("write", int(offsets[last]), int(offsets[-1]))
    return total


def fold(
    segment: SegmentBuilder,
    sources: Sequence[Segment],
    remaps: Sequence[Array],
    progress: Progress,
    stop: Stop,
) -> int:
    """Merge the lists of older segments into the posting columns; return the number of postings.

    Trigrams that only dead files had are left out.

    remaps: per source, uint32[blocks], see `kernels.merge`. stop() is called, and `progress` told
    the postings done, once per stretch.

    Raises:
        IndexCorrupt: a source's lists are damaged.
        Stopped: stop() returned True.
    """
    # Sources with few blocks come first, see the kernel.
    order = sorted(range(len(sources)), key=lambda k: len(remaps[k]))
    trigrams = distinct([source.trigrams for source in sources])
    lists = [_Source(sources[k], remaps[k], trigrams) for k in order]
    room = np.zeros(len(trigrams), np.int64)
    for source in lists:
        room[source.slots] += source.frequency
    starts: Array = np.concatenate((np.zeros(1, np.int64), np.cumsum(room)))
    stretches = list(_stretches(starts, FOLDED_POSTINGS))
    sizes, frequency = np.zeros(len(trigrams), np.int64), np.zeros(len(trigrams), np.int64)
    most = max((int(starts[last] - starts[first]) for first, last in stretches), default=0)
    numbers, out = np.empty(most, np.uint32), np.empty(5 * most, np.uint8)
    scratch = np.empty(int(room.max(initial=0)), np.uint32)
    with segment.stream(layout.POSTINGS, np.uint8) as stream:
        for first, last in stretches:
            if stop():
                raise Stopped
            places, counts = starts[first : last + 1] - starts[first], frequency[first:last]
            for source in lists:
                source.gather(first, last, places, counts, numbers, scratch)
            ends = np.empty(last - first, np.int64)
            size = merge.encode(numbers, places, counts, out, ends)
            sizes[first:last] = np.diff(ends, prepend=0)
            stream.append(out[:size])
            progress("write", int(starts[last]), int(starts[-1]))
    kept = frequency > 0
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes[kept])))
    return _write_columns(segment, trigrams[kept], offsets, frequency[kept])


def _write_columns(
    segment: SegmentBuilder, trigrams: Array, offsets: Array, frequency: Array
) -> int:
    """Write the columns beside the postings; return the number of postings."""
    segment.column(layout.TRIGRAMS, trigrams, np.uint32)
    segment.column(layout.OFFSETS, offsets, np.uint64)
    segment.column(layout.FREQUENCY, frequency, np.uint32)
    return int(frequency.sum(dtype=np.int64))


def _stretches(starts: Array, size: int) -> Iterator[tuple[int, int]]:
    """Cut the lists into stretches of at most `size`, but of one list at least.

    `starts` says where each list begins. Yields (first, last) of lists first..last-1.
    """
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, int(starts[first]) + size, "right")) - 1
        last = max(last, first + 1)
        yield first, last
        first = last


def distinct(parts: Sequence[Array]) -> Array:
    """Return the distinct trigrams of all parts (uint32, below 2**24), as uint32, ascending."""
    if sum(map(len, parts)) < _SMALL:
        return np.unique(np.concatenate([np.empty(0, np.uint32), *parts]))
    present = np.zeros(invert.TRIGRAMS, np.bool_)
    for part in parts:
        present[part] = True
    return np.flatnonzero(present).astype(np.uint32)


class _Source:
    """The posting lists of one source segment."""

    def __init__(self, segment: Segment, remap: Array, trigrams: Array) -> None:
        self._segment = segment
        self._remap = remap
        self._offsets, self.frequency = segment.offsets, segment.frequency
        self.slots = np.searchsorted(trigrams, segment.trigrams).astype(np.uint32)
        """uint32[trigrams of the source]: the number of the merged list for each list."""
        if bool((self.frequency > len(remap)).any()):
            raise errors.IndexCorrupt(f"a list of {segment.folder} has more blocks than there are")

    def gather(
        self, first: int, last: int, room: Array, counts: Array, numbers: Array, scratch: Array
    ) -> None:
        """Add this source's part of the merged lists first..last-1; see the kernel."""
        begin, end = np.searchsorted(self.slots, np.array((first, last), np.uint32)).tolist()
        column = self._segment.postings
        column.verify(int(self._offsets[begin]), int(self._offsets[end]))
        done = merge.gather(
            column.values, self._offsets, self.frequency, begin, end, self.slots, first,
            self._remap, room, counts, numbers, scratch,
        )  # fmt: skip
        # All postings are read once; without this they would all stay in this process's memory.
        column.release()
        if done < 0:
            trigram = int(self._segment.trigrams[-1 - done])
            raise errors.IndexCorrupt(
                f"posting list {trigram:#08x} of {self._segment.id} is damaged"
            )
