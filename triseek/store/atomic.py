"""Files and folders that are there whole or not at all.

Everything is written aside, fsynced, renamed, and the folder that holds the name is fsynced too:
without that last step a rename may vanish with the power (RocksDB learned this as #10573).
"""

from __future__ import annotations

import os
from pathlib import Path

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make the names in a folder durable; a file system that cannot is left to itself."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:  # some network and FUSE file systems refuse to sync folders
        pass
    finally:
        os.close(descriptor)


def write(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o600) -> None:
    """Replace the file at `path` by one that holds `data`; readers see the old or the new.

    A link at `path` is replaced, not followed.

    mode: of the new file, less what the umask takes away; its owner's alone unless said otherwise.
    """
    target = Path(path)
    aside = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        # Made anew: whatever lies there may be a link that somebody else has put there.
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
    """Give a folder, all of whose files are synced, its final name."""
    sync_folder(partial)
    Path(partial).rename(final)
    sync_folder(Path(final).parent)
