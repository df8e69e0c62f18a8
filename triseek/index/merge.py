"""When and how segments become one: from the index's own bytes, no user's file is read.

Deltas are folded by size tiers, as log-structured stores do it (Lucene's TieredMergePolicy and
Cassandra's size-tiered compaction are the models): what was just written is small and cheap to
write again, what is large waits until there is as much beside it.

What was racy stays in doubt. A file changed so close to its reading that an edit could hide
behind its times is believed again only once its content has been compared. The merged segment
has one time for all its files (`files_scanned_ns`, the last of its inputs' walks), so of those
that were racy by their own segment's time the change time is forgotten: it differs from any
other, and `engine.settle` compares such a file's content once and then remembers its time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.files.walk import path_order
from triseek.index import retimed, tree
from triseek.index.build import facts_of, full_disk_is_an_error
from triseek.index.fold import write_postings
from triseek.index.reader import Reader
from triseek.index.update import racy, text_bytes
from triseek.kernels import merge as kernel
from triseek.kernels.fetch import STAT_CTIME
from triseek.model.index import Progress, no_progress
from triseek.store import layout, lock, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from triseek.index.reader import View
    from triseek.store.table import Table

Array: TypeAlias = np.ndarray[Any, Any]

FLOOR_BYTES = 1 << 20
"""Text up to which all deltas are of one tier: merging so much takes hardly longer than writing
any segment at all, so smaller ones need not be told apart. docs/decisions/0012 has the figures."""
TIER = 4
"""So many segments of a tier become one."""
SHARE_MAX = 0.25
"""Deltas with more than this share of the text are merged with everything: each of their files is
a part of its own in an answer, where the oldest segment is searched in long stretches."""
SEGMENTS_MAX = 10
"""Live segments beyond which the smallest are merged, whatever their tiers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeReport:
    """What a merge did."""

    generation: int
    merged: int
    """Segments that became one."""
    segments: int
    """Live ones now."""
    files: int
    """Files the merged segment holds."""
    files_dropped: int
    """Dead ones that were left behind."""
    text_bytes: int
    """Bytes of text in the merged segment."""
    postings: int
    """Postings written."""
    elapsed_ms: float = 0.0


def never() -> bool:
    """Do not stop."""
    return False


def due(reader: Reader) -> list[int] | None:
    """Positions of the segments that ought to become one now, rising; None when none ought to."""
    sizes = [live_bytes(view) for view in reader.views]
    written = [int(view.segment.facts["text_bytes"]) for view in reader.views]
    return choose(sizes, [2 * live < whole for live, whole in zip(sizes, written, strict=True)])


