"""Changed paths to one delta segment and tombstones.

Only files that are new or changed are read. The delta holds them; each older segment gets a list
of its files that are dead now; one commit makes both true. Who knows what changed commits it
(`commit_changed`), who does not walks and compares first (`update`). Deltas are folded together
by `index.merge`.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.index import build, retimed, tree
from triseek.index.build import Survey, facts_skipped, full_disk_is_an_error, write_segment
from triseek.index.changed import Changed
from triseek.index.names import NameTable
from triseek.index.reader import Reader
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.store import lock, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import View
    from triseek.model.search import Skipped

Array: TypeAlias = np.ndarray[Any, Any]

RACY_NS = 2_000_000_000
"""See `engine.freshness`: what changed so close to being read is read again."""


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
    changed = _difference(reader, root, found, scanned_ns)
    if changed.is_empty:
        _tidy(index_dir, reader)
        return _report(reader, changed, found.skipped, started)
    return _commit(root, reader, changed, found.skipped, progress, started)


def commit_changed(
    root: str, reader: Reader, changed: Changed, *, progress: Progress = no_progress
) -> BuildReport:
    """Make the next generation of what is known to have changed; reads `changed.paths` alone.

    reader: of the current generation; it goes on seeing the old one. `skipped` of the report
    lists those of the paths that cannot be read.

    Raises:
        Busy: another process is writing this index, or has written since the reader was opened.
        StateUnwritable: the state folder cannot be written, or its disk is full; what was there
            before is untouched.
        IndexCorrupt: what the index says of the files that remain is not what was written.
    """
    return _commit(root, reader, changed, [], progress, time.perf_counter())


def _tidy(index_dir: str | os.PathLike[str], reader: Reader) -> None:
    """Remove what a writer left that was killed right behind its commit; another may be at work."""
    # Whatever is in the way, the index is up to date, which is all that was asked for.
    with (
        contextlib.suppress(errors.Busy, errors.StateUnwritable, OSError),
        lock.writer(index_dir),
    ):
        if manifest.read(index_dir) == reader.manifest:
            manifest.sweep(index_dir, reader.manifest)


def _difference(reader: Reader, root: str, found: Survey, scanned_ns: int) -> Changed:
    """What of a survey the index does not hold as it is."""
    now = _stat(root, found.paths)
    number = {path: i for i, path in enumerate(found.paths)}
    shown = np.array([*found.allowlisted, False], np.bool_)
    held = np.zeros(len(found.paths), np.bool_)
    dead, removed = [], 0
    for view in reader.views:
        alive = np.flatnonzero(view.alive)
        at = np.array([number.get(path, -1) for path in view.names.take(alive)], np.int64)
        same = (at >= 0) & _unchanged(view, alive, now, at)
        same &= view.allowlisted[alive] == shown[at]
        held[at[same]] = True
        removed += int((at < 0).sum())
        dead.append(alive[~same])
    changed = np.flatnonzero(~held).tolist()
    fresh = bool(changed) or any(len(numbers) for numbers in dead) or _differs(reader, found)
    return Changed(
        dead=dead,
        paths=[found.paths[i] for i in changed],
        allowlisted={found.paths[i] for i in changed if found.allowlisted[i]},
        tree=found.tree if fresh else None,
        scanned_ns=scanned_ns,
        removed=removed,
    )


def _differs(reader: Reader, found: Survey) -> bool:
    """Whether the tree is not what the index says, though no file is new, changed or gone."""
    folders = set(reader.directories.names("path").all())
    # Without a commit every later sweep would walk the tree for these rules again.
    return folders != set(found.tree.directories) or tree.changed_rules(reader.watched)[0]


def _unchanged(view: View, alive: Array, now: Array, at: Array) -> Array:
    """Whether each live file's stat is what it was, and not racy."""
    told, current = view.stats[alive], now[at]
    same = np.ones(len(alive), np.bool_)
    for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_CTIME, fetch.STAT_INODE):
        same &= told[:, slot] == current[:, slot]
    return same & ~racy(told, view.scanned_ns)


def racy(stats: Array, scanned_ns: int) -> Array:
    """bool[n]: stat rows so young when they were taken that an edit could hide behind them."""
    young: Array = (
        np.maximum(stats[:, fetch.STAT_MTIME], stats[:, fetch.STAT_CTIME]) >= scanned_ns - RACY_NS
    )
    return young


def _commit(
    root: str,
    reader: Reader,
    changed: Changed,
    skipped: Sequence[Skipped],
    progress: Progress,
    started: float,
) -> BuildReport:
    index_dir = reader.index_dir
    with lock.writer(index_dir), full_disk_is_an_error(index_dir):
        if manifest.read(index_dir) != reader.manifest:
            raise errors.Busy("another triseek has just updated this index")
        new, facts = _write(root, reader, changed, progress)
        manifest.commit(index_dir, new)
        manifest.sweep(index_dir, new)
    return _report(reader, changed, [*skipped, *facts_skipped(facts)], started, new, facts)


def _write(
    root: str, reader: Reader, changed: Changed, progress: Progress
) -> tuple[manifest.Manifest, dict[str, Any]]:
    """Write the delta; the manifest that makes it live, and the delta's facts."""
    with SegmentBuilder(reader.index_dir) as segment:
        shown = [path in changed.allowlisted for path in changed.paths]
        facts = write_segment(segment, root, changed.paths, shown, progress)
        if changed.tree is not None:
            tree.write(segment, os.fsencode(root), changed.tree)
        lives = _lives(reader, changed.dead, segment)
        digest = segment.publish({**facts, "scanned_ns": changed.scanned_ns})
    segments = (*lives, manifest.Live(segment.id, digest))
    newest = reader.manifest.tree if changed.tree is None else segment.id
    size = facts["text_bytes"] + _bytes_left(reader, changed.dead)
    return manifest.Manifest(reader.generation + 1, root, segments, newest, size), facts


def _lives(
    reader: Reader, dead_now: Sequence[Array], segment: SegmentBuilder
) -> list[manifest.Live]:
    """The older segments with their dead files as of now."""
    lives = []
    for live, view, newly in zip(reader.manifest.segments, reader.views, dead_now, strict=True):
        if not len(newly):
            lives.append(live)
            continue
        gone = ~view.alive
        gone[newly] = True
        lives.append(manifest.bury(segment, live, np.flatnonzero(gone)))
    return lives


def _report(
    reader: Reader,
    changed: Changed,
    skipped: Sequence[Skipped],
    started: float,
    new: manifest.Manifest | None = None,
    facts: dict[str, Any] | None = None,
) -> BuildReport:
    """What was done to a reader's generation, in numbers."""
    facts = facts or {"searchable": 0, "postings": 0}
    alive = searchable = 0
    for view, newly in zip(reader.views, changed.dead, strict=True):
        alive += int(view.alive.sum()) - len(newly)
        searchable += int(view.searchable.sum()) - int(view.searchable[newly].sum())
    return BuildReport(
        generation=(new or reader.manifest).generation,
        rebuilt_full=False,
        files_seen=alive + len(changed.paths),
        files_indexed=searchable + facts["searchable"],
        files_changed=len(changed.paths),
        files_removed=changed.removed,
        text_bytes=new.text_bytes if new else text_bytes(reader),
        postings=facts["postings"],
        skipped=list(skipped),
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
