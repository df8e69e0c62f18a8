"""Read files and ranges of files into one arena, without the GIL; only these kernels touch files.

Paths come as one blob, relative to a directory's descriptor: name i is
names[starts[i] : starts[i + 1]], without a terminator (an Arrow column of names as it is mapped).
A big arena costs page faults and cache (engine.md §3), so callers keep it near 1 MiB and call
often. Files are opened read-only and non-blocking (a FIFO must not hang a search) and never
mapped: a file cut short under a mapping kills the process, a short read is only a short read.

Only Linux has `statx`; elsewhere `is_available()` is false and callers read through Python.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import stat as stat_module
import sys
from typing import TYPE_CHECKING, cast

import numba

from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S,
    I64S_OUT,
    F,
    is_compiled,
    kernel,
)
from triseek.kernels.libc import c_close, c_openat, c_pread, c_statx

if TYPE_CHECKING:
    import numpy as np

STAT_BYTES = 256
"""Size of the operating system's `struct statx`."""

NAME_BYTES = 4096
"""Longest name that one call can open, its NUL included; longer ones fail here."""

SCRATCH_BYTES = STAT_BYTES + 8 + NAME_BYTES
"""Size of the scratch array every function here wants: a stat, an empty name, a name."""

# Slots of a stat row, int64 each.
STAT_OK = 0  # 1 when the file is there and regular, else 0
STAT_SIZE = 1  # bytes
STAT_MTIME = 2  # nanoseconds since the epoch
STAT_CTIME = 3  # nanoseconds since the epoch
STAT_INODE = 4
STAT_KIND = 5  # S_IFMT bits of the mode
STAT_LINKS = 6  # names the file has; through another one it can be edited unseen by a watcher
STAT_SLOTS = 7

# A link in the place of a listed file is not that file, wherever it leads.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
# A folder only to look names up in: it need not be readable, and a link to one is none.
_FOLDER_FLAGS = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | os.O_DIRECTORY
    | os.O_NOFOLLOW
    | getattr(os, "O_CLOEXEC", 0)
)
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_WANTED = 0x3C5  # type, links, times of modification and change, inode, size: a row
_S_IFMT = 0o170000
_S_IFREG = 0o100000

# Outcomes of one file, in `lengths`.
FAILED = -1  # could not be opened or read
TOO_BIG = -2  # does not fit the whole arena: read it in chunks
NOT_REGULAR = -3  # a directory, a socket, a device


def inlined(function: F) -> F:
    """For parts of kernels that are called for every file: they become part of what calls them.

    They have no signature. As kernels of their own they made a sweep 10 % slower, in handing
    over arrays.
    """
    return cast("F", numba.njit(nogil=True, forceinline=True)(function))


@functools.cache
def is_available() -> bool:
    """Whether these kernels can run here: compiled, on Linux, with `statx` in the C library."""
    if not (is_compiled() and sys.platform == "linux"):
        return False
    return hasattr(ctypes.CDLL(None), "statx")


def stat_row(stat: os.stat_result) -> list[int]:
    """A Python stat result as the kernels here write their rows."""
    kind = stat_module.S_IFMT(stat.st_mode)
    regular = int(kind == stat_module.S_IFREG)
    times = (stat.st_mtime_ns, stat.st_ctime_ns)
    return [regular, stat.st_size, *times, stat.st_ino, kind, stat.st_nlink]


def stat_slowly(directory: int, name: bytes) -> list[int]:
    """The stat row of one name by Python's own call; zeros when there is nothing."""
    try:
        return stat_row(os.stat(name or b".", dir_fd=directory, follow_symlinks=False))
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and b"/" in name:
            return _stat_far(directory, name)
        return [0] * STAT_SLOTS


