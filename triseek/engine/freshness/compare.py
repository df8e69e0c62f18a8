"""Stat every indexed file and folder once, on a few threads, and return those that differ.

A folder that has become a link counts as holding no files, even if the link leads to the same
files, because the walk follows no links. The stats of the folders show this.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.files import access
from triseek.files.tree.walk import path_order
from triseek.index.tree import stat_all
from triseek.kernels import fetch, sweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import View
    from triseek.store.table import StringColumn

Array: TypeAlias = np.ndarray[Any, Any]

_SLICE = 4_096
"""Files stat'ed between checks of the deadline."""


class Differing(NamedTuple):
    """Live files of one view that differ from the index, or changed too recently to tell."""

    numbers: Array
    """int64[k]: their numbers, ascending."""
    rows: Array
    """int64[k, STAT_SLOTS]: their current stat rows; zeros if the file is gone."""


class Now(NamedTuple):
    """The current state of the tree."""

    files: list[Differing]
    """One per view."""
    folders: Array
    """int64[folders, STAT_SLOTS]"""
    lost: list[bytes]
    """Paths that are no longer folders, without those below another one."""


def compare(
    directory: int,
    folders: StringColumn,
    views: Sequence[View],
    horizons: Sequence[int],
    deadline: float,
) -> Now | None:
    """Stat every folder and every live file of the views; return None if the deadline passes.

    Raises:
        OSError: It cannot be determined whether a file or folder exists.

    directory: the root's descriptor. folders: in path order. horizons: per view, nanoseconds; a
    file that changed then or later counts as differing, whatever its stat says. deadline: by
    `time.monotonic`.
    """
    folder_rows = np.zeros((len(folders), fetch.STAT_SLOTS), np.int64)
    pieces = [
        _Piece(directory, folders, folder_rows, view, horizon, *piece)
        for number, (view, horizon) in enumerate(zip(views, horizons, strict=True))
        for piece in _cut(view.names, folders, with_folders=number == 0)
    ]

    def run(piece: _Piece) -> Differing | None:
        return None if time.monotonic() > deadline else piece.compare()

    # Threads are started once per process: starting them takes longer than a small tree's stats.
    results = list(map(run, pieces) if len(pieces) < 2 else threads().map(run, pieces))
    done = [
        (piece.view, part) for piece, part in zip(pieces, results, strict=True) if part is not None
    ]
    if len(done) < len(pieces):
        return None
    _ask_again(directory, folders, np.arange(len(folders)), folder_rows)
    lost = _lost(folders, folder_rows)
    files = []
    for view in views:
        parts = [part for other, part in done if other is view]
        joined = Differing(*map(np.concatenate, zip(*parts, strict=True)))
        files.append(_without(directory, view, joined, lost))
    return Now(files, folder_rows, lost)


def look(
    directory: int,
    folders: StringColumn,
    views: Sequence[View],
    horizons: Sequence[int],
    files: Sequence[Array],
    some: Array,
) -> Now:
    """Do the same as `compare` for some files and folders; the others count as unchanged.

    files: per view, int64, ascending. some: int64, ascending, numbers of folders.
    """
    folder_rows = np.zeros((len(folders), fetch.STAT_SLOTS), np.int64)
    folder_rows[:, fetch.STAT_KIND] = stat.S_IFDIR
    below = _Below(directory)
    for j in some.tolist():
        folder_rows[j] = below.row(folders[j])
    lost = _lost(folders, folder_rows)
    differing = []
    for view, numbers, horizon in zip(views, files, horizons, strict=True):
        alive = numbers[view.alive[numbers]]
        part = settled_out(view, alive, stat_all(directory, view.names.take(alive)), horizon)
        differing.append(_without(directory, view, part, lost))
    return Now(differing, folder_rows, lost)


def linked(directory: int, view: View) -> Array:
    """Return int64: live files of a view that have more than one name (hard links).

    Raises:
        OSError: The state of one of the files cannot be determined.
    """
    alive = np.flatnonzero(view.alive)
    rows = stat_all(directory, view.names.take(alive))
    _ask_again(directory, view.names, alive, rows)
    several: Array = alive[rows[:, fetch.STAT_LINKS] > 1]
    return several


