"""Lock for the one writer of an index folder, or of a file in it.

It is a lock of the operating system (`flock`), so it ends with the process however that ends. The
file's content only names the holder. Readers take no lock, because what they read never changes.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from triseek import errors, private
from triseek.ipc.lock import try_lock

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def writer(folder: str | os.PathLike[str], name: str = "lock") -> Iterator[None]:
    """Hold the writer lock of a folder, or of one file in it with a lock name of its own.

    The folder is created if need be.

    Raises:
        Busy: another process holds it.
        StateUnwritable: the folder or its lock file cannot be created or locked.
    """
    with contextlib.ExitStack() as stack:
        try:
            private.make(folder)
            path = os.path.join(folder, name)  # noqa: PTH118
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, descriptor)
            is_free = try_lock(descriptor)
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
