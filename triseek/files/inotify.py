"""inotify(7), spoken to directly: an instance, watches of folders, the events read from it.

A binding of our own because the one at hand (watchfiles) hides that its queue has overflowed,
watches what is ignored along with the rest, and cannot take a folder in or out later.

Only what changes a tree is asked for. Opening, reading and closing what was read make no events:
a watcher that hears its own reads never comes to rest.
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
"""A name appeared in the folder or vanished from it."""
FOLDER = MODIFY | ATTRIB | CLOSE_WRITE | NAMES | DELETE_SELF | MOVE_SELF
"""What is asked for a watched folder."""

READ_BYTES = 256 << 10
"""One read takes 16 bytes and a name for each event: some thousands."""

_HEAD = struct.Struct("=iIII")  # watch, mask, cookie, bytes of the name
_LIMITS = "/proc/sys/fs/inotify/"
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP)


class WatchLimit(Exception):
    """No more can be watched; the message is one line saying what ran out."""

    def __init__(self, message: str, fix: str = "") -> None:
        """`fix`: the command or setting that raises the limit; empty if none does."""
        super().__init__(message)
        self.fix = fix


class Event(NamedTuple):
    """One event as the kernel wrote it."""

    watch: int
    """Descriptor of the watch; -1 when the queue overflowed."""
    mask: int
    name: bytes
    """Name within the watched folder; empty when the event is about the folder itself."""


class Inotify:
    """An inotify instance. Not thread-safe: who shares it holds a lock."""

    def __init__(self) -> None:
        """Make an instance, closed on exec, whose reads do not block.

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
            The descriptor; `None` if there is no such folder, or it may not be read.

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
        """End a watch; one that the kernel has ended already is no error.

        Its events that are queued are still read, then one `IGNORED`.
        """
        _libc().inotify_rm_watch(self.fd, watch)

    def read(self) -> bytes:
        """What is queued, as much as fits; empty when nothing is."""
        try:
            return os.read(self.fd, READ_BYTES)
        except BlockingIOError:
            return b""

    def close(self) -> None:
        """End the instance and all its watches."""
        os.close(self.fd)


def events(data: bytes) -> Iterator[Event]:
    """Take apart what one read returned."""
    at = 0
    while at < len(data):
        watch, mask, _, size = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        yield Event(watch, mask, data[at : at + size].rstrip(b"\0"))
        at += size


def limit(name: str) -> int | None:
    """One of the kernel's limits (`max_user_watches`, …); `None` where it cannot be read."""
    try:
        with open(_LIMITS + name, "rb") as file:  # noqa: PTH123 - a path of the kernel's
            return int(file.read())
    except (OSError, ValueError):
        return None


def raising(name: str, least: int = 0) -> str:
    """The command that raises one of the kernel's limits to four times, and at least to `least`."""
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
