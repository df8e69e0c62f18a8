"""Recheck racy files by comparing their content with the index.

A file is racy (doubtful) if its times are so close to the moment it was read that they could hide
an edit, or if only its change time moved. Each one is read once. A file that is as indexed is not
read again; one that is not counts as changed until it is indexed again, whatever its stat says.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import xxhash

from triseek.engine.freshness.compare import threads
from triseek.files.access import open_below
from triseek.files.tree import text
from triseek.kernels import fetch
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.freshness.compare import Differing
    from triseek.index.reader import View

Array: TypeAlias = np.ndarray[Any, Any]

_CHUNK = 1 << 20


class Rechecked(NamedTuple):
    """The files of one view that differ from the index, after its racy files were read."""

    changed: Array
    """int64: numbers of the files that exist, but differ or are not known to match the index."""
    gone: Array
    """int64: numbers of the files that are no regular files any more."""
    differ: Array
    """int64: numbers of the racy files that were read and differ from the index."""
    read: int
    """How many files were read."""
    retimed: int
    """How many are as indexed but had another change time, which is accepted from now on."""


def recheck(directory: int, view: View, differing: Differing, before_ns: int) -> Rechecked:
    """Read the racy files of a view that were last changed before `before_ns`.

    Racy files that changed later count as changed.

    directory: the root's descriptor. differing: what a comparison of stats returned.
    """
    numbers, now = differing.numbers, differing.rows
    there = now[:, fetch.STAT_OK] == 1
    # If only the change time moved, the file is as doubtful as one with racy times: it may be a
    # new link or a hidden edit. Only the content shows which.
    racy = there.copy()
    for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_INODE):
        racy &= now[:, slot] == view.stats[numbers, slot]
    ctimes = now[:, fetch.STAT_CTIME]
    resting = np.flatnonzero(racy & (np.maximum(now[:, fetch.STAT_MTIME], ctimes) < before_ns))
    same = np.array(_are_as_indexed(directory, view, numbers[resting]), np.bool_)
    as_indexed, others = resting[same], numbers[resting[~same]]
    differ(view, others)
    moved = view.stats[numbers[as_indexed], fetch.STAT_CTIME] != ctimes[as_indexed]
    view.stats[numbers[as_indexed], fetch.STAT_CTIME] = ctimes[as_indexed]
    changed = there.copy()
    changed[as_indexed] = False
    return Rechecked(numbers[changed], numbers[~there], others, len(resting), int(moved.sum()))


def _are_as_indexed(directory: int, view: View, numbers: Array) -> list[bool]:
    digests = view.segment.files.numbers("xxh3")[numbers].tolist()
    skips, names = view.skip[numbers].tolist(), view.names.take(numbers)
    remembered = zip(names, digests, skips, view.flags[numbers].tolist(), strict=True)
    return list(threads().map(lambda row: is_as_indexed(directory, *row), remembered))


def differ(view: View, numbers: Array) -> None:
    """Make files count as changed, whatever their stat, until they are indexed again."""
    view.stats[numbers, fetch.STAT_SIZE] = -1


def is_as_indexed(directory: int, path: bytes, digest: int, skip: int, flags: int) -> bool:
    """Return whether a file still has its indexed digest, or the same reason for having none."""
    if skip == layout.SKIP_UNREADABLE:
        return is_forbidden(directory, path)
    if skip == layout.SKIP_BINARY and digest == 0:
        # The file is too large to read to its end after a NUL; no other check is possible.
        return shows_nothing(directory, path)
    return digest_of(directory, path, until_nul=flags & _CUT == layout.FLAG_BINARY) == digest


_CUT = layout.FLAG_BINARY | layout.FLAG_TRANSCODED


def digest_of(directory: int, path: bytes, *, until_nul: bool = False) -> int | None:
    """Return the xxh3_64 of a file's content; with `until_nul`, of the bytes before its first NUL.

    None if the file cannot be read, or if `until_nul` is set and it holds no NUL.
    """
    state = xxhash.xxh3_64()
    try:
        for chunk in _chunks(directory, path):
            before, nul, _ = chunk.partition(b"\0") if until_nul else (chunk, b"", b"")
            state.update(before)
            if nul:
                return state.intdigest()
    except OSError:
        return None
    return None if until_nul else state.intdigest()


def is_forbidden(directory: int, path: bytes) -> bool:
    """Return whether permission to read a file is denied; False for any other error."""
    try:
        os.close(open_below(directory, path))
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EPERM)
    return False


def shows_nothing(directory: int, path: bytes) -> bool:
    """Return whether a file is readable, binary, and has no part that a search would show."""
    try:
        first = next(_chunks(directory, path), b"")
    except OSError:
        return False
    if text.has_mark(first) or not text.is_binary(first):
        return False
    return text.shown_of_binary(text.Text(first, 0, "utf-8")) is None


def _chunks(directory: int, path: bytes) -> Iterator[bytes]:
    with open(open_below(directory, path), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        while chunk := file.read(_CHUNK):
            yield chunk
