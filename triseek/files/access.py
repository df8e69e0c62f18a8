"""Examine and open files: what is absent or forbidden, what is no regular file, fingerprints.

A failing system call is no proof of absence: without a descriptor (EMFILE), without memory (ENOMEM)
or on a failing disk (EIO) every file looks as if it were gone. Code that compares a tree with its
index must not confuse the two.

Opening never waits for the writer of a FIFO and never takes a terminal.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from typing import NamedTuple

_ABSENT = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG))
_FORBIDDEN = frozenset((errno.EACCES, errno.EPERM, errno.ENXIO))
"""ENXIO: a socket, or a device without a driver."""
READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
"""Flags to open a path that may lead to anything."""
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}
MOST_BYTES = 64 << 20
"""The largest file that has a fingerprint."""
_PIECE = 1 << 20
_NAME_LIMIT = 4000


class Content(NamedTuple):
    """Fingerprint of a file's bytes at one moment."""

    sha: str
    """SHA-256, in hex."""
    lines: int
    """The number of lines; the last one need not end with a newline."""
    size: int
    """The size in bytes."""


def is_absent(error: OSError) -> bool:
    """Return whether the error means that there is no such file or folder."""
    return error.errno in _ABSENT


def is_unseen(error: OSError) -> bool:
    """Return whether the error means that nothing exists there, or nothing this user may see.

    ripgrep lists neither.
    """
    return error.errno in _ABSENT or error.errno in _FORBIDDEN


def status(
    path: bytes, *, directory: int | None = None, follow: bool = True
) -> os.stat_result | None:
    """Return the stat of a path; `None` if nothing exists there, or nothing this user may see.

    directory: the descriptor of the folder that a relative path is resolved from.

    Raises:
        OSError: The path could not be examined.
    """
    try:
        return os.stat(path, dir_fd=directory, follow_symlinks=follow)
    except OSError as error:
        if is_unseen(error):
            return None
        raise


def exists(path: bytes) -> bool:
    """Return whether a path exists, links followed.

    Raises:
        OSError: The path could not be examined.
    """
    return status(path) is not None


def relative_to(folder: bytes, path: bytes) -> bytes | None:
    """Return a path relative to a folder, by its text and with `/` between its parts.

    Both are absolute. Returns the empty path for the folder itself, None if it is not below it.
    """
    if path == folder:
        return b""
    separator = os.fsencode(os.sep)
    prefix = folder.rstrip(separator) + separator
    return path[len(prefix) :].replace(separator, b"/") if path.startswith(prefix) else None


def kind_of(mode: int) -> str:
    """Return the kind of file that a mode denotes, in words."""
    return _KINDS.get(stat.S_IFMT(mode), "no regular file")


def as_regular(descriptor: int) -> int:
    """Return the descriptor if it is of a regular file, else close it.

    Raises:
        OSError: It is not a regular file.
    """
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    raise OSError(f"is {kind_of(mode)}, not a regular file")


def open_regular(path: bytes, *, directory: int | None = None, follow: bool = True) -> int:
    """Open a regular file for reading and return its descriptor.

    directory: the descriptor of the folder that a relative path is resolved from.
    follow: whether the last component may be a link.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    flags = READ if follow else READ | os.O_NOFOLLOW
    return as_regular(os.open(path, flags, dir_fd=directory))


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


def fingerprint(descriptor: int) -> Content | None:
    """Read a regular file to its end, return its fingerprint, and close its descriptor.

    Returns None if it is larger than `MOST_BYTES`, or is not a regular file.

    Raises:
        OSError: it cannot be read.
    """
    digest, newlines, size, last = hashlib.sha256(), 0, 0, b"\n"
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
            return None
        while piece := file.read(_PIECE):
            digest.update(piece)
            newlines += piece.count(b"\n")
            size += len(piece)
            last = piece[-1:]
            if size > MOST_BYTES:
                return None
    return Content(digest.hexdigest(), newlines + (last != b"\n"), size)
