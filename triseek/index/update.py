"""Incremental updates: write changed files to one delta segment, and tombstones for old versions.

Only new and changed files are read. The delta holds them, and each older segment gets a list of
its files that are dead now; one commit makes both live. `commit_changed` is for a caller that
knows the changes; `update` walks the tree and compares first. `index.merge` folds deltas together.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.index import build, retimed, tree
from triseek.index.build import unreadable, write_segment, writing
from triseek.index.reader import IndexReader
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.store import lock, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.files.tree.walk import Walk
    from triseek.index.reader import View
    from triseek.index.tree import Tree
    from triseek.model.search import Skipped
    from triseek.store.segment import Counts

Array: TypeAlias = np.ndarray[Any, Any]

RACY_NS = 2_000_000_000
"""A file that changed less than this before it was read is racy: see `engine.freshness.sweep`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """The difference between a tree and one reader's generation."""

    dead: list[Array]
    """Per view, int64: live files that changed, vanished or are no longer listed."""
    paths: list[bytes]
    """New and changed files to read, each once, in path order. An older version of such a file
    must be in `dead`, or a search would find it twice."""
    allowlisted: set[bytes]
    """Those of `paths` in hidden places that ripgrep would leave out."""
    tree: Tree | None
    """The current directories, excluded entries and ignore files; None if they are as in the
    reader's newest tables."""
    scanned_ns: int
    """`time.time_ns()` from before the scan that found these changes."""
    removed: int
    """The number of files that are gone, for the report."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to commit."""
        return not self.paths and self.tree is None and not any(len(dead) for dead in self.dead)


def update(
    root: str, index_dir: str | os.PathLike[str], *, progress: Progress = no_progress
) -> BuildReport:
    """Bring the index up to date with the tree, reading only what changed.

    Without a usable index this is a full build.

    Raises:
        Busy, StateUnwritable: as for `build.build`.
    """
    started = time.perf_counter()
    try:
        reader = IndexReader.open(index_dir)
        if reader is not None:
            # A damaged index is rebuilt, not extended.
            reader.verify()
    except (errors.IndexCorrupt, errors.FormatTooNew):
        reader = None
    if reader is None:
        return build.build(root, index_dir, progress=progress)
    retimed.restore(reader)
    scanned_ns = time.time_ns()
    walked, tables = build.survey(root, progress)
    changed = _difference(reader, root, walked, tables, scanned_ns)
    if changed.is_empty:
        _tidy(index_dir, reader)
        return _report(reader, changed, walked.skipped, started)
    report = commit_changed(root, reader, changed, progress=progress)
    skipped, elapsed_ms = [*walked.skipped, *report.skipped], (time.perf_counter() - started) * 1e3
    return replace(report, skipped=skipped, elapsed_ms=elapsed_ms)


def commit_changed(
    root: str, reader: IndexReader, changed: Changed, *, progress: Progress = no_progress
) -> BuildReport:
    """Commit known changes as the next generation; of the tree, only `changed.paths` are read.

    reader: of the current generation; it keeps seeing that one. `skipped` of the report lists the
    paths that cannot be read.

    Raises:
        Busy: another process is writing this index, or has written since the reader was opened.
        StateUnwritable: the state folder cannot be written, or its disk is full; the previous
            index is unchanged.
        IndexCorrupt: the index's data about the remaining files is damaged.
    """
    started = time.perf_counter()
    index_dir, old = reader.index_dir, reader.manifest
    with writing(index_dir, reader):
        with SegmentBuilder(index_dir) as segment:
            counts = write_segment(segment, root, changed.paths, changed.allowlisted, progress)
            if changed.tree is not None:
                tree.write(segment, os.fsencode(root), changed.tree)
            lives = []
            for live, view, dead in zip(old.segments, reader.views, changed.dead, strict=True):
                if len(dead):
                    gone = ~view.alive
                    gone[dead] = True
                    live = manifest.bury(segment, live, np.flatnonzero(gone))
                lives.append(live)
            digest = segment.publish({**counts, "scanned_ns": changed.scanned_ns})
        segments = (*lives, manifest.Live(segment.id, digest))
        newest = old.tree if changed.tree is None else segment.id
        left = zip(reader.views, changed.dead, strict=True)
        size = counts["text_bytes"] + sum(view.text_bytes(dead) for view, dead in left)
        new = manifest.Manifest(old.generation + 1, root, segments, newest, size)
        manifest.commit(index_dir, new)
    return _report(reader, changed, unreadable(counts), started, new, counts)


