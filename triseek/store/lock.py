"""Lock for the one writer of an index folder, or of a file in it.

It is a lock of the operating system (`flock`), so it ends with the process however that ends. The
file's content only names the holder. Readers take no lock, because what they read never changes.
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
except ImportError:  # on Windows the user must ensure that there is only one writer
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def writer(folder: str | os.PathLike[str], name: str = "lock") -> Iterator[None]:
    """Hold the writer lock of a folder, or of one file in it with a lock name of its own.

    The folder is created if need be.

    Raises:
        Busy: another process holds it.
        StateUnwritable: the folder or its lock file cannot be created.
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
