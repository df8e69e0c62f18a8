"""The daemon's folder, and the lock in it: the process that holds the lock is the daemon.

The folder must belong to this user alone.

The operating system's lock, not the file's content, says whether a daemon runs. The system releases
it when the process ends, however it ends, so a stale file is never mistaken for a running daemon.
The content, a pid, is for people. The descriptor is closed on exec; a fork without exec would share
the lock.
"""

from __future__ import annotations

import os
import stat
import sys
import time

from triseek import paths, private
from triseek.errors import StateUnwritable

NAME = "lock"
_PROBE_S = 0.02


def ensure_folder() -> str:
    """Return the daemon's folder; create it with mode 0700 if it does not exist.

    Raises:
        StateUnwritable: it cannot be created, is a link, or belongs to another user. A user who
            could put a socket there could read every search and forge every answer.
    """
    folder = paths.daemon()
    try:
        _check_folder(folder)
        private.make(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot use the folder {folder}: {error.strerror}") from error
    return folder


def _check_folder(folder: str) -> None:
    try:
        status = os.lstat(folder)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "no folder"
        raise StateUnwritable(f"{folder} is {kind}", next_step="Remove it, or set TRISEEK_HOME.")
    if not hasattr(os, "geteuid"):
        return  # Windows: only the permissions of the profile folder protect it
    if status.st_uid != os.geteuid():  # root's folder is refused too: it would hold root's socket
        raise StateUnwritable(f"{folder} belongs to another user (uid {status.st_uid})")


def take() -> int | None:
    """Take the lock and write our pid into it; return the descriptor, or None if it is held.

    The lock is held for as long as the descriptor is open.

    Raises:
        OSError: the file cannot be opened; its folder must exist.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(os.path.join(paths.daemon(), NAME), flags, 0o600)
    if not try_lock(descriptor):
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return descriptor


def is_free() -> bool:
    """Return whether no daemon holds the lock.

    The check itself holds the lock for microseconds; callers of `take` try again.
    """
    try:
        descriptor = os.open(os.path.join(paths.daemon(), NAME), os.O_RDONLY)
    except OSError:
        return True  # never created, or not readable for us
    try:
        return try_lock(descriptor, shared=True)
    finally:
        os.close(descriptor)


def wait_until_free(timeout_s: float) -> bool:
    """Wait until no daemon holds the lock; return False if the time-out passes first."""
    until = time.monotonic() + timeout_s
    while not is_free():
        if time.monotonic() > until:
            return False
        time.sleep(_PROBE_S)
    return True


def holder() -> int:
    """Return the pid in the lock file, 0 for none. It does not prove that the process runs."""
    try:
        with open(os.path.join(paths.daemon(), NAME), "rb") as file:
            digits = file.read(32).strip()
    except OSError:
        return 0
    return int(digits) if digits.isdigit() else 0


if sys.platform == "win32":  # not tested: see docs/reference/protocol.md
    import msvcrt

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:  # noqa: ARG001, D103 - there is only one kind of lock
        try:
            os.lseek(descriptor, 1 << 30, os.SEEK_SET)  # beyond the pid, which others read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            os.lseek(descriptor, 0, os.SEEK_SET)
        return True

else:
    import fcntl

    def try_lock(descriptor: int, *, shared: bool = False) -> bool:
        """Try to lock a file without waiting; return whether it worked. Closing it unlocks it."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
