"""The daemon's lock: whoever holds it is the daemon, for as long as the process lives.

The operating system's lock, not the file's content, says whether a daemon runs: it ends with the
process however that ends, so nothing stale can be mistaken for a living one. The content, a pid, is
for people. The descriptor is closed on exec; a fork without exec would share the lock.
"""

from __future__ import annotations

import os
import sys
import time

from triseek import paths

NAME = "lock"
_PROBE_S = 0.02


def take() -> int | None:
    """Take the lock and write our pid into it: the descriptor to keep, or None if it is held.

    Raises:
        OSError: the file cannot be opened; its folder must be there.
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
    """Whether no daemon holds the lock. A look of microseconds holds it too: `take` tries again."""
    try:
        descriptor = os.open(os.path.join(paths.daemon(), NAME), os.O_RDONLY)
    except OSError:
        return True  # never made, or not for us to see
    try:
        return _try(descriptor, shared=True)
    finally:
        os.close(descriptor)


def wait_until_free(timeout_s: float) -> bool:
    """Wait for the daemon to be gone; whether it is."""
    until = time.monotonic() + timeout_s
    while not is_free():
        if time.monotonic() > until:
            return False
        time.sleep(_PROBE_S)
    return True


def holder() -> int:
    """The pid the lock file names, 0 for none. A name, not a proof."""
    try:
        with open(os.path.join(paths.daemon(), NAME), "rb") as file:
            word = file.read(32).strip()
    except OSError:
        return 0
    return int(word) if word.isdigit() else 0


def try_exclusively(descriptor: int) -> bool:
    """Take a file's lock without waiting; whether it was free. Closing the file gives it back."""
    return _try(descriptor, shared=False)


if sys.platform == "win32":  # not tested: see docs/reference/protocol.md
    import msvcrt

    def _try(descriptor: int, *, shared: bool) -> bool:  # noqa: ARG001 - there is one kind
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
