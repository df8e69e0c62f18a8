"""Tell what is not there from what could not be looked at.

A failing system call is no proof of absence: without a descriptor (EMFILE), without memory (ENOMEM)
or on a failing disk (EIO) every file looks as if it were gone. Who compares a tree with its index
must not take the one for the other.
"""

from __future__ import annotations

import errno
import os

_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG))
_FORBIDDEN = frozenset((errno.EACCES, errno.EPERM, errno.ENXIO))
"""ENXIO: a socket, or a device that nothing answers for."""


def is_absent(error: OSError) -> bool:
    """Whether the error says that there is no such file or folder."""
    return error.errno in _ABSENT


def is_unseen(error: OSError) -> bool:
    """Whether nothing is there, or nothing this user may see: ripgrep lists neither."""
    return error.errno in _ABSENT or error.errno in _FORBIDDEN


def status(
    path: bytes, *, directory: int | None = None, follow: bool = True
) -> os.stat_result | None:
    """The stat of a path; `None` when nothing is there that this user may see.

    directory: the descriptor of the folder a relative path counts from.

    Raises:
        OSError: It cannot be told.
    """
    try:
        return os.stat(path, dir_fd=directory, follow_symlinks=follow)
    except OSError as error:
        if is_unseen(error):
            return None
        raise


def exists(path: bytes) -> bool:
    """Whether something is there, links followed.

    Raises:
        OSError: It cannot be told.
    """
    return status(path) is not None
