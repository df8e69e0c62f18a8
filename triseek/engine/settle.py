"""Whether doubtful files still are what was indexed, told by their content.

Doubtful is a file whose times lie so close to the moment it was read that an edit could hide
behind them, and one of which nothing but the change time moved. Each is read once: what is as it
was is not doubted again, and what is not differs for good, whatever its stat says.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import xxhash

from triseek.engine.compare import threads
from triseek.files import text
from triseek.index.batch import MARKS
from triseek.index.names import open_below
from triseek.kernels import fetch
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.engine.compare import Differing
    from triseek.index.reader import View

Array: TypeAlias = np.ndarray[Any, Any]

_CHUNK = 1 << 20
_NO_SIZE = -1


class Settled(NamedTuple):
    """What came of the doubtful files of one view."""

    read: int
    """How many were."""
    retimed: int
    """How many are what was indexed, with a change time that is accepted from now on."""
    differ: Array
    """int64: numbers of those that are not what was indexed."""


@dataclass(slots=True)
class Change:
    """The files of one view that are not as they were, or may not be; columns of one length."""

    view: View
    numbers: Array
    """int64: which files."""
    there: Array
    """bool: a regular file is there now."""
    changed: Array
    """bool: not what was indexed, or not known to be."""
    doubtful: Array
    """bool: the stat does not tell."""
    newest: Array
    """int64: the later of modification and change time, as they are now."""
    ctimes: Array
    """int64: change times as they are now."""

    @classmethod
    def of(cls, view: View, differing: Differing) -> Change:
        """Sort out what a comparison of stats handed back."""
        now, told = differing.rows, view.stats[differing.numbers]
        there = now[:, fetch.STAT_OK] == 1
        same = there.copy()
        for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_INODE):
            same &= now[:, slot] == told[:, slot]
        ctimes = now[:, fetch.STAT_CTIME]
        newest = np.maximum(now[:, fetch.STAT_MTIME], ctimes)
        # Only a change time that moved is as doubtful as a racy one: a new link, or an edit that
        # hides. The content tells.
        return cls(view, differing.numbers, there, ~same, same, newest, ctimes)

    def settle(self, directory: int, before_ns: int) -> Settled:
        """Read doubtful files that came to rest before `before_ns`; others count as changed."""
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
        told = zip(names, digests, skips, self.view.flags[numbers].tolist(), strict=True)
        return list(threads().map(lambda one: is_as_indexed(directory, *one), told))

    def _accept_times(self, at: Array) -> int:
        """Files with the content that was indexed may keep the change times they have now."""
        told = self.view.stats[self.numbers[at], fetch.STAT_CTIME]
        self.view.stats[self.numbers[at], fetch.STAT_CTIME] = self.ctimes[at]
        return int((told != self.ctimes[at]).sum())


def differ(view: View, numbers: Array) -> None:
    """Let files differ from whatever is on disk, until they are indexed again."""
    view.stats[numbers, fetch.STAT_SIZE] = _NO_SIZE


def is_as_indexed(directory: int, path: bytes, digest: int, skip: int, flags: int) -> bool:
    """Whether what the index says of a file is still so: its digest, or why it has none."""
    if skip == layout.SKIP_UNREADABLE:
        return is_forbidden(directory, path)
    if skip == layout.SKIP_BINARY and digest == 0:
        # Too large to be read to its end once a NUL was met: this is all there is to know.
        return shows_nothing(directory, path)
    return digest_of(directory, path, until_nul=flags & _CUT == layout.FLAG_BINARY) == digest


_CUT = layout.FLAG_BINARY | layout.FLAG_TRANSCODED


def digest_of(directory: int, path: bytes, *, until_nul: bool = False) -> int | None:
    """xxh3_64 of a file's content, or of what comes before its first NUL byte.

    None when the file cannot be read, or holds no NUL where one is looked for.
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
    """Whether a file may not be read; without a descriptor to read it by that is not known."""
    try:
        os.close(open_below(directory, path))
    except OSError as error:
        return error.errno in (errno.EACCES, errno.EPERM)
    return False


def shows_nothing(directory: int, path: bytes) -> bool:
    """Return whether a file can be read and has its first NUL where no line of it is shown."""
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
