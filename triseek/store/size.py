"""The size of an index folder."""

from __future__ import annotations

import contextlib
import os


def size_on_disk(index_dir: str | os.PathLike[str]) -> int:
    """Return the bytes of all files below an index folder.

    A writer may be active: files that vanish meanwhile are not counted.
    """
    size = 0
    for folder, _, names in os.walk(index_dir):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                size += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
    return size