def settled_out(view: View, numbers: Array, rows: Array, horizon: int) -> Differing:
    """Return the given files without those that are unchanged and older than the horizon."""
    remembered = view.stats[numbers]
    settled = rows[:, fetch.STAT_OK] == 1
    for slot in (fetch.STAT_SIZE, fetch.STAT_MTIME, fetch.STAT_CTIME, fetch.STAT_INODE):
        settled &= rows[:, slot] == remembered[:, slot]
    for slot in (fetch.STAT_MTIME, fetch.STAT_CTIME):
        settled &= rows[:, slot] < horizon
    return Differing(numbers[~settled], rows[~settled])


def _lost(folders: StringColumn, rows: Array) -> list[bytes]:
    """Return the paths that are no longer folders, without those below another one."""
    lost: list[bytes] = []
    for j in np.flatnonzero(rows[:, fetch.STAT_KIND] != stat.S_IFDIR).tolist():
        path = folders[j]
        if not lost or not path.startswith(lost[-1] + b"/"):
            lost.append(path)
    return lost


def _without(directory: int, view: View, differing: Differing, lost: Sequence[bytes]) -> Differing:
    """Return `differing` with all files in lost folders as gone, whatever a link leads to now."""
    gone = np.zeros(len(view.names), np.bool_)
    for folder in lost:
        gone[slice(*ordered_below(view.names, folder))] = True
    kept = ~gone[differing.numbers]
    numbers, rows = differing.numbers[kept], differing.rows[kept]
    _ask_again(directory, view.names, numbers, rows)
    if not lost:
        return Differing(numbers, rows)
    below = np.flatnonzero(gone & view.alive)
    numbers = np.concatenate((numbers, below))
    nothing = np.zeros((len(below), fetch.STAT_SLOTS), np.int64)
    rows = np.concatenate((rows, nothing))
    order = np.argsort(numbers)
    return Differing(numbers[order], rows[order])


def _ask_again(directory: int, names: StringColumn, numbers: Array, rows: Array) -> None:
    """Stat again what seems to be gone, because the kernels do not report why a stat failed.

    numbers: int64[n], indices into names. rows: int64[n, STAT_SLOTS], corrected in place.

    Raises:
        OSError: The state of one of them cannot be determined.
    """
    for i in np.flatnonzero(rows[:, fetch.STAT_KIND] == 0).tolist():
        path = names[int(numbers[i])]
        # Longer paths do not fit one call: `_Below` and `stat_slowly` split them in the middle.
        if len(path) < fetch.NAME_BYTES:
            now = access.status(path or b".", directory=directory, follow=False)
            if now is not None:
                rows[i] = fetch.stat_row(now)


