"""Integrity check of a whole index: checksums, posting lists, blocks and dead files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from triseek import errors
from triseek.kernels import postings
from triseek.store import layout, manifest
from triseek.store.segment import Segment

if TYPE_CHECKING:
    import os

    from triseek.model.index import Progress

_GENERATIONS_MAX = 5


def check(index_dir: str | os.PathLike[str], progress: Progress) -> int:
    """Verify every file of the current generation and return the number of bytes checked.

    Beyond the checksums, every posting list is decoded and compared with its frequency, and
    every block with its file, so that errors of the writer are found too.

    Raises:
        IndexUnavailable: there is no index, or it is replaced faster than it can be checked.
        IndexCorrupt: the first error, with file and place.
        FormatTooNew: a later triseek wrote the index.
    """
    for _ in range(_GENERATIONS_MAX):
        current = _current(index_dir)
        try:
            return _check(index_dir, current, progress)
        except (errors.IndexCorrupt, FileNotFoundError):
            # A writer may have committed a new generation and removed files of this one.
            if _current(index_dir).generation == current.generation:
                raise
    raise errors.IndexUnavailable(
        f"the index in {index_dir} was replaced {_GENERATIONS_MAX} times while it was checked",
        next_step="Check it when nothing is written to it, or stop the daemon meanwhile.",
    )


def _current(index_dir: str | os.PathLike[str]) -> manifest.Manifest:
    current = manifest.read(index_dir)
    if current is None:
        raise errors.IndexUnavailable(f"there is no index in {index_dir}")
    return current


def _check(
    index_dir: str | os.PathLike[str], current: manifest.Manifest, progress: Progress
) -> int:
    total = len(current.segments)
    size = (Path(index_dir) / layout.CURRENT).stat().st_size
    for number, live in enumerate(current.segments):
        progress("check", number, total)
        segment = Segment(index_dir, live.id, live.xxh3)
        segment.verify()
        segment.postings.verify_all()
        _check_lists(segment)
        _check_blocks(segment)
        for name, schema in layout.TREE_TABLES.items():  # read from one segment only
            if name in segment.facts["tables"]:
                segment.table(name, schema).verify()
        manifest.dead_files(segment, live)
        size += segment.size_bytes()
    progress("check", total, total)
    return size


def _check_lists(segment: Segment) -> None:
    where = np.zeros(1, np.int64)
    if postings.check(
        segment.postings.values, segment.offsets, segment.frequency, segment.blocks.rows, where
    ):
        trigram = int(segment.trigrams[where[0]])
        raise errors.IndexCorrupt(
            f"{segment.folder}: the list of trigram {trigram:#08x} is not in order"
        )


def _check_blocks(segment: Segment) -> None:
    """Check that the blocks of a file are contiguous and begin at its first byte and line."""
    file = segment.blocks.numbers("file")
    offset, length = segment.blocks.numbers("offset"), segment.blocks.numbers("length")
    line = segment.blocks.numbers("first_line")
    same = file[1:] == file[:-1]
    follows = offset[1:] == offset[:-1] + length[:-1]
    # A binary file may have its early blocks only; the first one begins at zero all the same.
    first = np.concatenate(([True], ~same)) if len(file) else np.empty(0, np.bool_)
    if not (
        bool((follows | ~same).all())
        and bool((line[1:] >= line[:-1])[same].all())
        and bool((offset[first] == 0).all() and (line[first] == 1).all())
    ):
        raise errors.IndexCorrupt(f"{segment.folder}: the blocks of a file do not follow")
