"""Read files and ranges of files into one arena, without the GIL; only these kernels touch files.

Paths are passed as one blob, relative to a directory's descriptor: name i is
names[starts[i] : starts[i + 1]], without a terminator (like a mapped Arrow column of names).
A large arena costs page faults and cache (engine.md §3), so callers keep it near 1 MiB and call
often. Files are opened read-only and non-blocking (a FIFO must not hang a search) and never
mapped: truncating a mapped file kills the process, where a read is only short.

Only Linux has `statx`; elsewhere `is_available()` is false and callers read through Python.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import stat as stat_module
import sys
from typing import TYPE_CHECKING

import numba

from triseek.kernels.jit import (
    BYTES,
    BYTES_OUT,
    I64,
    I64S,
    I64S_OUT,
    inlined,
    is_compiled,
    kernel,
)
from triseek.kernels.libc import c_close, c_openat, c_pread, c_statx

if TYPE_CHECKING:
    import numpy as np

STAT_BYTES = 256
"""Size of the operating system's `struct statx`."""

NAME_BYTES = 4096
"""Longest name that one call can open, including its NUL; longer ones fail here."""

SCRATCH_BYTES = STAT_BYTES + 8 + NAME_BYTES
"""Size of the scratch array that all functions here need: a stat, an empty name, a name."""

# Slots of a stat row, int64 each.
STAT_OK = 0  # 1 if the file exists and is regular, else 0
STAT_SIZE = 1  # bytes
STAT_MTIME = 2  # nanoseconds since the epoch
STAT_CTIME = 3  # nanoseconds since the epoch
STAT_INODE = 4
STAT_KIND = 5  # S_IFMT bits of the mode
STAT_LINKS = 6  # number of names; a watcher does not see writes through another name
STAT_SLOTS = 7
UNKNOWN = -1
"""STAT_KIND of a row that could not be filled here: the name is too long for one call."""

# A link that replaced a listed file is not that file, wherever it leads.
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY
# A folder is opened only to look names up in it: it need not be readable, and must not be a link.
_FOLDER_FLAGS = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | os.O_DIRECTORY
    | os.O_NOFOLLOW
    | getattr(os, "O_CLOEXEC", 0)
)
_AT_EMPTY_PATH = 0x1000
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_WANTED = 0x3C5  # type, links, modification and change time, inode, size
_S_IFMT = 0o170000
_S_IFREG = 0o100000

# Outcomes of one file, in `lengths`.
FAILED = -1  # could not be opened or read
TOO_BIG = -2  # does not fit the whole arena: read it in chunks
NOT_REGULAR = -3  # a directory, a socket, a device


@functools.cache
def is_available() -> bool:
    """Return whether these kernels can run: compiled, on Linux, with `statx` in the C library."""
    if not (is_compiled() and sys.platform == "linux"):
        return False
    return hasattr(ctypes.CDLL(None), "statx")


def stat_row(stat: os.stat_result) -> list[int]:
    """Return a Python stat result in the row format of these kernels."""
    kind = stat_module.S_IFMT(stat.st_mode)
    regular = int(kind == stat_module.S_IFREG)
    times = (stat.st_mtime_ns, stat.st_ctime_ns)
    return [regular, stat.st_size, *times, stat.st_ino, kind, stat.st_nlink]


def stat_slowly(directory: int, name: bytes) -> list[int]:
    """Return the stat row of one name, by Python's `os.stat`; zeros if it fails."""
    try:
        return stat_row(os.stat(name or b".", dir_fd=directory, follow_symlinks=False))
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and b"/" in name:
            return _stat_far(directory, name)
        return [0] * STAT_SLOTS


def _stat_far(directory: int, name: bytes) -> list[int]:
    """Return the stat row of a name too long for one call, relative to a folder half way down."""
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
def _integer(buffer: np.ndarray, at: int, size: int) -> int:
    """Return the little-endian integer of `size` bytes at buffer[at]."""
    value = numba.uint64(0)
    for i in range(size):
        value |= numba.uint64(buffer[at + i]) << numba.uint64(8 * i)
    return numba.int64(value)


