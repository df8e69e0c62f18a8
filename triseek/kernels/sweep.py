"""Which indexed files are not as they were: one stat a file, relative to its folder's descriptor.

Files and folders come in path order, so one way down the tree meets them all: a folder is opened
when the first of its files comes, kept open while what lies below it comes, and asked for its own
times in passing. Only what differs is handed back. Folders are opened one name at a time and
links are not followed, as the walk does not: below a folder that has become a link nothing is.

Measured on the Linux tree (78,262 files, 5,000 folders): a stat costs about 1 µs, most of it spent
waiting for memory inside the kernel (directory entries and inodes), so shorter paths save little.
What this saves is a second way to every folder, threads sharing one descriptor (each look-up below
it counts its users, and the counter's cache line goes back and forth), and passes over all rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.kernels.fetch import (
    STAT_CTIME,
    STAT_INODE,
    STAT_KIND,
    STAT_MTIME,
    STAT_OK,
    STAT_SIZE,
    STAT_SLOTS,
    close_folder,
    open_folder,
    stat_name,
)
from triseek.kernels.jit import BOOL, BYTES, BYTES_OUT, I64, I64S, I64S_OUT, kernel

if TYPE_CHECKING:
    import numpy as np

DEPTH_MAX = 64
"""Most folders open at a time; what lies further down is UNKNOWN."""
UNKNOWN = -1
"""STAT_KIND of a row that could not be had this way: its folder could not be opened."""

# Slots of the state: how many folders are open, the next folder, then of each open one:
_DEPTH = 0
_NEXT = 1
_OPEN = 2  # its descriptor, or -1, and how long its path is, its last slash included
STATE_SLOTS = _OPEN + 2 * DEPTH_MAX

_SLASH = ord("/")


@kernel(I64, BYTES, I64, I64)
def _folder_of(names: np.ndarray, begin: int, end: int) -> int:
    """How much of the path names[begin:end] is its folder, the slash included."""
    while end > begin and names[end - 1] != _SLASH:
        end -= 1
    return end - begin


@kernel(I64, BYTES, I64, I64, I64)
def _common(names: np.ndarray, left: int, right: int, size: int) -> int:
    """How many bytes are the same at `left` and `right`, at most `size`."""
    for i in range(size):
        if names[left + i] != names[right + i]:
            return i
    return size


@kernel(I64, BYTES, I64, I64, BYTES, I64, I64)
def _order(
    left: np.ndarray, left_at: int, left_end: int, right: np.ndarray, right_at: int, right_end: int
) -> int:
    """Path order of left[left_at:left_end] and right[…]: negative, 0 or positive.

    Component by component, bytes in order, which is: as bytes, a slash before all others.
    """
    while left_at < left_end and right_at < right_end:
        a, b = left[left_at], right[right_at]
        if a != b:
            if a == _SLASH:
                return -1
            if b == _SLASH:
                return 1
            return -1 if a < b else 1
        left_at += 1
        right_at += 1
    return (left_end - left_at) - (right_end - right_at)


@kernel(I64, I64S_OUT, I64)
def _leave(state: np.ndarray, size: int) -> int:
    """Close folders whose paths are longer than `size`; the start is never closed."""
    depth = state[_DEPTH]
    while depth > 1 and state[_OPEN + 2 * depth - 1] > size:
        depth -= 1
        if state[_OPEN + 2 * depth] >= 0:
            close_folder(state[_OPEN + 2 * depth])
    state[_DEPTH] = depth
    return depth


@kernel(I64, I64, BYTES, I64S, I64, BYTES, I64, I64, BYTES_OUT, I64S_OUT, I64S_OUT)
def _pass_folders(
    directory: int,
    folders: np.ndarray,
    folder_starts: np.ndarray,
    folder_last: int,
    names: np.ndarray,
    begin: int,
    end: int,
    scratch: np.ndarray,
    state: np.ndarray,
    folder_rows: np.ndarray,
) -> int:
    """Stat folders that come before names[begin:end], which has just been opened, and this one."""
    j = state[_NEXT]
    order = -1
    while j < folder_last and order < 0:
        at, until = folder_starts[j], folder_starts[j + 1]
        order = _order(folders, at, until, names, begin, end)
        if order < 0:
            # No file lies in it, or the files are another range's: it is looked up by its path.
            stat_name(directory, folders, at, until, scratch, folder_rows, j * STAT_SLOTS)
            j += 1
    if order == 0:
        descriptor = state[_OPEN + 2 * state[_DEPTH] - 2]
        if descriptor >= 0:
            stat_name(descriptor, folders, 0, 0, scratch, folder_rows, j * STAT_SLOTS)
        else:
            folder_rows[j * STAT_SLOTS + STAT_KIND] = UNKNOWN
        j += 1
    state[_NEXT] = j
    return j


@kernel(I64, I64, BYTES, I64S, I64, BYTES, I64, I64, BYTES_OUT, I64S_OUT, I64S_OUT)
def _enter(
    directory: int,
    folders: np.ndarray,
    folder_starts: np.ndarray,
    folder_last: int,
    names: np.ndarray,
    begin: int,
    size: int,
    scratch: np.ndarray,
    state: np.ndarray,
    folder_rows: np.ndarray,
) -> int:
    """Open what is not open yet of the folder names[begin : begin + size], name by name.

    Returns its descriptor, or -1 when it, or a folder above it, cannot be opened.
    """
    top = _OPEN + 2 * state[_DEPTH] - 2
    while state[top + 1] < size:
        if state[top] < 0 or state[_DEPTH] == DEPTH_MAX:
            return -1
        at = state[top + 1]
        slash = at
        while names[begin + slash] != _SLASH:
            slash += 1
        state[top + 2] = open_folder(state[top], names, begin + at, begin + slash, scratch)
        state[top + 3] = slash + 1
        state[_DEPTH] += 1
        top += 2
        _pass_folders(
            directory, folders, folder_starts, folder_last, names, begin, begin + slash,
            scratch, state, folder_rows,
        )  # fmt: skip
    return state[top]


@kernel(BOOL, I64S_OUT, I64, I64S, I64, I64)
def _is_settled(rows: np.ndarray, at: int, told: np.ndarray, told_at: int, horizon: int) -> bool:
    """Whether a regular file's row is the one that was told, and older than the horizon."""
    return (
        rows[at + STAT_OK] == 1
        and rows[at + STAT_SIZE] == told[told_at + STAT_SIZE]
        and rows[at + STAT_MTIME] == told[told_at + STAT_MTIME]
        and rows[at + STAT_CTIME] == told[told_at + STAT_CTIME]
        and rows[at + STAT_INODE] == told[told_at + STAT_INODE]
        and rows[at + STAT_MTIME] < horizon
        and rows[at + STAT_CTIME] < horizon
    )


