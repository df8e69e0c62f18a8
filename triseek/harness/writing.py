"""Reading and replacing files that belong to people: through links, with mode and owner kept."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from triseek.harness.base import Refused

SIZE_MAX = 64 << 20
"""Bytes; a larger file is no config."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file's bytes before and after; None: it is not there."""

    path: str
    """The file itself, after all links."""
    before: bytes | None
    after: bytes | None
    private: bool = False
    """Whether a new file is for the person alone; an agent may come to write secrets into it."""


def target_of(path: str) -> str:
    """The file that is written when `path` is: the end of its links, there or not.

    Raises:
        Refused: the links lead nowhere, in a circle.
    """
    try:
        target = os.path.realpath(path)
        if os.path.islink(target):  # noqa: PTH114
            raise Refused("its links lead in a circle")
    except (OSError, ValueError) as error:
        raise Refused(f"it cannot be found: {error}") from None
    return target


def read(target: str, most: int = SIZE_MAX) -> bytes | None:
    """A regular file's bytes, of which there may be so many; None if it is not there.

    Raises:
        Refused: it is something else, or cannot be read.
    """
    try:
        found = os.stat(target)  # noqa: PTH116
        if not stat.S_ISREG(found.st_mode):
            raise Refused("it is not a regular file")
        if found.st_size > most:
            raise Refused(f"it is larger than {most >> 20} MiB")
        return Path(target).read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Refused(f"it cannot be read: {_reason(error)}") from None


def check(change: Change) -> None:
    """Find what would keep a change from being made, before anything is written.

    Raises:
        Refused: the file is read-only, or its folder cannot be written.
    """
    path = Path(change.path)
    if change.before is not None:
        mode = path.stat().st_mode
        if not mode & 0o222 or not os.access(path, os.W_OK):
            raise Refused("it is read-only")
    folder = path.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise Refused(f"{folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refused(f"its folder {folder} cannot be written")


def missing_folders(path: str) -> list[str]:
    """The folders above a file that are not there, the outermost first."""
    folder, found = Path(path).parent, []
    while not os.path.lexists(folder):
        found.append(str(folder))
        folder = folder.parent
    return found[::-1]


def make(change: Change) -> None:
    """Make a change: written aside, synced, renamed. Readers see the old file or the new one.

    Raises:
        Refused: somebody else has changed the file meanwhile, or it cannot be written.
    """
    try:
        if read(change.path) != change.before:
            raise Refused("it has been changed meanwhile; run the command again")
        if change.after is None:
            Path(change.path).unlink(missing_ok=True)
        else:
            _replace(Path(change.path), change.after, private=change.private)
    except OSError as error:
        raise Refused(f"it cannot be written: {_reason(error)}") from None


def undo(change: Change) -> None:
    """Put back what was there before a change, as far as that can be done."""
    with contextlib.suppress(OSError):
        if change.before is None:
            Path(change.path).unlink(missing_ok=True)
        else:
            _replace(Path(change.path), change.before, private=True)


def remove_if_empty(folder: str) -> bool:
    """Remove a folder that holds nothing; whether it is gone."""
    with contextlib.suppress(OSError):
        Path(folder).rmdir()
    return not os.path.lexists(folder)


def _replace(path: Path, data: bytes, *, private: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, aside = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _like(path, file.fileno(), private=private)
            os.fsync(file.fileno())
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _like(path: Path, descriptor: int, *, private: bool) -> None:
    """Give a file the mode and owner of the one it replaces, or those of a new one."""
    try:
        old = path.stat()
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        os.fchmod(descriptor, (0o600 if private else 0o666) & ~mask)
        return
    new = os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def _sync(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems refuse to sync folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