def _tidy(index_dir: str | os.PathLike[str], reader: IndexReader) -> None:
    """Remove files of a writer that was killed right after its commit, unless one is active."""
    # Errors are ignored: the index is up to date, which is all that the caller wants.
    with (
        contextlib.suppress(errors.Busy, errors.StateUnwritable, OSError),
        lock.writer(index_dir),
    ):
        if manifest.read(index_dir) == reader.manifest:
            manifest.sweep(index_dir, reader.manifest)


def _difference(
    reader: IndexReader, root: str, walked: Walk, tables: Tree, scanned_ns: int
) -> Changed:
    """Return the difference between a survey of the tree and the index."""
    paths = walked.paths
    now = _stat(root, paths)
    number = {path: i for i, path in enumerate(paths)}
    shown = np.array([*(path in walked.allowlisted for path in paths), False], np.bool_)
    held = np.zeros(len(paths), np.bool_)
    dead, removed = [], 0
    for view in reader.views:
        alive = np.flatnonzero(view.alive)
        at = np.array([number.get(path, -1) for path in view.names.take(alive)], np.int64)
        same = (at >= 0) & _unchanged(view, alive, now, at)
        same &= view.allowlisted[alive] == shown[at]
        held[at[same]] = True
        removed += int((at < 0).sum())
        dead.append(alive[~same])
    changed = [paths[i] for i in np.flatnonzero(~held).tolist()]
    fresh = bool(changed) or any(len(numbers) for numbers in dead) or _differs(reader, tables)
    return Changed(
        dead=dead,
        paths=changed,
        allowlisted=walked.allowlisted.intersection(changed),
        tree=tables if fresh else None,
        scanned_ns=scanned_ns,
        removed=removed,
    )


def _differs(reader: IndexReader, tables: Tree) -> bool:
    """Return whether the folders or ignore files differ from those in the index.

    They may although no file is new, changed or gone.
    """
    folders = set(reader.directories.names("path").all())
    # Without a commit every later sweep would walk the tree again because of these rules.
    return folders != set(tables.directories) or tree.changed_rules(reader.watched)[0]


def _unchanged(view: View, alive: Array, now: Array, at: Array) -> Array:
    """Return bool[live files]: whether each file's stat is as stored, and not racy."""
    stored, current = view.stats[alive], now[at]
    slots = [fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_CTIME, fetch.STAT_INODE]
    same: Array = (stored[:, slots] == current[:, slots]).all(axis=1)
    return same & ~racy(stored, view.scanned_ns)


def racy(stats: Array, scanned_ns: int) -> Array:
    """Return bool[n]: rows so recent when they were taken that a later edit could look the same."""
    newest = np.maximum(stats[:, fetch.STAT_MTIME], stats[:, fetch.STAT_CTIME])
    young: Array = newest >= scanned_ns - RACY_NS
    return young


def _report(
    reader: IndexReader,
    changed: Changed,
    skipped: Sequence[Skipped],
    started: float,
    new: manifest.Manifest | None = None,
    counts: Counts | None = None,
) -> BuildReport:
    """Return the report of an update of the reader's generation."""
    alive = searchable = 0
    for view, newly in zip(reader.views, changed.dead, strict=True):
        alive += int(view.alive.sum()) - len(newly)
        searchable += int(view.searchable.sum()) - int(view.searchable[newly].sum())
    return BuildReport(
        generation=(new or reader.manifest).generation,
        rebuilt_full=False,
        files_seen=alive + len(changed.paths),
        files_indexed=searchable + (counts["searchable"] if counts else 0),
        files_changed=len(changed.paths),
        files_removed=changed.removed,
        text_bytes=new.text_bytes if new else reader.text_bytes(),
        postings=counts["postings"] if counts else 0,
        skipped=list(skipped),
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


def _stat(root: str, paths: Sequence[bytes]) -> Array:
    """Return int64[n + 1, STAT_SLOTS]: each path's stat; the last row (index -1) is all zeros."""
    rows = np.zeros((len(paths) + 1, fetch.STAT_SLOTS), np.int64)
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        rows[:-1] = tree.stat_all(directory, paths)
    finally:
        os.close(directory)
    return rows
