"""Full build: walk, read, cut, invert, join, write one segment, commit.

Memory is bounded by the workers' buffers (two workers about 0.4 GB at full size, small trees
far less) and one stretch of joined postings. All intermediate data is spilled to the segment's
folder, which is removed if the build ends early.
"""

from __future__ import annotations

import contextlib
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.files.tree import walk
from triseek.index import posting_columns, tree
from triseek.index.batch import Share, Worker
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.model.search import ScopeSpec, Skipped
from triseek.query.globs.file_types import language_of
from triseek.store import layout, lock, manifest
from triseek.store.segment import SegmentBuilder
from triseek.store.table import StringColumn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.index.reader import IndexReader
    from triseek.store.segment import Counts

Array: TypeAlias = np.ndarray[Any, Any]
Columns: TypeAlias = dict[str, "Array | list[bytes] | list[str]"]
"""The columns of a table, by name."""

DEFAULT_SCOPE = ScopeSpec(allowlist=True)
"""The files of an index: those that `rg --files` lists, and the allow-listed hidden places."""
SHARE_FILES = 2_000
"""Files that a worker processes at a time."""
WORKERS = min(8, os.cpu_count() or 1)


def build(
    root: str, index_dir: str | os.PathLike[str], *, progress: Progress = no_progress
) -> BuildReport:
    """Index all of `root` from scratch and make the result the current generation.

    Raises:
        Busy: another process is writing this index.
        StateUnwritable: the state folder cannot be written, or its disk is full; the previous
            index is unchanged.
    """
    started = time.perf_counter()
    with writing(index_dir):
        previous = None
        with contextlib.suppress(errors.IndexCorrupt, errors.FormatTooNew):  # they are replaced
            previous = manifest.read(index_dir)
        scanned_ns = time.time_ns()
        walked, tables = survey(root, progress)
        with SegmentBuilder(index_dir) as segment:
            counts = write_segment(segment, root, walked.paths, walked.allowlisted, progress)
            tree.write(segment, os.fsencode(root), tables)
            digest = segment.publish({**counts, "scanned_ns": scanned_ns})
        generation = previous.generation + 1 if previous else 1
        live = (manifest.Live(segment.id, digest),)
        new = manifest.Manifest(generation, root, live, segment.id, counts["text_bytes"])
        manifest.commit(index_dir, new)
    return BuildReport(
        generation=generation,
        rebuilt_full=True,
        files_indexed=counts["searchable"],
        files_seen=counts["files"],
        files_changed=counts["files"],
        files_removed=0,
        text_bytes=counts["text_bytes"],
        postings=counts["postings"],
        skipped=[*walked.skipped, *unreadable(counts)],
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


def survey(root: str, progress: Progress) -> tuple[walk.Walk, tree.Tree]:
    """Walk a root; return the result and the rows of the tree's tables."""
    progress("walk", 0, 0)
    walked = walk.walk(root, DEFAULT_SCOPE)
    progress("walk", len(walked.paths), len(walked.paths))
    watched = tree.watched(os.fsencode(root), walked.special)
    return walked, tree.Tree(walked.directories, walked.excluded, watched)


def write_segment(
    segment: SegmentBuilder,
    root: str,
    paths: Sequence[bytes],
    allowlisted: set[bytes],
    progress: Progress,
) -> Counts:
    """Read the files, write their columns and tables, and return the segment's counts.

    allowlisted: those of `paths` in hidden places that ripgrep would leave out.
    """
    shares = _gather(segment, root, paths, progress)
    block_columns = {
        name: np.concatenate(
            [np.empty(0, kind), *(part[name] for share in shares for part in share.blocks)]
        )
        for name, kind in layout.BLOCKS
    }
    spills = [spill for share in shares for spill in share.spills]
    postings = posting_columns.join(segment, spills, progress)
    segment.table("blocks", layout.BLOCKS, block_columns)
    files = _file_columns(paths, allowlisted, shares)
    segment.table("files", layout.FILES, files)
    for spilled in segment.folder.glob("*.tmp"):
        spilled.unlink()
    size = sum(share.text_bytes for share in shares)
    return counts_of(paths, np.asarray(files["skip"]), len(block_columns["file"]), size, postings)


def counts_of(paths: Sequence[bytes], skip: Array, blocks: int, size: int, postings: int) -> Counts:
    """Return the counts for `segment.json`. skip: uint8[files]; size: bytes of text."""
    return {
        "files": len(paths),
        "searchable": int((skip == layout.SKIP_NONE).sum()),
        "blocks": blocks,
        "text_bytes": size,
        "postings": postings,
        "skips": [
            (os.fsdecode(paths[i]), int(skip[i]))
            for i in np.flatnonzero(skip == layout.SKIP_UNREADABLE).tolist()
        ],
    }


def _gather(
    segment: SegmentBuilder, root: str, paths: Sequence[bytes], progress: Progress
) -> list[Share]:
    """Process the files with the workers, `SHARE_FILES` at a time; return the shares in order."""
    names, total = StringColumn.of(paths), len(paths)
    starts = range(0, total, SHARE_FILES)
    workers = max(1, min(WORKERS, len(starts)))
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    largest = 1 << 62
    if len(starts) <= 1:  # small buffers for small builds; a file that grows only spills
        largest = 2 * int(tree.stat_all(directory, paths)[:, fetch.STAT_SIZE].sum())
    free = [Worker(directory, names, segment.folder, largest) for _ in range(workers)]
    shares: list[Share] = []
    try:
        with ThreadPoolExecutor(workers) as threads:

            def take(first: int) -> Share:
                worker = free.pop()
                try:
                    return worker.run(first, min(first + SHARE_FILES, total))
                finally:
                    free.append(worker)

            for share in threads.map(take, starts):
                shares.append(share)
                progress("read", share.first + len(share.lines), total)
    finally:
        os.close(directory)
    return shares


def _file_columns(
    paths: Sequence[bytes], allowlisted: set[bytes], shares: Sequence[Share]
) -> Columns:
    parts = [Share.of(0, 0), *shares]
    stats, lines, digests, flags, skip = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("stats", "lines", "digests", "flags", "skip")
    )
    flags[[path in allowlisted for path in paths]] |= layout.FLAG_ALLOWLISTED
    return {
        "path": list(paths),
        "size": stats[:, fetch.STAT_SIZE],
        "mtime_ns": stats[:, fetch.STAT_MTIME],
        "ctime_ns": stats[:, fetch.STAT_CTIME],
        "inode": stats[:, fetch.STAT_INODE],
        "xxh3": digests,
        "lines": lines,
        "flags": flags,
        "skip": skip,
        "language": [language_of(path.rpartition(b"/")[2]) for path in paths],
    }


def unreadable(counts: Counts) -> list[Skipped]:
    """Return the unreadable files of a segment, for the report."""
    return [Skipped(os.fsencode(path), "unreadable") for path, _ in counts["skips"]]


@contextlib.contextmanager
def writing(index_dir: str | os.PathLike[str], reader: IndexReader | None = None) -> Iterator[None]:
    """Hold the writer lock of an index and translate a failed write. The old index stays intact.

    reader: of the generation that must still be the current one.

    Raises:
        Busy: another process is writing this index, or has written since the reader was opened.
        StateUnwritable: the state folder cannot be written, or its disk is full.
    """
    with lock.writer(index_dir):
        try:
            if reader is not None and manifest.read(index_dir) != reader.manifest:
                raise errors.Busy("another triseek has just updated this index")
            yield
        except FileNotFoundError:
            raise
        except OSError as error:
            raise errors.StateUnwritable(
                f"cannot write the index in {index_dir}: {error.strerror or error}",
                next_step="Free some space or point TRISEEK_HOME elsewhere; "
                "the previous index, if any, is untouched.",
            ) from error