def _cut(
    names: StringColumn, folders: StringColumn, *, with_folders: bool
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return ranges of nearby folders and files: [((first, last), (first, last))]."""
    starts = range(0, max(len(names), 1), _SLICE)
    edges = [0] * (len(starts) + 1)
    if with_folders:
        cuts = [_place(folders, path_order(names[first])) for first in starts[1:]]
        edges = [0, *cuts, len(folders)]
    files = itertools.pairwise([*starts, len(names)])
    return list(zip(itertools.pairwise(edges), files, strict=True))


def ordered_below(names: StringColumn, folder: bytes, *, itself: bool = False) -> tuple[int, int]:
    """Return the range of the names below a folder, given names in path order; all for the root."""
    if not folder:
        return 0, len(names)
    order = path_order(folder)
    begin = _place(names, order if itself else order + b"\0")
    return begin, _place(names, order + b"\1")


def _place(names: StringColumn, key: bytes) -> int:
    """Return the index of the first name (in path order) whose key is not less than `key`."""
    return bisect.bisect_left(range(len(names)), key, key=lambda i: path_order(names[i]))


@dataclass(frozen=True, slots=True)
class _Piece:
    """The work of one thread task."""

    directory: int
    folders: StringColumn
    folder_rows: Array
    """int64[folders, STAT_SLOTS]; this piece fills the rows of its own folders."""
    view: View
    horizon: int
    own_folders: tuple[int, int]
    own_files: tuple[int, int]

    def compare(self) -> Differing:
        """Stat this piece's folders and files; return the files that differ."""
        if fetch.is_available():
            numbers, rows = self._by_kernel()
        else:
            first, last = self.own_files
            numbers = first + np.flatnonzero(self.view.alive[first:last])
            rows = np.full((len(numbers), fetch.STAT_SLOTS), fetch.UNKNOWN, np.int64)
            self.folder_rows[slice(*self.own_folders)] = fetch.UNKNOWN
        below, begin = _Below(self.directory), self.own_folders[0]
        own = self.folder_rows[slice(*self.own_folders)]
        for i in np.flatnonzero(own[:, fetch.STAT_KIND] == fetch.UNKNOWN).tolist():
            own[i] = below.row(self.folders[begin + i])
        for i in np.flatnonzero(rows[:, fetch.STAT_KIND] == fetch.UNKNOWN).tolist():
            rows[i] = below.row(self.view.names[int(numbers[i])])
        return settled_out(self.view, numbers, rows, self.horizon)

    def _by_kernel(self) -> tuple[Array, Array]:
        """Fill in the folders' rows; return the numbers and rows of the files that differ.

        The rows of names that are too long for the kernel are `UNKNOWN`.
        """
        first, last = self.own_files
        numbers = np.empty(last - first, np.int64)
        rows = np.empty((last - first) * fetch.STAT_SLOTS, np.int64)
        scratch, names = np.empty(fetch.SCRATCH_BYTES, np.uint8), self.view.names
        fetch.stat_many(
            self.directory, self.folders.blob, self.folders.starts, *self.own_folders,
            scratch, self.folder_rows[slice(*self.own_folders)].reshape(-1),
        )  # fmt: skip
        count = sweep.compare(
            self.directory, names.blob, names.starts, first, last,
            self.view.alive.view(np.uint8), self.view.stats.reshape(-1), self.horizon, sweep.RUN,
            scratch, numbers, rows,
        )  # fmt: skip
        return numbers[:count].copy(), rows.reshape(-1, fetch.STAT_SLOTS)[:count].copy()


class _Below:
    """Stats by path below a folder, without extra descriptors and without following links."""

    def __init__(self, directory: int) -> None:
        self._directory = directory
        self._folders: dict[bytes, bool] = {b"": True}

    def row(self, path: bytes) -> list[int]:
        """Return the stat row of a path; zeros if it, or a folder above it, does not exist.

        The empty path is the base folder.
        """
        if not path:
            return fetch.stat_row(os.fstat(self._directory))
        is_there = self._is_folder(path.rpartition(b"/")[0])
        return self._stat(path) if is_there else [0] * fetch.STAT_SLOTS

    def _is_folder(self, path: bytes) -> bool:
        """Return whether every component of the path is a folder and not a link."""
        there = True
        for part in itertools.accumulate(path.split(b"/"), lambda above, name: above + b"/" + name):
            is_folder = self._folders.get(part)
            if is_folder is None:
                row = self._stat(part) if there else [0] * fetch.STAT_SLOTS
                is_folder = self._folders[part] = row[fetch.STAT_KIND] == stat.S_IFDIR
            there = is_folder
        return there

    def _stat(self, path: bytes) -> list[int]:
        if len(path) >= fetch.NAME_BYTES:
            return fetch.stat_slowly(self._directory, path)
        now = access.status(path, directory=self._directory, follow=False)
        return [0] * fetch.STAT_SLOTS if now is None else fetch.stat_row(now)


@functools.cache
def threads() -> ThreadPoolExecutor:
    """Return the shared thread pool for file-system calls."""
    return ThreadPoolExecutor(min(4, os.cpu_count() or 1), "triseek-stat")