@inlined
def stat_one(
    directory: int, name: int, flags: int, scratch: np.ndarray, out: np.ndarray, at: int
) -> int:
    """Stat the name at address `name` below `directory`; fill out[at : at + STAT_SLOTS].

    scratch: uint8[SCRATCH_BYTES]. out: int64. Returns 1 if the call succeeded, else 0.
    """
    status = c_statx(directory, name, flags, _STATX_WANTED, scratch.ctypes.data)
    for i in range(STAT_SLOTS):
        out[at + i] = 0
    if status != 0:
        return 0
    kind = _integer(scratch, 28, 2) & _S_IFMT
    out[at + STAT_OK] = 1 if kind == _S_IFREG else 0
    out[at + STAT_INODE] = _integer(scratch, 32, 8)
    out[at + STAT_SIZE] = _integer(scratch, 40, 8)
    out[at + STAT_CTIME] = _integer(scratch, 96, 8) * 1_000_000_000 + _integer(scratch, 104, 4)
    out[at + STAT_MTIME] = _integer(scratch, 112, 8) * 1_000_000_000 + _integer(scratch, 120, 4)
    out[at + STAT_KIND] = kind
    out[at + STAT_LINKS] = _integer(scratch, 16, 4)
    return 1


@inlined
def _terminated(names: np.ndarray, begin: int, end: int, scratch: np.ndarray) -> int:
    """Copy names[begin:end] and a NUL to the scratch array; return its address.

    Return 0 if it is too long: a call to the operating system fails with this address.
    """
    length = end - begin
    at = STAT_BYTES + 8
    if length >= NAME_BYTES:
        return 0
    for j in range(length):
        scratch[at + j] = names[begin + j]
    scratch[at + length] = 0
    return numba.int64(scratch.ctypes.data) + at


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

    An empty name is `directory` itself. Returns 1 if the call succeeded. STAT_KIND is UNKNOWN if
    the name is too long for one call.
    """
    name = _terminated(names, begin, end, scratch)
    flags = _AT_EMPTY_PATH if begin == end else _AT_SYMLINK_NOFOLLOW
    done = stat_one(directory, name, flags, scratch, out, at)
    if name == 0:
        out[at + STAT_KIND] = UNKNOWN
    return done


@inlined
def is_same_stat(rows: np.ndarray, at: int, stored: np.ndarray, stored_at: int) -> bool:
    """Return whether a row is of a regular file and equals the stored row."""
    return (
        rows[at + STAT_OK] == 1
        and rows[at + STAT_SIZE] == stored[stored_at + STAT_SIZE]
        and rows[at + STAT_MTIME] == stored[stored_at + STAT_MTIME]
        and rows[at + STAT_CTIME] == stored[stored_at + STAT_CTIME]
        and rows[at + STAT_INODE] == stored[stored_at + STAT_INODE]
    )


@kernel(I64, I64, BYTES, I64, I64, BYTES_OUT)
def open_folder(
    directory: int, names: np.ndarray, begin: int, end: int, scratch: np.ndarray
) -> int:
    """Open the folder names[begin:end] below `directory` to look names up in it.

    Returns its descriptor, or a negative number, also for a link. `close_folder` closes it.
    """
    name = _terminated(names, begin, end, scratch)
    return numba.int64(c_openat(directory, name, _FOLDER_FLAGS, 0))


@kernel(I64, I64)
def close_folder(descriptor: int) -> int:
    """Close a descriptor from `open_folder`."""
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
    * STAT_SLOTS], zeros for a name that does not exist, except that STAT_KIND is UNKNOWN if the
    name is too long for one call. Returns how many calls succeeded.
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
    """Open name i and fill stats[at : at + STAT_SLOTS]; return its descriptor, or a negative."""
    for slot in range(STAT_SLOTS):
        stats[at + slot] = 0
    name = _terminated(names, starts[i], starts[i + 1], scratch)
    descriptor = c_openat(directory, name, _FLAGS, 0)
    if descriptor >= 0:
        scratch[STAT_BYTES] = 0
        stat_one(descriptor, scratch.ctypes.data + STAT_BYTES, _AT_EMPTY_PATH, scratch, stats, at)
    return numba.int64(descriptor)


@kernel(I64, I64, I64, I64, I64)
def read_range(descriptor: int, target: int, room: int, offset: int) -> int:
    """Read up to `room` bytes at `offset` to address `target`; return the bytes read, or FAILED."""
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
    read, so that a change during the read shows as a difference later. begins: int64, the start of
    each file in the arena. lengths: int64, its bytes, or FAILED, TOO_BIG, NOT_REGULAR. Row 0 of
    each is file `first`. Returns the number of the first file that was not processed.
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
        # Read into all the room, not just `size` bytes, to notice a file that grew meanwhile.
        got = read_range(descriptor, arena.ctypes.data + used, room, 0)
        c_close(descriptor)
        if got == room:
            lengths[row] = TOO_BIG
            continue
        lengths[row] = got
        if got > 0:
            used += got
    return last
