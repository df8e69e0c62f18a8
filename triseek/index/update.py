"""Changed paths to one delta segment and tombstones.

Only files that are new or changed are read. The delta holds them; each older segment gets a list
of its files that are dead now; one commit makes both true. Deltas are folded into a fresh whole
once they are many or hold much (tiered merging is `index.merge`'s, when it comes).
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.index import build, retimed, tree
from triseek.index.build import Survey, full_disk_is_an_error, write_segment
from triseek.index.names import NameTable
from triseek.index.reader import Reader
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.store import column, lock, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import View

Array: TypeAlias = np.ndarray[Any, Any]

SEGMENTS_MAX = 8
"""More live segments than this are rebuilt into one."""
SHARE_MAX = 0.25
"""So are deltas that hold more than this share of the files."""


def update(
    root: str, index_dir: str | os.PathLike[str], *, progress: Progress = no_progress
) -> BuildReport:
    """Bring the index up to date with the tree, reading only what changed.

    Without a usable index this is a full build.

    Raises:
        Busy, StateUnwritable: as `build.build`.
    """
    started = time.perf_counter()
    try:
        reader = Reader.open(index_dir)
        if reader is not None:
            # Nothing is written on top of what is damaged.
            reader.verify()
    except (errors.IndexCorrupt, errors.FormatTooNew):
        reader = None
    if reader is None:
        return build.build(root, index_dir, progress=progress)
    retimed.restore(reader)
    scanned_ns = time.time_ns()
    found = build.survey(root, progress)
    difference = _Difference(reader, root, found)
    if difference.is_large:
        return build.build(root, index_dir, progress=progress)
    if not difference.needs_commit:
        _tidy(index_dir, reader)
        return _report(reader, found, difference, 0, started)
    with lock.writer(index_dir), full_disk_is_an_error(index_dir):
        if manifest.read(index_dir) != reader.manifest:
            raise errors.Busy("another triseek has just updated this index")
        return _commit(root, reader, found, difference, scanned_ns, progress, started)


def _tidy(index_dir: str | os.PathLike[str], reader: Reader) -> None:
    """Remove what a writer left that was killed right behind its commit; another may be at work."""
    # Whatever is in the way, the index is up to date, which is all that was asked for.
    with (
        contextlib.suppress(errors.Busy, errors.StateUnwritable, OSError),
        lock.writer(index_dir),
    ):
        if manifest.read(index_dir) == reader.manifest:
            manifest.sweep(index_dir, reader.manifest)


class _Difference:
    """What of a survey the index does not hold as it is."""

    def __init__(self, reader: Reader, root: str, found: Survey) -> None:
        self.reader = reader
        now = _stat(root, found.paths)
        number = {path: i for i, path in enumerate(found.paths)}
        shown = np.array([*found.allowlisted, False], np.bool_)
        held = np.zeros(len(found.paths), np.bool_)
        self.dead: list[Array] = []
        """Per view, int64: files that died just now."""
        self.removed = 0
        for view in reader.views:
            alive = np.flatnonzero(view.alive)
            at = np.array([number.get(path, -1) for path in view.names.take(alive)], np.int64)
            same = (at >= 0) & self._unchanged(view, alive, now, at)
            same &= view.allowlisted[alive] == shown[at]
            held[at[same]] = True
            self.removed += int((at < 0).sum())
            self.dead.append(alive[~same])
        self.changed = np.flatnonzero(~held)
        self.paths = [found.paths[i] for i in self.changed.tolist()]
        self.allowlisted = [found.allowlisted[i] for i in self.changed.tolist()]
        self._tree_changed = _folders_of(reader) != set(found.tree.directories)
        # Without a commit every later sweep would walk the tree for these rules again.
        self._tree_changed |= tree.changed_rules(reader.watched)[0]
        self._total = len(found.paths)

    @staticmethod
    def _unchanged(view: View, alive: Array, now: Array, at: Array) -> Array:
        """Whether each live file's stat is what it was, and not racy."""
        told, current = view.stats[alive], now[at]
        same = np.ones(len(alive), np.bool_)
        for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_CTIME, fetch.STAT_INODE):
            same &= told[:, slot] == current[:, slot]
        newest = np.maximum(told[:, fetch.STAT_MTIME], told[:, fetch.STAT_CTIME])
        racy: Array = newest > int(view.segment.facts["scanned_ns"]) - RACY_NS
        return same & ~racy

    @property
    def needs_commit(self) -> bool:
        """Whether anything differs at all."""
        return bool(len(self.changed) or self._tree_changed) or any(len(d) for d in self.dead)

    @property
    def is_large(self) -> bool:
        """Whether starting anew is the better way."""
        views = self.reader.views
        delta = len(self.changed) + sum(int(view.alive.sum()) for view in views[1:])
        return len(views) >= SEGMENTS_MAX or delta > max(1000, SHARE_MAX * self._total)


