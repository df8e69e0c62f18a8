"""Fold the posting lists of several segments into one segment's four posting columns.

A stretch of trigrams at a time: each segment's lists of it are renumbered into one buffer, merged
there and written out, so memory is bounded by the stretch and not by the index.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.index.join import distinct
from triseek.kernels import merge
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.store.segment import Segment, SegmentBuilder

Array: TypeAlias = np.ndarray[Any, Any]

STRETCH = 4 << 20
"""Postings merged at a time, but for a list that holds more: some 40 MB of buffers."""


def write_postings(
    segment: SegmentBuilder,
    sources: Sequence[Segment],
    remaps: Sequence[Array],
    progress: Callable[[int, int], None],
    stop: Callable[[], bool],
) -> int | None:
    """Write the trigram, offset, frequency and posting columns; the number of postings.

    remaps: per source, uint32[blocks], see `kernels.merge`. progress(postings done, in all) and
    stop() are called stretch by stretch; None when it said to stop.

    Raises:
        IndexCorrupt: a source's lists are not what was written.
    """
    fold = _Fold(sources, remaps)
    stream = segment.stream(layout.POSTINGS, np.uint8)
    try:
        for first, last in fold.stretches:
            if stop():
                stream.abort()
                return None
            stream.append(fold.stretch(first, last))
            progress(int(fold.starts[last]), int(fold.starts[-1]))
    except BaseException:
        stream.abort()
        raise
    segment.add(layout.POSTINGS, stream.close())
    return fold.write_columns(segment)


class _Fold:
    """Where each list of each source goes, and what has come of it so far."""

    def __init__(self, sources: Sequence[Segment], remaps: Sequence[Array]) -> None:
        # Few blocks first, see the kernel.
        order = sorted(range(len(sources)), key=lambda k: len(remaps[k]))
        self._sources = [_Source(sources[k], remaps[k]) for k in order]
        self._trigrams = distinct([source.trigrams for source in self._sources])
        n = len(self._trigrams)
        room = np.zeros(n, np.int64)
        for source in self._sources:
            source.slots = np.searchsorted(self._trigrams, source.trigrams).astype(np.uint32)
            room[source.slots] += source.frequency
        self.starts: Array = np.concatenate((np.zeros(1, np.int64), np.cumsum(room)))
        """int64[trigrams + 1]: how many postings of the sources come before each list."""
        self.stretches = list(_stretches(self.starts))
        """(first, last) of the lists that are merged at a time."""
        self._sizes, self._frequency = np.zeros(n, np.int64), np.zeros(n, np.int64)
        most = max((int(self.starts[b] - self.starts[a]) for a, b in self.stretches), default=0)
        self._numbers, self._out = np.empty(most, np.uint32), np.empty(5 * most, np.uint8)
        self._scratch = np.empty(int(room.max(initial=0)), np.uint32)

    def stretch(self, first: int, last: int) -> Array:
        """uint8: the merged lists first..last-1."""
        room = self.starts[first : last + 1] - self.starts[first]
        counts = self._frequency[first:last]
        for source in self._sources:
            source.gather(first, last, room, counts, self._numbers, self._scratch)
        ends = np.empty(last - first, np.int64)
        size = merge.encode(self._numbers, room, counts, self._out, ends)
        self._sizes[first:last] = np.diff(ends, prepend=0)
        return self._out[:size]

    def write_columns(self, segment: SegmentBuilder) -> int:
        """Write what says where the lists are; the number of postings.

        A trigram that only dead files had is left out.
        """
        kept = self._frequency > 0
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(self._sizes[kept])))
        segment.column(layout.TRIGRAMS, self._trigrams[kept], np.uint32)
        segment.column(layout.OFFSETS, offsets, np.uint64)
        segment.column(layout.FREQUENCY, self._frequency[kept], np.uint32)
        return int(self._frequency.sum())


class _Source:
    """One segment's lists."""

    def __init__(self, segment: Segment, remap: Array) -> None:
        self._segment = segment
        self._remap = remap
        self.trigrams, self._offsets = segment.trigrams, segment.offsets
        self.frequency = segment.frequency
        self.slots = np.empty(0, np.uint32)
        """uint32: the merged list that each of ours is part of."""
        if bool((self.frequency > len(remap)).any()):
            raise errors.IndexCorrupt(f"a list of {segment.folder} has more blocks than there are")

    def gather(
        self, first: int, last: int, room: Array, counts: Array, numbers: Array, scratch: Array
    ) -> None:
        """Add our part of the merged lists first..last-1; see the kernel."""
        begin, end = np.searchsorted(self.slots, np.array((first, last), np.uint32)).tolist()
        postings = self._segment.postings
        postings.verify(int(self._offsets[begin]), int(self._offsets[end]))
        done = merge.gather(
            postings.values, self._offsets, self.frequency, begin, end, self.slots, first,
            self._remap, room, counts, numbers, scratch,
        )  # fmt: skip
        # It passes over all postings once: they would all count as memory of this process.
        postings.release()
        if done < 0:
            trigram = int(self.trigrams[-1 - done])
            raise errors.IndexCorrupt(
                f"posting list {trigram:#08x} of {self._segment.id} is damaged"
            )


def _stretches(starts: Array) -> Iterator[tuple[int, int]]:
    """Cut lists, of which `starts` says how many postings come before each, into stretches."""
    first, n = 0, len(starts) - 1
    while first < n:
        last = int(np.searchsorted(starts, starts[first] + STRETCH, "right")) - 1
        last = min(max(last, first + 1), n)
        yield first, last
        first = last
