"""Binding of inotify(7): an instance, watches of folders, and the events read from it.

This is our own binding because watchfiles does not report that its queue has overflowed, watches
ignored folders along with the rest, and cannot add or remove a folder later.

Only events of changes are requested. Opening, reading, and closing after a read make no events: a
watcher that received events of its own reads would never come to rest.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# <sys/inotify.h>
MODIFY, ATTRIB, CLOSE_WRITE = 0x002, 0x004, 0x008
MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x040, 0x080, 0x100, 0x200
DELETE_SELF, MOVE_SELF = 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED = 0x2000, 0x4000, 0x8000
ISDIR = 0x4000_0000
_ONLYDIR, _DONT_FOLLOW, _EXCL_UNLINK = 0x0100_0000, 0x0200_0000, 0x0400_0000

NAMES = CREATE | DELETE | MOVED_FROM | MOVED_TO
"""Events by which a name appeared in the folder or vanished from it."""
FOLDER = MODIFY | ATTRIB | CLOSE_WRITE | NAMES | DELETE_SELF | MOVE_SELF
"""The events requested for a watched folder."""

READ_BYTES = 256 << 10
"""Bytes of one read. An event takes 16 bytes and its name, so this holds some thousands."""

_HEAD = struct.Struct("=iIII")  # watch, mask, cookie, bytes of the name
_LIMITS = "/proc/sys/fs/inotify/"
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP)


class WatchLimit(Exception):
    """No more can be watched; the message says in one line which resource ran out."""

    def __init__(self, message: str, fix: str = "") -> None:
        """Create the error. `fix` is the command or setting that raises the limit, or empty."""
        super().__init__(message)
        self.fix = fix


class Event(NamedTuple):
    """One event as the kernel wrote it."""

    watch: int
    """Descriptor of the watch; -1 if the queue overflowed."""
    mask: int
    name: bytes
    """Name within the watched folder; empty if the event is about the folder itself."""


class Inotify:
    """An inotify instance. Not thread-safe: threads that share it must hold a lock."""

    def __init__(self) -> None:
        """Create an instance, closed on exec, whose reads do not block.

        Raises:
            WatchLimit: The user's instances or the process's descriptors are used up.
        """
        self.fd: int = _libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self.fd < 0:
            raise _refused(
                "no more inotify instances (fs.inotify.max_user_instances)",
                raising("max_user_instances"),
            )

    def add(self, path: bytes, mask: int = FOLDER, *, follow: bool = False) -> int | None:
        """Watch a folder; the same inode always gives the same descriptor.

        Returns:
            The watch descriptor; `None` if there is no such folder, or it may not be read.

        Raises:
            WatchLimit: The kernel allows no more watches, or refuses this one.
        """
        mask |= _ONLYDIR | _EXCL_UNLINK | (0 if follow else _DONT_FOLLOW)
        watch: int = _libc().inotify_add_watch(self.fd, path, mask)
        if watch >= 0:
            return watch
        if ctypes.get_errno() in _GONE:
            return None
        if ctypes.get_errno() == errno.ENOSPC:
            raise _refused(
                "no more inotify watches (fs.inotify.max_user_watches)", raising("max_user_watches")
            )
        raise _refused(f"cannot watch {os.fsdecode(path)!r}")

    def remove(self, watch: int) -> None:
        """End a watch. It is no error if the kernel has ended it already.

        Its queued events are still read, then one `IGNORED`.
        """
        _libc().inotify_rm_watch(self.fd, watch)

    def read(self) -> bytes:
        """Read queued events, up to `READ_BYTES`; empty if there are none."""
        try:
            return os.read(self.fd, READ_BYTES)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """End the instance and all its watches."""
        os.close(self.fd)


def events(data: bytes) -> Iterator[Event]:
    """Parse the data that one read returned."""
    at = 0
    while at < len(data):
        watch, mask, _, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Event(watch, mask, data[at : at + size].rstrip(b"\0"))
        at += size


def limit(name: str) -> int | None:
    """Return one of the kernel's limits (`max_user_watches`, …); `None` if it cannot be read."""
    try:
        with open(_LIMITS + name, "rb") as file:  # noqa: PTH123 - a path in /proc
            return int(file.read())
    except (OSError, ValueError):
        return None


def raising(name: str, least: int = 0) -> str:
    """Return the command that raises a kernel limit to four times its value, at least `least`."""
    most = max(least, 4 * (limit(name) or 2048))
    return f"sudo sysctl fs.inotify.{name}={1 << (most - 1).bit_length()}"


def _refused(reason: str, fix: str = "") -> WatchLimit:
    return WatchLimit(f"{reason}: {os.strerror(ctypes.get_errno())}", fix)


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.inotify_init1.argtypes = [ctypes.c_int]
    libc.inotify_add_watch.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32]
    libc.inotify_rm_watch.argtypes = [ctypes.c_int, ctypes.c_int]
    return libc