RACY_NS = 2_000_000_000
"""See `engine.freshness`: what changed so close to being read is read again."""


def _commit(
    root: str,
    reader: Reader,
    found: Survey,
    difference: _Difference,
    scanned_ns: int,
    progress: Progress,
    started: float,
) -> BuildReport:
    index_dir = reader.index_dir
    with SegmentBuilder(index_dir) as segment:
        facts = write_segment(segment, root, difference.paths, difference.allowlisted, progress)
        tree.write(segment, os.fsencode(root), found.tree)
        lives = _lives(reader, difference.dead, segment)
        digest = segment.publish({**facts, "scanned_ns": scanned_ns})
    generation = reader.generation + 1
    segments = (*lives, manifest.Live(segment.id, digest))
    size = facts["text_bytes"] + _bytes_left(reader, difference.dead)
    new = manifest.Manifest(generation, root, segments, segment.id, size)
    manifest.commit(index_dir, new)
    manifest.sweep(index_dir, new)
    updated = Reader.open(index_dir)
    assert updated is not None  # noqa: S101 - it was committed just now
    return _report(updated, found, difference, facts["postings"], started)


def _lives(
    reader: Reader, dead_now: Sequence[Array], segment: SegmentBuilder
) -> list[manifest.Live]:
    """The older segments with their dead files as of now."""
    lives = []
    for live, view, newly in zip(reader.manifest.segments, reader.views, dead_now, strict=True):
        if not len(newly):
            lives.append(live)
            continue
        dead = np.sort(np.concatenate((np.flatnonzero(~view.alive), newly)))
        name = f"dead.{live.id}"
        entry = column.write(segment.folder / f"{name}.npy", dead, np.uint32)
        lives.append(manifest.Live(live.id, live.xxh3, f"{segment.id}/{name}", entry))
    return lives


def _report(
    reader: Reader, found: Survey, difference: _Difference, postings: int, started: float
) -> BuildReport:
    return BuildReport(
        generation=reader.generation,
        rebuilt_full=False,
        files_seen=len(found.paths),
        files_indexed=sum(int(view.searchable.sum()) for view in reader.views),
        files_changed=len(difference.paths),
        files_removed=difference.removed,
        text_bytes=text_bytes(reader),
        postings=postings,
        skipped=found.skipped,
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


def text_bytes(reader: Reader) -> int:
    """Bytes of text that can be searched now."""
    return _bytes_left(reader, [np.empty(0, np.int64) for _ in reader.views])


def _bytes_left(reader: Reader, dead: Sequence[Array]) -> int:
    """Bytes of text in the reader's files without those that have just died."""
    total = 0
    for view, newly in zip(reader.views, dead, strict=True):
        searchable = view.searchable.copy()
        searchable[newly] = False
        total += int(view.block_length[searchable[view.block_file]].sum(dtype=np.int64))
    return total


def _folders_of(reader: Reader) -> set[bytes]:
    return set(reader.directories.names("path").all())


def _stat(root: str, paths: Sequence[bytes]) -> Array:
    """int64[n + 1, STAT_SLOTS]: every path's stat; the last row, for index -1, is nothing's."""
    rows = np.zeros((len(paths) + 1, fetch.STAT_SLOTS), np.int64)
    names = NameTable(paths)
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        rows[:-1] = stat_all(directory, names.blob, names.starts)
    finally:
        os.close(directory)
    return rows


def stat_all(directory: int, blob: Array, starts: Array) -> Array:
    """int64[n, STAT_SLOTS]: the stat of every name below an open directory, links not followed."""
    n = len(starts) - 1
    flat = np.zeros(n * fetch.STAT_SLOTS, np.int64)
    if fetch.is_available():
        scratch = np.zeros(fetch.SCRATCH_BYTES, np.uint8)
        fetch.stat_many(directory, blob, starts, 0, n, scratch, flat)
        return flat.reshape(-1, fetch.STAT_SLOTS)
    rows = flat.reshape(-1, fetch.STAT_SLOTS)
    for i in range(n):
        rows[i] = fetch.stat_slowly(directory, blob[starts[i] : starts[i + 1]].tobytes())
    return rows
