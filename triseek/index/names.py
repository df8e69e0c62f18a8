"""Paths as one blob, the form that kernels read; their stats, and a slow way to open one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.files.access import open_regular
from triseek.kernels import fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

Array: TypeAlias = np.ndarray[Any, Any]

_NAME_LIMIT = 4000


class NameTable:
    """Paths relative to one root."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        self.blob = np.frombuffer(b"".join(paths) or b"\0", np.uint8)
        """uint8: path i is blob[starts[i] : starts[i + 1]]"""
        self.starts: Array = np.zeros(len(paths) + 1, np.int64)
        np.cumsum([len(path) for path in paths], out=self.starts[1:])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> bytes:
        return self.blob[self.starts[i] : self.starts[i + 1]].tobytes()


def open_below(directory: int, path: bytes) -> int:
    """Open a regular file below an open directory and return its descriptor.

    Paths of any length work.

    Raises:
        OSError: it cannot be opened, is a link, or is not a regular file.
    """
    if len(path) < _NAME_LIMIT:
        return open_regular(path, directory=directory, follow=False)
    # Too long for one system call: open the folders one by one.
    here = os.dup(directory)
    try:
        *folders, name = path.split(b"/")
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        return open_regular(name, directory=here, follow=False)
    finally:
        os.close(here)


def stat_all(directory: int, blob: Array, starts: Array) -> Array:
    """Return int64[n, STAT_SLOTS]: the lstat of each name below an open directory."""
    n = len(starts) - 1
    flat = np.zeros(n * fetch.STAT_SLOTS, np.int64)
    if fetch.is_available():
        scratch = np.zeros(fetch.SCRATCH_BYTES, np.uint8)
        fetch.stat_many(directory, blob, starts, 0, n, scratch, flat)
        return flat.reshape(-1, fetch.STAT_SLOTS)
    rows = flat.reshape(-1, fetch.STAT_SLOTS)
    for i in range(n):
        rows[i] = fetch.stat_slowly(directory, blob[starts[i] : starts[i + 1]].tobytes())
    return rows