def _stat_far(directory: int, name: bytes) -> list[int]:
    """The same of a name longer than one call may be, from the folder half way down."""
    folders = name.split(b"/")
    half = len(folders) // 2
    try:
        below = os.open(b"/".join(folders[:half]), _FOLDER_FLAGS, dir_fd=directory)
    except OSError:
        return [0] * STAT_SLOTS
    try:
        return stat_slowly(below, b"/".join(folders[half:]))
    finally:
        os.close(below)


@inlined
def _u64(buffer: np.ndarray, at: int) -> int:
    value = numba.uint64(0)
    for i in range(8):
        value |= numba.uint64(buffer[at + i]) << numba.uint64(8 * i)
    return numba.int64(value)


@inlined
def _u32(buffer: np.ndarray, at: int) -> int:
    value = numba.int64(0)
    for i in range(4):
        value |= numba.int64(buffer[at + i]) << (8 * i)
    return value


@inlined
def stat_one(
    directory: int, name: int, flags: int, scratch: np.ndarray, out: np.ndarray, at: int
) -> int:
    """Stat the name at address `name` below `directory`; fill out[at : at + STAT_SLOTS].

    scratch: uint8[SCRATCH_BYTES]. out: int64. Returns 1 when the call succeeded.
    """
    status = c_statx(directory, name, flags, _STATX_WANTED, scratch.ctypes.data)
    for i in range(STAT_SLOTS):
        out[at + i] = 0
    if status != 0:
        return 0
    kind = (numba.int64(scratch[28]) | (numba.int64(scratch[29]) << 8)) & _S_IFMT
    out[at + STAT_OK] = 1 if kind == _S_IFREG else 0
    out[at + STAT_INODE] = _u64(scratch, 32)
    out[at + STAT_SIZE] = _u64(scratch, 40)
    out[at + STAT_CTIME] = _u64(scratch, 96) * 1_000_000_000 + _u32(scratch, 104)
    out[at + STAT_MTIME] = _u64(scratch, 112) * 1_000_000_000 + _u32(scratch, 120)
    out[at + STAT_KIND] = kind
    out[at + STAT_LINKS] = _u32(scratch, 16)
    return 1


@inlined
def _terminated(names: np.ndarray, begin: int, end: int, scratch: np.ndarray) -> int:
    """Put names[begin:end] and a NUL into the scratch array; its address, or 0 if too long."""
    length = end - begin
    at = STAT_BYTES + 8
    if length >= NAME_BYTES:
        return 0
    for j in range(length):
        scratch[at + j] = names[begin + j]
    scratch[at + length] = 0
    return numba.int64(scratch.ctypes.data) + at


@inlined
def _name(names: np.ndarray, starts: np.ndarray, i: int, scratch: np.ndarray) -> int:
    """The same of name i."""
    return _terminated(names, starts[i], starts[i + 1], scratch)


@inlined
def stat_name(
    directory: int,
    names: np.ndarray,
    begin: int,
    end: int,
    scratch: np.ndarray,
    out: np.ndarray,
    at: int,
) -> int:
    """Stat names[begin:end] below `directory`, not following a link; the row goes to out[at:].

    An empty name is `directory` itself. Returns 1 when the call succeeded; a name too long for one
    call reads as absent.
    """
    name = _terminated(names, begin, end, scratch)
    if name == 0:
        for slot in range(STAT_SLOTS):
            out[at + slot] = 0
        return 0
    flags = _AT_EMPTY_PATH if begin == end else _AT_SYMLINK_NOFOLLOW
    return stat_one(directory, name, flags, scratch, out, at)


@kernel(I64, I64, BYTES, I64, I64, BYTES_OUT)
def open_folder(
    directory: int, names: np.ndarray, begin: int, end: int, scratch: np.ndarray
) -> int:
    """Open the folder names[begin:end] below `directory` to look names up in it.

    Its descriptor, or negative: also for a link, wherever it leads. `close_folder` closes it.
    """
    name = _terminated(names, begin, end, scratch)
    if name == 0:
        return -1
    return numba.int64(c_openat(directory, name, _FOLDER_FLAGS, 0))


