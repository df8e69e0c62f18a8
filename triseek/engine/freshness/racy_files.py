"""Recheck racy files by comparing their content with the index.

A file is racy (doubtful) if its times are so close to the moment it was read that they could hide
an edit, or if only its change time moved. Each one is read once. A file that is as indexed is not
read again; one that is not counts as changed until it is indexed again, whatever its stat says.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import xxhash

from triseek.engine.freshness.compare import threads
from triseek.files.tree import text
from triseek.index.batch import MARKS
from triseek.index.names import open_below
from triseek.kernels import fetch
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.freshness.compare import Differing
    from triseek.index.reader import View

Array: TypeAlias = np.ndarray[Any, Any]

_CHUNK = 1 << 20
_NO_SIZE = -1


class Settled(NamedTuple):
    """Result of rechecking the racy files of one view."""

    read: int
    """How many files were read."""
    retimed: int
    """How many are as indexed but had another change time, which is accepted from now on."""
    differ: Array
    """int64: numbers of the files that differ from the index."""


@dataclass(slots=True)
class ChangedFiles:
    """The files of one view that differ from the index or may differ; columns of equal length."""

    view: View
    numbers: Array
    """int64: the files' numbers."""
    there: Array
    """bool: a regular file exists there now."""
    changed: Array
    """bool: differs from the index, or is not known to match it."""
    doubtful: Array
    """bool: the stat alone does not decide."""
    newest: Array
    """int64: the later of the current modification and change times."""
    ctimes: Array
    """int64: current change times."""

    @classmethod
    def of(cls, view: View, differing: Differing) -> ChangedFiles:
        """Classify the files that a comparison of stats returned."""
        now, remembered = differing.rows, view.stats[differing.numbers]
        there = now[:, fetch.STAT_OK] == 1
        same = there.copy()
        for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_INODE):
            same &= now[:, slot] == remembered[:, slot]
        ctimes = now[:, fetch.STAT_CTIME]
        newest = np.maximum(now[:, fetch.STAT_MTIME], ctimes)
        # If only the change time moved, the file is as doubtful as one with racy times: it may be
        # a new link or a hidden edit. Only the content shows which.
        return cls(view, differing.numbers, there, ~same, same, newest, ctimes)

    def settle(self, directory: int, before_ns: int) -> Settled:
        """Read the doubtful files last changed before `before_ns`; the others count as changed."""
        resting = self.doubtful & (self.newest < before_ns)
        self.changed |= self.doubtful & ~resting
        at = np.flatnonzero(resting)
        same = np.array(self._are_as_indexed(directory, self.numbers[at]), np.bool_)
        self.changed[at[~same]] = True
        differ(self.view, self.numbers[at[~same]])
        return Settled(len(at), self._accept_times(at[same]), self.numbers[at[~same]])

    def _are_as_indexed(self, directory: int, numbers: Array) -> Sequence[bool]:
        digests = self.view.segment.files.numbers("xxh3")[numbers].tolist()
        skips, names = self.view.skip[numbers].tolist(), self.view.names.take(numbers)
        remembered = zip(names, digests, skips, self.view.flags[numbers].tolist(), strict=True)
        return list(threads().map(lambda row: is_as_indexed(directory, *row), remembered))

    def _accept_times(self, at: Array) -> int:
        """Accept the current change times of unchanged files; return how many had moved."""
        remembered = self.view.stats[self.numbers[at], fetch.STAT_CTIME]
        self.view.stats[self.numbers[at], fetch.STAT_CTIME] = self.ctimes[at]
        return int((remembered != self.ctimes[at]).sum())


def differ(view: View, numbers: Array) -> None:
    """Make files count as changed, whatever their stat, until they are indexed again."""
    view.stats[numbers, fetch.STAT_SIZE] = _NO_SIZE


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
    if first.startswith(MARKS) or not text.is_binary(first):
        return False
    return text.shown_of_binary(text.Text(first, 0, "utf-8")) is None


def _chunks(directory: int, path: bytes) -> Iterator[bytes]:
    with open(open_below(directory, path), "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor
        while chunk := file.read(_CHUNK):
            yield chunk