def choose(sizes: Sequence[int], mostly_dead: Sequence[bool]) -> list[int] | None:
    """What `due` says of segments, oldest first, with so many bytes of live text."""
    everything = list(range(len(sizes)))
    if mostly_dead[0] or sum(sizes[1:]) > SHARE_MAX * sum(sizes):
        return everything
    tiers = [tier(size) for size in sizes]
    for which in sorted(set(tiers[1:])):
        if tiers[1:].count(which) >= TIER:
            # What is smaller goes along: it would only be written once more.
            return [i for i in everything[1:] if tiers[i] <= which]
    for i in everything:
        if mostly_dead[i]:
            return [i]
    if len(sizes) > SEGMENTS_MAX:
        return sorted(sorted(everything[1:], key=sizes.__getitem__)[: len(sizes) // 2])
    return None


def live_bytes(view: View) -> int:
    """Bytes of text of a segment's live files."""
    return int(view.block_length[view.searchable[view.block_file]].sum(dtype=np.int64))


def tier(size: int) -> int:
    """Which tier a segment with so many bytes of live text is of, by powers of four; from 0."""
    return ((size // FLOOR_BYTES).bit_length() + 1) // 2


def merge_due(
    index_dir: str | os.PathLike[str],
    *,
    progress: Progress = no_progress,
    stop: Callable[[], bool] = never,
) -> list[MergeReport]:
    """Merge until nothing is due, or `stop` says so.

    Raises:
        As `merge`; IndexCorrupt, FormatTooNew, IndexUnavailable: as `Reader.open`.
    """
    reports: list[MergeReport] = []
    while (reader := Reader.open(index_dir)) is not None and (which := due(reader)) is not None:
        report = merge(index_dir, reader, which, progress=progress, stop=stop)
        if report is None:
            break
        reports.append(report)
    return reports


def merge(
    index_dir: str | os.PathLike[str],
    reader: Reader,
    which: Sequence[int],
    *,
    progress: Progress = no_progress,
    stop: Callable[[], bool] = never,
) -> MergeReport | None:
    """Make one segment of those at these positions, and the next generation with it.

    Dead files are left out; nothing of the tree is looked at. The reader goes on seeing its
    generation. None when `stop`, asked now and then, says so: the index is then as it was.

    Raises:
        Busy: another process is writing this index, or has written since the reader was opened.
        StateUnwritable: the state folder cannot be written, or its disk is full.
        IndexCorrupt: a segment is not what was written; a full build is what helps.
    """
    started = time.perf_counter()
    chosen = sorted(set(which))
    with lock.writer(index_dir), full_disk_is_an_error(index_dir):
        if manifest.read(index_dir) != reader.manifest:
            raise errors.Busy("another triseek has just updated this index")
        for i in chosen:
            reader.views[i].segment.verify()
        retimed.restore(reader)
        written = _write(index_dir, reader, chosen, progress, stop)
        if written is None:
            return None
        new, facts = written
        manifest.commit(index_dir, new)
        manifest.sweep(index_dir, new)
    return MergeReport(
        generation=new.generation,
        merged=len(chosen),
        segments=len(new.segments),
        files=facts["files"],
        files_dropped=sum(len(reader.views[i].alive) for i in chosen) - facts["files"],
        text_bytes=facts["text_bytes"],
        postings=facts["postings"],
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


def _write(
    index_dir: str | os.PathLike[str],
    reader: Reader,
    chosen: list[int],
    progress: Progress,
    stop: Callable[[], bool],
) -> tuple[manifest.Manifest, dict[str, Any]] | None:
    """Write the merged segment; the manifest that makes it live, and its facts."""
    old = reader.manifest
    gone = {old.segments[i].id for i in chosen}
    views = [reader.views[i] for i in chosen]
    with SegmentBuilder(index_dir) as segment:
        facts = _write_segment(segment, views, progress, stop)
        if facts is None:
            return None
        if old.tree in gone:
            tables = (reader.directories, reader.watched, reader.excluded)
            facts |= _carry_tree(segment, tables, reader.tree_scanned_ns)
        lives = [
            _keep(segment, reader, i, gone) for i in range(len(old.segments)) if i not in chosen
        ]
        digest = segment.publish(facts)
    # Where the first of them was: the oldest segment, usually the large one, stays in front.
    lives.insert(chosen[0], manifest.Live(segment.id, digest))
    newest = segment.id if old.tree in gone else old.tree
    size = text_bytes(reader)
    return manifest.Manifest(old.generation + 1, old.root, tuple(lives), newest, size), facts


def _carry_tree(
    segment: SegmentBuilder, tables: Sequence[Table], scanned_ns: int
) -> dict[str, Any]:
    tree.carry(segment, dict(zip(tree.TABLES, tables, strict=True)))
    return {"tree_scanned_ns": scanned_ns}


def _keep(segment: SegmentBuilder, reader: Reader, i: int, gone: set[str]) -> manifest.Live:
    """A segment that stays; its dead files move where they live on, should their home go."""
    live = reader.manifest.segments[i]
    if live.home not in gone:
        return live
    return manifest.bury(segment, live, np.flatnonzero(~reader.views[i].alive))


def _write_segment(
    segment: SegmentBuilder,
    views: Sequence[View],
    progress: Progress,
    stop: Callable[[], bool],
) -> dict[str, Any] | None:
    """Write the merged columns and tables; the facts but for the tree's, None when stopped."""
    places = _Places(views)
    remaps = [places.blocks(k) for k in range(len(views))]
    postings = write_postings(
        segment,
        [view.segment for view in views],
        remaps,
        lambda done, total: progress("write", done, total),
        stop,
    )
    if postings is None:
        return None
    blocks = _block_columns(views, places, remaps)
    segment.table("blocks", layout.BLOCKS, blocks)
    files = _file_columns(views, places)
    segment.table("files", layout.FILES, files)
    size = int(blocks["length"].sum(dtype=np.int64))
    return {
        **facts_of(files["path"], files["skip"], places.n_blocks, size, postings),
        # Programs that know of one time only take the first of the walks, which is safe.
        "scanned_ns": min(int(view.segment.facts["scanned_ns"]) for view in views),
        "files_scanned_ns": max(view.scanned_ns for view in views),
    }


class _Places:
    """Where the live files of some segments, and their blocks, go in the merged one."""

    def __init__(self, views: Sequence[View]) -> None:
        self._views = views
        self.alive = [np.flatnonzero(view.alive) for view in views]
        """Per view, int64: its live files."""
        paths = [
            path for view, of in zip(views, self.alive, strict=True) for path in view.names.take(of)
        ]
        keys = list(map(path_order, paths))
        # The inputs are in order, which is what makes sorting them cheap.
        order = sorted(range(len(keys)), key=keys.__getitem__)
        self.order: Array = np.array(order, np.int64)
        """int64[files]: the merged files, numbered through the live ones of all views."""
        self.paths = [paths[i] for i in order]
        place = np.empty(len(order), np.int64)
        place[self.order] = np.arange(len(order))
        edges = np.cumsum([0, *map(len, self.alive)])
        self.files = [self._spread(k, place[edges[k] : edges[k + 1]]) for k in range(len(views))]
        """Per view, int64[its files]: the number in the merged segment, -1 for the dead."""
        self._starts = self._block_starts()
        self.n_blocks = int(self._starts[-1])

    def _spread(self, k: int, place: Array) -> Array:
        spread = np.full(len(self._views[k].alive), -1, np.int64)
        spread[self.alive[k]] = place
        return spread

    def _block_starts(self) -> Array:
        """int64[files + 1]: where the blocks of each merged file begin."""
        counts = np.zeros(len(self.order), np.int64)
        for view, files in zip(self._views, self.files, strict=True):
            kept = view.searchable
            counts[files[kept]] = np.diff(view.edges)[kept]
        return np.concatenate(([0], np.cumsum(counts)))

    def blocks(self, k: int) -> Array:
        """uint32[blocks of view k]: their merged numbers, rising; DROPPED where there is none.

        Raises:
            IndexCorrupt: the segment's files are not in path order.
        """
        view = self._views[k]
        of = view.block_file
        number = self._starts[self.files[k][of]] + np.arange(view.blocks) - view.edges[of]
        # A file that turned out to be binary may have blocks, which say nothing.
        kept = view.searchable[of]
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


def _file_columns(views: Sequence[View], places: _Places) -> dict[str, Any]:
    def joined(column_of: Callable[[View], Array]) -> Array:
        parts = [column_of(view)[of] for view, of in zip(views, places.alive, strict=True)]
        return np.concatenate(parts)[places.order]

    columns: dict[str, Any] = {
        name: joined(lambda view, name=name: view.segment.files.numbers(name))  # type: ignore[misc]
        for name, kind in layout.FILES
        if kind not in ("binary", "string")
    }
    languages = [
        language
        for view, of in zip(views, places.alive, strict=True)
        for language in _languages(view, of)
    ]
    return {
        **columns,
        "path": places.paths,
        "ctime_ns": joined(_believed),
        "language": [languages[i] for i in places.order.tolist()],
    }


def _languages(view: View, of: Array) -> list[str]:
    strings = view.segment.files.strings("language")
    return strings if len(of) == len(strings) else [strings[i] for i in of.tolist()]


def _believed(view: View) -> Array:
    """int64[files]: change times, those accepted later among them; 0 for files in doubt.

    One that was accepted stands for content that was compared when the file had come to rest.
    """
    known = view.stats[:, STAT_CTIME]
    accepted = known != view.segment.files.numbers("ctime_ns")
    return np.where(racy(view.stats, view.scanned_ns) & ~accepted, 0, known)
