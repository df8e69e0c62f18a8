"""Unix sockets at paths of any length: the name of a socket has room for about 100 bytes."""

from __future__ import annotations

import contextlib
import os
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def short(path: str | os.PathLike[str]) -> Iterator[str]:
    """Another name of a path, by an open descriptor of its folder. It is short enough."""
    folder, name = os.path.split(os.fspath(path))
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{name}"
    finally:
        os.close(descriptor)


def bound(path: str | os.PathLike[str]) -> socket.socket:
    """A socket at `path`, which does not listen yet."""
    listener = socket.socket(socket.AF_UNIX)
    try:
        with short(path) as name:
            listener.bind(name)
    except OSError:
        listener.close()
        raise
    return listener
