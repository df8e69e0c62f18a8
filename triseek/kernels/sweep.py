"""Find the indexed files whose stat has changed, with one stat per file.

Files come in path order, so those of one folder mostly follow each other. Where enough of them
do, the folder is opened once and they are looked up in it by their bare names. Measured on the
Linux tree (78,262 files): a stat costs 1.2 µs or more, most of it waiting for memory inside the
operating system (directory entries and inodes); bare names save 3 % of that. On Django's tree,
with two files per folder, opening every folder cost 8 %. So no method is much cheaper than another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.kernels.fetch import (
    STAT_CTIME,
    STAT_MTIME,
    STAT_SLOTS,
    close_folder,
    is_same_stat,
    open_folder,
    stat_name,
)
from triseek.kernels.jit import BYTES, BYTES_OUT, I64, I64S, I64S_OUT, inlined, kernel

if TYPE_CHECKING:
    import numpy as np

RUN = 24
"""A folder is opened if at least this many of its files follow each other."""

_SLASH = ord("/")


@inlined
def _folder_of(names: np.ndarray, begin: int, end: int) -> int:
    """Return the length of the folder part of the path names[begin:end], with the slash."""
    while end > begin and names[end - 1] != _SLASH:
        end -= 1
    return end - begin


@inlined
def _is_same(names: np.ndarray, left: int, right: int, size: int) -> bool:
    """Return whether `size` bytes at `left` and `right` are equal; compare the last ones first."""
    while size > 0 and names[left + size - 1] == names[right + size - 1]:
        size -= 1
    return size == 0


@inlined
def _lies_in(names: np.ndarray, starts: np.ndarray, i: int, folder: int, size: int) -> bool:
    """Return whether name i is directly in the folder names[folder : folder + size]."""
    begin, end = starts[i], starts[i + 1]
    return (
        end - begin > size
        and _folder_of(names, begin, end) == size
        and _is_same(names, folder, begin, size)
    )


@inlined
def _is_settled(
    rows: np.ndarray, at: int, remembered: np.ndarray, remembered_at: int, horizon: int
) -> bool:
    """Return whether a regular file's row equals the remembered one and is before the horizon."""
    return (
        is_same_stat(rows, at, remembered, remembered_at)
        and rows[at + STAT_MTIME] < horizon
        and rows[at + STAT_CTIME] < horizon
    )


@kernel(
    I64, I64, BYTES, I64S, I64, I64, BYTES, I64S, I64, I64, BYTES_OUT, I64S_OUT, I64S_OUT
)  # fmt: skip
def compare(
    directory: int,
    names: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    alive: np.ndarray,
    remembered: np.ndarray,
    horizon: int,
    run: int,
    scratch: np.ndarray,
    numbers: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Stat files first..last-1 below `directory` and report those that differ from their rows.

    names: uint8, starts: int64[n + 1], in path order. alive: uint8[n], 0 for files to skip.
    remembered: int64[n * STAT_SLOTS], the stored rows. horizon: nanoseconds; files that changed
    then or later are reported even if their rows are equal. run: the number of files in a row for
    which their folder is opened; if it cannot be opened, full paths are used. scratch:
    uint8[SCRATCH_BYTES]. numbers: int64[last - first] and rows: int64[(last - first) * STAT_SLOTS],
    out, the files that differ and their current rows: zeros if gone, STAT_KIND UNKNOWN if the name
    is too long. A link as the last name is not followed; links in the folders above are, so the
    caller must check the folders. Returns the number of files reported.
    """
    found, descriptor, folder, size, tried = 0, -1, 0, 0, 0
    for i in range(first, last):
        if alive[i] == 0:
            continue
        begin, end = starts[i], starts[i + 1]
        if descriptor >= 0 and not _lies_in(names, starts, i, folder, size):
            close_folder(descriptor)
            descriptor = -1
        if descriptor < 0 and i >= tried and i + run <= last:
            folder, size = begin, _folder_of(names, begin, end)
            if size > 0 and _lies_in(names, starts, i + run - 1, folder, size):
                descriptor = open_folder(directory, names, begin, begin + size - 1, scratch)
                tried = i + run
        at = found * STAT_SLOTS
        if descriptor >= 0:
            stat_name(descriptor, names, begin + size, end, scratch, rows, at)
        else:
            stat_name(directory, names, begin, end, scratch, rows, at)
        if not _is_settled(rows, at, remembered, i * STAT_SLOTS, horizon):
            numbers[found] = i
            found += 1
    if descriptor >= 0:
        close_folder(descriptor)
    return found
