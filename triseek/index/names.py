"""Many paths as one blob, the form kernels read, and the slow way to open one of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from triseek.files.containment import as_regular

if TYPE_CHECKING:
    from collections.abc import Sequence

_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
_NAME_LIMIT = 4000


class NameTable:
    """Paths relative to one root."""

    def __init__(self, paths: Sequence[bytes]) -> None:
        self.blob = np.frombuffer(b"".join(paths) or b"\0", np.uint8)
        """uint8: path i is blob[starts[i] : starts[i + 1]]"""
        self.starts: np.ndarray[Any, Any] = np.zeros(len(paths) + 1, np.int64)
        np.cumsum([len(path) for path in paths], out=self.starts[1:])

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> bytes:
        return self.blob[self.starts[i] : self.starts[i + 1]].tobytes()


def open_below(directory: int, path: bytes) -> int:
    """Open a regular file below an open directory; a descriptor. Paths of any length work.

    Raises:
        OSError: it cannot be opened, or is a link or no regular file.
    """
    if len(path) < _NAME_LIMIT:
        return as_regular(os.open(path, _FLAGS, dir_fd=directory))
    # Longer than one call may name: walk down in pieces, each below the last.
    here = os.dup(directory)
    try:
        *folders, name = path.split(b"/")
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        return as_regular(os.open(name, _FLAGS, dir_fd=here))
    finally:
        os.close(here)