@kernel(
    I64, I64, BYTES, I64S, I64, I64, I64S_OUT, BYTES, I64S, I64, I64, BYTES, I64S, I64,
    BYTES_OUT, I64S_OUT, I64S_OUT, I64S_OUT,
)  # fmt: skip
def compare(
    directory: int,
    folders: np.ndarray,
    folder_starts: np.ndarray,
    folder_first: int,
    folder_last: int,
    folder_rows: np.ndarray,
    names: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    alive: np.ndarray,
    told: np.ndarray,
    horizon: int,
    scratch: np.ndarray,
    state: np.ndarray,
    numbers: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Stat files first..last-1 and folders folder_first..folder_last-1 below `directory`.

    folders, folder_starts, names, starts: uint8 and int64[n + 1], in path order, as for
    `fetch.stat_many`. folder_rows: int64[folders * STAT_SLOTS], a row per folder; those of the
    range are filled. alive: uint8[files], 0 for files to pass over. told: int64[files *
    STAT_SLOTS], what their rows were. horizon: nanoseconds; what changed then or later is handed
    back although it is as it was. scratch: uint8[SCRATCH_BYTES], state: int64[STATE_SLOTS], both
    overwritten. numbers: int64[last - first] and rows: int64[(last - first) * STAT_SLOTS] take the
    files that are not as they were, with their rows as they are now: zeros for what is gone,
    STAT_KIND UNKNOWN for files and folders to be asked for in another way.

    Any two ranges do, whether or not the files lie in the folders: those that do not meet are
    looked up by their paths. Returns how many files were handed back.
    """
    state[_DEPTH], state[_NEXT] = 1, folder_first
    state[_OPEN], state[_OPEN + 1] = directory, 0
    found, entered = 0, 0
    for i in range(first, last):
        if alive[i] == 0:
            continue
        begin, end = starts[i], starts[i + 1]
        size = _folder_of(names, begin, end)
        opened = state[_OPEN + 2 * state[_DEPTH] - 1]
        common = _common(names, entered, begin, min(opened, size))
        descriptor = state[_OPEN + 2 * state[_DEPTH] - 2]
        if common < opened or size > opened:
            _leave(state, common)
            descriptor = _enter(
                directory, folders, folder_starts, folder_last, names, begin, size,
                scratch, state, folder_rows,
            )  # fmt: skip
            entered = begin
        at = found * STAT_SLOTS
        if descriptor >= 0:
            stat_name(descriptor, names, begin + size, end, scratch, rows, at)
        else:
            rows[at + STAT_KIND] = UNKNOWN
            rows[at + STAT_OK] = 0
        if not _is_settled(rows, at, told, i * STAT_SLOTS, horizon):
            numbers[found] = i
            found += 1
    _leave(state, 0)
    for j in range(state[_NEXT], folder_last):
        at = j * STAT_SLOTS
        stat_name(
            directory, folders, folder_starts[j], folder_starts[j + 1], scratch, folder_rows, at
        )
    return found
