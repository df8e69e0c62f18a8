"""Atomic, durable writes of files and folders.

The data is written under a temporary name, fsynced and renamed, and the folder that holds the name
is fsynced too: without that last step a power failure may undo the rename (RocksDB issue #10573).
"""

from __future__ import annotations

import os
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Fsync a folder, so that the names in it are durable. A file system's refusal is ignored."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some network and FUSE file systems refuse to sync folders
        pass
    finally:
        os.close(descriptor)


def write(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o600) -> None:
    """Atomically replace the file at `path` with one that holds `data`.

    Readers see the old file or the new one. A link at `path` is replaced, not followed.

    mode: of the new file, before the umask; by default only its owner may read and write it.
    """
    target = Path(path)
    aside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        # Create it anew: an existing file may be a link that somebody else has placed there.
        aside.unlink(missing_ok=True)
        with open(os.open(aside, _FLAGS, mode), "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def publish(partial: str | os.PathLike[str], final: str | os.PathLike[str]) -> None:
    """Rename a folder durably to its final name. All of its files must be synced already."""
    sync_folder(partial)
    Path(partial).rename(final)
    sync_folder(Path(final).parent)