@kernel(I64, I64)
def close_folder(descriptor: int) -> int:
    """Close what `open_folder` opened."""
    return numba.int64(c_close(descriptor))


@kernel(I64, I64, BYTES, I64S, I64, I64, BYTES_OUT, I64S_OUT)
def stat_many(
    directory: int,
    names: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    scratch: np.ndarray,
    out: np.ndarray,
) -> int:
    """Stat names first..last-1, not following links, into rows of `out`; "" is the directory.

    names: uint8, starts: int64[n + 1]. scratch: uint8[SCRATCH_BYTES]. out: int64[(last - first)
    * STAT_SLOTS]. Returns how many calls succeeded; a name too long for one call reads as absent.
    """
    done = 0
    for i in range(first, last):
        at = (i - first) * STAT_SLOTS
        done += stat_name(directory, names, starts[i], starts[i + 1], scratch, out, at)
    return done


@kernel(I64, I64, BYTES, I64S, I64, BYTES_OUT, I64S_OUT, I64)
def open_stat(
    directory: int,
    names: np.ndarray,
    starts: np.ndarray,
    i: int,
    scratch: np.ndarray,
    stats: np.ndarray,
    at: int,
) -> int:
    """Open name i and fill stats[at : at + STAT_SLOTS]; its descriptor, or negative."""
    for slot in range(STAT_SLOTS):
        stats[at + slot] = 0
    name = _name(names, starts, i, scratch)
    if name == 0:
        return -1
    descriptor = c_openat(directory, name, _FLAGS, 0)
    if descriptor >= 0:
        scratch[STAT_BYTES] = 0
        stat_one(descriptor, scratch.ctypes.data + STAT_BYTES, _AT_EMPTY_PATH, scratch, stats, at)
    return numba.int64(descriptor)


@kernel(I64, I64, I64, I64, I64)
def read_range(descriptor: int, target: int, room: int, offset: int) -> int:
    """Read up to `room` bytes at `offset` to address `target`; bytes read, or FAILED."""
    got = 0
    while got < room:
        n = c_pread(descriptor, target + got, room - got, offset + got)
        if n < 0:
            return FAILED
        if n == 0:
            break
        got += n
    return got


@kernel(I64, I64, BYTES, I64S, I64, I64, BYTES_OUT, BYTES_OUT, I64S_OUT, I64S_OUT, I64S_OUT)
def read_files(
    directory: int,
    names: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    scratch: np.ndarray,
    arena: np.ndarray,
    stats: np.ndarray,
    begins: np.ndarray,
    lengths: np.ndarray,
) -> int:
    """Read whole files first..last-1 into the arena, one after the other, until it is full.

    names, starts: as for `stat_many`. stats: int64, a row per file, taken before the file was
    read, so that a change during the read shows as a difference later. begins: int64, where in
    the arena a file stands. lengths: int64, its bytes, or FAILED, TOO_BIG, NOT_REGULAR. Row 0 of
    each is file `first`. Returns the number of the first file that was not taken.
    """
    used = 0
    for i in range(first, last):
        row = i - first
        begins[row] = used
        descriptor = open_stat(directory, names, starts, i, scratch, stats, row * STAT_SLOTS)
        if descriptor < 0:
            lengths[row] = FAILED
            continue
        if stats[row * STAT_SLOTS + STAT_OK] == 0:
            lengths[row] = NOT_REGULAR
            c_close(descriptor)
            continue
        size = stats[row * STAT_SLOTS + STAT_SIZE]
        room = arena.size - used
        if size >= room:
            c_close(descriptor)
            if used > 0:
                return i
            lengths[row] = TOO_BIG
            continue
        # All the room is offered, not the size just read: a file that grew meanwhile shows.
        got = read_range(descriptor, arena.ctypes.data + used, room, 0)
        c_close(descriptor)
        if got == room:
            lengths[row] = TOO_BIG
            continue
        lengths[row] = got
        if got > 0:
            used += got
    return last
