"""Full build: walk, read, cut, invert, join, write one segment, commit.

Memory is bounded by the workers' buffers (two workers about 0.4 GB at full size, small trees
far less) and one stretch of joined postings; everything between is spilled to the segment's
own folder, which is removed with it when a build ends early.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek import errors
from triseek.files import text, walk
from triseek.index import join, tree
from triseek.index.batch import BLOCK_COLUMNS, Share, Worker
from triseek.index.names import NameTable
from triseek.kernels import fetch
from triseek.model.index import BuildReport, Progress, no_progress
from triseek.model.search import ScopeSpec, Skipped
from triseek.store import layout, lock, manifest
from triseek.store.segment import SegmentBuilder

if TYPE_CHECKING:
    from collections.abc import Sequence

Array: TypeAlias = np.ndarray[Any, Any]

DEFAULT_SCOPE = ScopeSpec(allowlist=True)
"""What an index holds: what `rg --files` lists, and the well-known hidden places."""
SHARE_FILES = 2_000
"""Files a worker takes at a time."""
WORKERS = min(8, os.cpu_count() or 1)


def build(
    root: str, index_dir: str | os.PathLike[str], *, progress: Progress = no_progress
) -> BuildReport:
    """Index all of `root` anew and make that the current generation.

    Raises:
        Busy: another process is writing this index.
        StateUnwritable: the state folder cannot be written, or its disk is full; what was
            there before is untouched.
    """
    started = time.perf_counter()
    with lock.writer(index_dir), full_disk_is_an_error(index_dir):
        previous = current_or_none(index_dir)
        scanned_ns = time.time_ns()
        found = survey(root, progress)
        with SegmentBuilder(index_dir) as segment:
            facts = write_segment(segment, root, found.paths, found.allowlisted, progress)
            tree.write(segment, os.fsencode(root), found.tree)
            digest = segment.publish({**facts, "scanned_ns": scanned_ns})
        generation = previous.generation + 1 if previous else 1
        live = (manifest.Live(segment.id, digest),)
        new = manifest.Manifest(generation, root, live, segment.id, facts["text_bytes"])
        manifest.commit(index_dir, new)
        manifest.sweep(index_dir, new)
    return BuildReport(
        generation=generation,
        rebuilt_full=True,
        files_indexed=facts["searchable"],
        files_seen=facts["files"],
        files_changed=facts["files"],
        files_removed=0,
        text_bytes=facts["text_bytes"],
        postings=facts["postings"],
        skipped=[*found.skipped, *facts_skipped(facts)],
        elapsed_ms=(time.perf_counter() - started) * 1e3,
    )


class Survey:
    """What a walk found, in path order."""

    def __init__(self, root: str, scope: ScopeSpec = DEFAULT_SCOPE) -> None:
        walked = walk.walk(root, scope)
        self.paths = walked.paths
        self.allowlisted = [path in walked.allowlisted for path in walked.paths]
        self.skipped: list[Skipped] = list(walked.skipped)
        watched = tree.watched(os.fsencode(root), walked.special)
        self.tree = tree.Tree(walked.directories, walked.excluded, watched)


def survey(root: str, progress: Progress) -> Survey:
    """Walk the tree."""
    progress("walk", 0, 0)
    found = Survey(root)
    progress("walk", len(found.paths), len(found.paths))
    return found


def write_segment(
    segment: SegmentBuilder,
    root: str,
    paths: Sequence[bytes],
    allowlisted: Sequence[bool],
    progress: Progress,
) -> dict[str, Any]:
    """Read the files and write their columns and tables; the segment's facts."""
    shares = _gather(segment, root, paths, progress)
    block_columns = _block_columns(shares)
    spills = [spill for share in shares for spill in share.spills]
    postings = join.write_postings(
        segment, spills, lambda done, total: progress("write", done, total)
    )
    segment.table("blocks", layout.BLOCKS, block_columns)
    files = _file_columns(paths, allowlisted, shares)
    segment.table("files", layout.FILES, files)
    for spilled in segment.folder.glob("*.tmp"):
        spilled.unlink()
    size = sum(share.text_bytes for share in shares)
    return facts_of(paths, files["skip"], len(block_columns["file"]), size, postings)


def facts_of(
    paths: Sequence[bytes], skip: Array, blocks: int, size: int, postings: int
) -> dict[str, Any]:
    """What `segment.json` says in numbers; skip: uint8[files], size: bytes of text."""
    return {
        "files": len(paths),
        "searchable": int((skip == layout.SKIP_NONE).sum()),
        "blocks": blocks,
        "text_bytes": size,
        "postings": postings,
        "skips": [
            [os.fsdecode(paths[i]), int(skip[i])]
            for i in np.flatnonzero(skip == layout.SKIP_UNREADABLE).tolist()
        ],
    }


def _gather(
    segment: SegmentBuilder, root: str, paths: Sequence[bytes], progress: Progress
) -> list[Share]:
    """Let the workers take in the files, in shares of a few thousand; shares in file order."""
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
    """An upper estimate of the bytes of a few files, to size buffers by; growth only spills."""
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
) -> dict[str, Any]:
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


def facts_skipped(facts: dict[str, Any]) -> list[Skipped]:
    """The files of a segment that could not be read, as the report lists them."""
    return [Skipped(os.fsencode(path), "unreadable") for path, _ in facts["skips"]]


def current_or_none(index_dir: str | os.PathLike[str]) -> manifest.Manifest | None:
    """The manifest to replace; a damaged or newer one is replaced as if it were not there."""
    try:
        return manifest.read(index_dir)
    except (errors.IndexCorrupt, errors.FormatTooNew):
        return None


class full_disk_is_an_error:  # noqa: N801 - reads as a sentence after `with`
    """Turn a failed write into one clear line; the old index has not been touched."""

    def __init__(self, index_dir: str | os.PathLike[str]) -> None:
        self._index_dir = Path(index_dir)

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            raise errors.StateUnwritable(
                f"cannot write the index in {self._index_dir}: {error.strerror or error}",
                next_step="Free some space or point TRISEEK_HOME elsewhere; "
                "the previous index, if any, is untouched.",
            ) from error
