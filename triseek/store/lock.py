"""Lock for the one writer of an index folder, or of a file in it.

It is a lock of the operating system (`flock`), so it ends with the process however that ends. The
file's content only names the holder. Readers take no lock, because what they read never changes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from typing import TYPE_CHECKING

from triseek import errors, private
from triseek.ipc.lock import try_lock
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Iterator


TRIES = 16
"""How often a lock is taken anew if its file is removed meanwhile."""
PAUSE_S = 0.02
"""Seconds between two tries to take a lock that somebody holds."""


@contextlib.contextmanager
def writer(
    folder: str | os.PathLike[str], name: str = "lock", *, wait_s: float = 0.0
) -> Iterator[None]:
    """Hold the writer lock of a folder, or of one file in it with a lock name of its own.

    The folder is created if need be. It may be removed by whoever holds the lock, and be created
    anew: a lock of a file that is not in it any more is none.

    wait_s: Seconds to wait for it.

    Raises:
        Busy: another process, or another block of this one, holds it.
        StateUnwritable: the folder or its lock file cannot be created or locked.
    """
    with contextlib.ExitStack() as stack:
        try:
            descriptor, is_free = _awaited(folder, name, wait_s)
            stack.callback(os.close, descriptor)
        except OSError as error:
            raise errors.StateUnwritable(
                f"cannot write the index folder {folder}: {error.strerror}"
            ) from error
        if not is_free:
            holder = os.read(descriptor, 32).decode(errors="replace").strip()
            who = f" (process {holder})" if holder else ""
            raise errors.Busy(f"another triseek{who} is writing this index")
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield


def _awaited(folder: str | os.PathLike[str], name: str, wait_s: float) -> tuple[int, bool]:
    """Return as `_opened`, after at most `wait_s` seconds."""
    deadline = time.monotonic() + wait_s
    while True:
        descriptor, is_free = _opened(folder, name)
        if is_free or time.monotonic() >= deadline:
            return descriptor, is_free
        os.close(descriptor)
        budget.check()
        time.sleep(PAUSE_S)


def _opened(folder: str | os.PathLike[str], name: str) -> tuple[int, bool]:
    """Return a descriptor of a folder's lock file, and whether it is locked by it now.

    Raises:
        OSError: The folder or the file cannot be created or locked.
    """
    path = os.path.join(folder, name)  # noqa: PTH118
    for _ in range(TRIES):
        private.make(folder)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            continue  # the folder was removed a moment ago
        try:
            is_free = try_lock(descriptor)
            if not is_free or _is_at(path, descriptor):
                return descriptor, is_free
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
    raise FileNotFoundError(errno.ENOENT, "it is removed again and again", path)


def _is_at(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))  # noqa: PTH116
    except FileNotFoundError:
        return False
