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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek import errors
from triseek.files.tree import text, walk
from triseek.index import posting_columns, tree
from triseek.index.batch import BLOCK_COLUMNS, Share, Worker
from triseek.index.names import NameTable
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.model.search import ScopeSpec, Skipped
from triseek.store import layout, lock, manifest
from triseek.store.segment import SegmentBuilder

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
        previous = current_or_none(index_dir)
        scanned_ns = time.time_ns()
        result = survey(root, progress)
        with SegmentBuilder(index_dir) as segment:
            counts = write_segment(segment, root, result.paths, result.allowlisted, progress)
            tree.write(segment, os.fsencode(root), result.tree)
            digest = segment.publish({**counts, "scanned_ns": scanned_ns})
        generation = previous.generation + 1 if previous else 1
        live = (manifest.Live(segment.id, digest),)
        new = manifest.Manifest(generation, root, live, segment.id, counts["text_bytes"])
        manifest.commit(index_dir, new)
        manifest.sweep(index_dir, new)
    return BuildReport(
        generation=generation,
        rebuilt_full=True,
        files_indexed=counts["searchable"],
        files_seen=counts["files"],
        files_changed=counts["files"],
        files_removed=0,
        text_bytes=counts["text_bytes"],
        postings=counts["postings"],
        skipped=[*result.skipped, *unreadable(counts)],
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


class Survey(NamedTuple):
    """The result of walking a root: its files in path order, and the tree's tables."""

    paths: list[bytes]
    allowlisted: list[bool]
    skipped: list[Skipped]
    tree: tree.Tree


def survey(root: str, progress: Progress) -> Survey:
    """Walk the tree and return the result."""
    progress("walk", 0, 0)
    walked = walk.walk(root, DEFAULT_SCOPE)
    progress("walk", len(walked.paths), len(walked.paths))
    allowlisted = [path in walked.allowlisted for path in walked.paths]
    watched = tree.watched(os.fsencode(root), walked.special)
    tables = tree.Tree(walked.directories, walked.excluded, watched)
    return Survey(walked.paths, allowlisted, walked.skipped, tables)


def write_segment(
    segment: SegmentBuilder,
    root: str,
    paths: Sequence[bytes],
    allowlisted: Sequence[bool],
    progress: Progress,
) -> Counts:
    """Read the files, write their columns and tables, and return the segment's counts."""
    shares = _gather(segment, root, paths, progress)
    block_columns = _block_columns(shares)
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
    names, total = NameTable(paths), len(paths)
    starts = range(0, total, SHARE_FILES)
    workers = max(1, min(WORKERS, len(starts)))
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    largest = _bytes_at_most(directory, names) if len(starts) <= 1 else 1 << 62
    pool = [Worker(directory, names, segment.folder, largest) for _ in range(workers)]
    shares: list[Share] = []
    try:
        with ThreadPoolExecutor(workers) as threads:
            free = pool.copy()

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


def _bytes_at_most(directory: int, names: NameTable) -> int:
    """Return twice the size of a few files, to size buffers. A file that grows only spills."""
    total = 0
    for i in range(len(names)):
        try:
            total += os.stat(names[i], dir_fd=directory).st_size
        except OSError:
            continue
    return 2 * total


def _block_columns(shares: Sequence[Share]) -> dict[str, Array]:
    parts = [part for share in shares for part in share.blocks]
    dtypes = {name: np.dtype(kind) for name, kind in layout.BLOCKS}
    return {
        name: np.concatenate([part[name] for part in parts]) if parts else np.empty(0, dtypes[name])
        for name in BLOCK_COLUMNS
    }


def _file_columns(
    paths: Sequence[bytes], allowlisted: Sequence[bool], shares: Sequence[Share]
) -> Columns:
    def joined(values: list[Array], dtype: type[np.generic]) -> Array:
        return np.concatenate(values) if values else np.empty(0, dtype)

    stats = np.concatenate([share.stats for share in shares] or [np.empty((0, fetch.STAT_SLOTS))])
    stats = stats.astype(np.int64)
    flags = joined([share.flags for share in shares], np.uint8).copy()
    flags[np.asarray(allowlisted, np.bool_)] |= layout.FLAG_ALLOWLISTED
    return {
        "path": list(paths),
        "size": stats[:, fetch.STAT_SIZE],
        "mtime_ns": stats[:, fetch.STAT_MTIME],
        "ctime_ns": stats[:, fetch.STAT_CTIME],
        "inode": stats[:, fetch.STAT_INODE],
        "xxh3": joined([share.digests for share in shares], np.uint64),
        "lines": joined([share.lines for share in shares], np.int64),
        "flags": flags,
        "skip": joined([share.skip for share in shares], np.uint8),
        "language": [text.language(path) for path in paths],
    }


def unreadable(counts: Counts) -> list[Skipped]:
    """Return the unreadable files of a segment, for the report."""
    return [Skipped(os.fsencode(path), "unreadable") for path, _ in counts["skips"]]


def current_or_none(index_dir: str | os.PathLike[str]) -> manifest.Manifest | None:
    """Return the manifest to replace; None if there is none or it is damaged or newer."""
    try:
        return manifest.read(index_dir)
    except (errors.IndexCorrupt, errors.FormatTooNew):
        return None


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
