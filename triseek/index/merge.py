"""Merging: when segments are merged into one, and how. Only the index is read, no user file.

Deltas are folded by size tiers, as in log-structured stores (Lucene's TieredMergePolicy and
Cassandra's size-tiered compaction are the models): a recent segment is small and cheap to write
again; a large one waits until there is as much text beside it.

Racy files stay racy. A file that changed so close to its reading that a later edit could have the
same times is trusted again only after its content was compared. The merged segment has one time
for all its files (`files_scanned_ns`, the last of its inputs' walks). So the change time of files
that were racy by their own segment's time is set to 0, which differs from any other:
`engine.freshness.racy_files` compares such a file's content once and then remembers its time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.files.tree.walk import path_order
from triseek.index import retimed, tree
from triseek.index.build import Columns, counts_of, writing
from triseek.index.posting_columns import Stop, Stopped, fold
from triseek.index.reader import IndexReader
from triseek.index.update import racy
from triseek.kernels import merge as kernel
from triseek.kernels.fetch import STAT_CTIME
from triseek.model.index import Progress, no_progress
from triseek.store import layout, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from triseek.index.reader import View
    from triseek.store.segment import Facts

Array: TypeAlias = np.ndarray[Any, Any]

FLOOR_BYTES = 1 << 20
"""Bytes of text below which all deltas are in one tier: merging that much takes hardly longer than
writing any segment, so smaller sizes need no tiers. docs/decisions/0012 has the figures."""
TIER = 4
"""The number of segments of a tier that are merged."""
SHARE_MAX = 0.25
"""If deltas hold more than this share of the text, all segments are merged: each file of a delta is
searched as a part of its own, where the oldest segment is searched in long stretches."""
SEGMENTS_MAX = 10
"""Beyond this number of live segments the smallest are merged, whatever their tiers."""


def never() -> bool:
    """Default `stop` callback: always False."""
    return False


def due(reader: IndexReader) -> list[int] | None:
    """Return the positions of the segments to merge now, ascending; None if no merge is due."""
    sizes = [view.text_bytes() for view in reader.views]
    written = [view.segment.facts["text_bytes"] for view in reader.views]
    return choose(sizes, [2 * live < whole for live, whole in zip(sizes, written, strict=True)])


def choose(sizes: Sequence[int], mostly_dead: Sequence[bool]) -> list[int] | None:
    """Return what `due` does, from the segments' bytes of live text, oldest first."""
    everything = list(range(len(sizes)))
    if mostly_dead[0] or sum(sizes[1:]) > SHARE_MAX * sum(sizes):
        return everything
    tiers = [tier(size) for size in sizes]
    for which in sorted(set(tiers[1:])):
        if tiers[1:].count(which) >= TIER:
            # Smaller ones are merged too, or they would have to be written once more later.
            return [i for i in everything[1:] if tiers[i] <= which]
    for i in everything:
        if mostly_dead[i]:
            return [i]
    if len(sizes) > SEGMENTS_MAX:
        return sorted(sorted(everything[1:], key=sizes.__getitem__)[: len(sizes) // 2])
    return None


def tier(size: int) -> int:
    """Return the tier of a segment with `size` bytes of live text: powers of four, from 0."""
    return ((size // FLOOR_BYTES).bit_length() + 1) // 2


def merge_due(
    index_dir: str | os.PathLike[str],
    *,
    progress: Progress = no_progress,
    stop: Stop = never,
) -> manifest.Manifest | None:
    """Merge until no merge is due, or `stop` returns True; return the last merge's manifest.

    Returns None if there was no merge.

    Raises:
        As for `merge`; IndexCorrupt, FormatTooNew, IndexUnavailable: as for `IndexReader.open`.
    """
    last: manifest.Manifest | None = None
    while (reader := IndexReader.open(index_dir)) and (which := due(reader)):
        merged = merge(index_dir, reader, which, progress=progress, stop=stop)
        if merged is None:
            break
        last = merged
    return last


def merge(
    index_dir: str | os.PathLike[str],
    reader: IndexReader,
    which: Sequence[int],
    *,
    progress: Progress = no_progress,
    stop: Stop = never,
) -> manifest.Manifest | None:
    """Merge the segments at these positions into one; commit and return the next generation.

    Dead files are left out. The tree is not read. The reader keeps seeing its generation. `stop`
    is called now and then; when it returns True the result is None and the index is unchanged.

    Raises:
        Busy: another process is writing this index, or has written since the reader was opened.
        StateUnwritable: the state folder cannot be written, or its disk is full.
        IndexCorrupt: a segment is damaged; a full build repairs it.
    """
    chosen = sorted(set(which))
    try:
        with writing(index_dir, reader):
            for i in chosen:
                reader.views[i].segment.verify()
            retimed.restore(reader)
            new = _write(reader, chosen, progress, stop)
            manifest.commit(index_dir, new)
    except Stopped:
        return None
    return new


def _write(
    reader: IndexReader, chosen: list[int], progress: Progress, stop: Stop
) -> manifest.Manifest:
    """Write the merged segment; return the manifest that makes it live."""
    old = reader.manifest
    gone = {old.segments[i].id for i in chosen}
    views = [reader.views[i] for i in chosen]
    with SegmentBuilder(reader.index_dir) as segment:
        facts = _write_segment(segment, views, progress, stop)
        if old.tree in gone:
            tree.carry(segment, (reader.directories, reader.watched, reader.excluded))
            facts["tree_scanned_ns"] = reader.tree_scanned_ns
        lives = []
        for live, view in zip(old.segments, reader.views, strict=True):
            if live.home in gone and live.id not in gone:
                # Its dead files are written anew, because the segment that holds them is merged.
                lives.append(manifest.bury(segment, live, np.flatnonzero(~view.alive)))
            elif live.id not in gone:
                lives.append(live)
        digest = segment.publish(facts)
    # It takes the place of its first input, so the oldest segment, usually large, stays first.
    lives.insert(chosen[0], manifest.Live(segment.id, digest))
    newest = segment.id if old.tree in gone else old.tree
    size = reader.text_bytes()
    return manifest.Manifest(old.generation + 1, old.root, tuple(lives), newest, size)


def _write_segment(
    segment: SegmentBuilder, views: Sequence[View], progress: Progress, stop: Stop
) -> Facts:
    """Write the merged columns and tables; return the facts without the tree's."""
    places = _Places(views)
    remaps = [places.blocks(k) for k in range(len(views))]
    postings = fold(segment, [view.segment for view in views], remaps, progress, stop)
    blocks = _block_columns(views, places, remaps)
    segment.table("blocks", layout.BLOCKS, blocks)
    files = _file_columns(views, places)
    segment.table("files", layout.FILES, files)
    size = int(blocks["length"].sum(dtype=np.int64))
    return {
        **counts_of(places.paths, np.asarray(files["skip"]), places.n_blocks, size, postings),
        # Programs that know only this time use that of the first walk, which is safe.
        "scanned_ns": min(view.segment.facts["scanned_ns"] for view in views),
        "files_scanned_ns": max(view.scanned_ns for view in views),
    }


class _Places:
    """The numbers of the live files of some segments, and their blocks, in the merged one."""

    def __init__(self, views: Sequence[View]) -> None:
        self._views = views
        self.alive = [np.flatnonzero(view.alive) for view in views]
        """Per view, int64: the numbers of its live files."""
        paths = [
            path
            for view, alive in zip(views, self.alive, strict=True)
            for path in view.names.take(alive)
        ]
        keys = list(map(path_order, paths))
        # Each input is sorted already, which makes sorting their concatenation cheap.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.order: Array = np.array(order, np.int64)
        """int64[files]: for each merged file, its number among the live files of all views."""
        self.paths = [paths[i] for i in order]
        place = np.empty(len(order), np.int64)
        place[self.order] = np.arange(len(order))
        edges = np.cumsum([0, *map(len, self.alive)])
        self.files = [np.full(len(view.alive), -1, np.int64) for view in views]
        """Per view, int64[its files]: the file's number in the merged segment, -1 if dead."""
        for k, alive in enumerate(self.alive):
            self.files[k][alive] = place[edges[k] : edges[k + 1]]
        counts = np.zeros(len(order), np.int64)
        for view, files in zip(views, self.files, strict=True):
            kept = view.searchable
            counts[files[kept]] = np.diff(view.edges)[kept]
        self._starts: Array = np.concatenate(([0], np.cumsum(counts)))
        """int64[files + 1]: the first block of each merged file."""
        self.n_blocks = int(self._starts[-1])

    def blocks(self, k: int) -> Array:
        """Return uint32[blocks of view k]: their merged numbers, ascending; DROPPED if left out.

        Raises:
            IndexCorrupt: the segment's files are not in path order.
        """
        view = self._views[k]
        file = view.block_file
        number = self._starts[self.files[k][file]] + np.arange(view.blocks) - view.edges[file]
        # A file that turned out to be binary may have blocks, which are meaningless.
        kept = view.searchable[file]
        if bool((np.diff(number[kept]) <= 0).any()):
            raise errors.IndexCorrupt(f"the files of {view.segment.folder} are not in path order")
        return np.where(kept, number, kernel.DROPPED).astype(np.uint32)


def _block_columns(
    views: Sequence[View], places: _Places, remaps: Sequence[Array]
) -> dict[str, Array]:
    columns = {name: np.empty(places.n_blocks, kind) for name, kind in layout.BLOCKS}
    for view, files, remap in zip(views, places.files, remaps, strict=True):
        kept = remap != kernel.DROPPED
        at = remap[kept]
        columns["file"][at] = files[view.block_file[kept]]
        for name in ("offset", "length", "first_line", "flags"):
            columns[name][at] = view.segment.blocks.numbers(name)[kept]
    return columns


def _file_columns(views: Sequence[View], places: _Places) -> Columns:
    def joined(column_of: Callable[[View], Array]) -> Array:
        parts = [column_of(view)[alive] for view, alive in zip(views, places.alive, strict=True)]
        return np.concatenate(parts)[places.order]

    columns: Columns = {
        name: joined(lambda view, name=name: view.segment.files.numbers(name))  # type: ignore[misc]
        for name, kind in layout.FILES
        if kind not in ("binary", "string")
    }
    languages: list[str] = []
    for view, alive in zip(views, places.alive, strict=True):
        strings = view.segment.files.strings("language")
        languages += strings if len(alive) == len(strings) else [strings[i] for i in alive.tolist()]
    return {
        **columns,
        "path": places.paths,
        "ctime_ns": joined(_believed),
        "language": [languages[i] for i in places.order.tolist()],
    }


def _believed(view: View) -> Array:
    """Return int64[files]: the change times, including accepted ones; 0 for racy files.

    A change time was accepted if the content was compared after the file had come to rest.
    """
    ctimes = view.stats[:, STAT_CTIME]
    accepted = ctimes != view.segment.files.numbers("ctime_ns")
    return np.where(racy(view.stats, view.scanned_ns) & ~accepted, 0, ctimes)
