"""The daemon's lock: the process that holds it is the daemon.

The operating system's lock, not the file's content, says whether a daemon runs. The system releases
it when the process ends, however it ends, so a stale file is never mistaken for a running daemon.
The content, a pid, is for people. The descriptor is closed on exec; a fork without exec would share
the lock.
"""

from __future__ import annotations

import os
import sys
import time

from triseek import paths

NAME = "lock"
_PROBE_S = 0.02


def take() -> int | None:
    """Take the lock and write our pid into it; return the descriptor, or None if it is held.

    The lock is held for as long as the descriptor is open.

    Raises:
        OSError: the file cannot be opened; its folder must exist.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(os.path.join(paths.daemon(), NAME), flags, 0o600)
    if not try_exclusively(descriptor):
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
        return _try(descriptor, shared=True)
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


def try_exclusively(descriptor: int) -> bool:
    """Try to lock a file without waiting; return whether it worked. Closing the file unlocks it."""
    return _try(descriptor, shared=False)


if sys.platform == "win32":  # not tested: see docs/reference/protocol.md
    import msvcrt

    def _try(descriptor: int, *, shared: bool) -> bool:  # noqa: ARG001 - there is only one kind of lock
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

    def _try(descriptor: int, *, shared: bool) -> bool:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
