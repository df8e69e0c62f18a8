"""One writer per index folder, or per file in it.

The lock is the operating system's (`flock`), so it ends with the process however that ends; the
file's content only says who holds it. Readers take no lock: what they read never changes.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import errors, private

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # not on Windows: one writer is then the user's promise
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def writer(folder: str | os.PathLike[str], name: str = "lock") -> Iterator[None]:
    """Hold the folder's writer lock, or that of one file in it by a name; creates the folder.

    Raises:
        Busy: another process holds it.
        StateUnwritable: the folder or its lock file cannot be made.
    """
    descriptor = _open(Path(folder), name)
    try:
        _take(descriptor)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _open(folder: Path, name: str) -> int:
    try:
        private.make(folder)
        return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise errors.StateUnwritable(
            f"cannot write the index folder {folder}: {error.strerror}"
        ) from error


def _take(descriptor: int) -> None:
    if fcntl is None:
        return  # type: ignore[unreachable]
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
        who = f" (process {holder})" if holder else ""
        raise errors.Busy(f"another triseek{who} is writing this index") from error
