"""Reads and replaces users' files: follows links, and keeps mode and owner."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from triseek.agents.base import Refused
from triseek.store.atomic import sync

SIZE_MAX = 64 << 20
"""Bytes. A larger file is not a config file."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's bytes before and after; None means that the file does not exist."""

    path: str
    """The path of the file itself, with links resolved."""
    before: bytes | None
    after: bytes | None
    private: bool = False
    """Whether a new file is for the user only, since an agent may write secrets into it later."""


def target_of(path: str) -> str:
    """Return the file that `path` leads to through links, existing or not.

    Raises:
        Refused: the links form a circle, or the path cannot be resolved.
    """
    try:
        target = os.path.realpath(path)
        if os.path.islink(target):  # noqa: PTH114
            raise Refused("its links lead in a circle")
    except (OSError, ValueError) as error:
        raise Refused(f"it cannot be found: {error}") from None
    return target


def read(target: str, most: int = SIZE_MAX) -> bytes | None:
    """Return a regular file's bytes, at most `most`; None if the file does not exist.

    Raises:
        Refused: it is not a regular file, is larger, or cannot be read.
    """
    try:
        status = os.stat(target)  # noqa: PTH116
        if not stat.S_ISREG(status.st_mode):
            raise Refused("it is not a regular file")
        if status.st_size > most:
            raise Refused(f"it is larger than {most >> 20} MiB")
        return Path(target).read_bytes()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Refused(f"it cannot be read: {_reason(error)}") from None


def check(change: FileChange) -> None:
    """Check that a change can be made, before anything is written.

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
    """Return the folders above a file that do not exist, the outermost first."""
    folder, missing = Path(path).parent, []
    while not os.path.lexists(folder):
        missing.append(str(folder))
        folder = folder.parent
    return missing[::-1]


def make(change: FileChange) -> None:
    """Make a change: write a temporary file, sync and rename. Readers see the old or the new file.

    Raises:
        Refused: the file has been changed meanwhile, or it cannot be written.
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


def undo(change: FileChange) -> None:
    """Restore the file from before a change, as far as possible."""
    with contextlib.suppress(OSError):
        if change.before is None:
            Path(change.path).unlink(missing_ok=True)
        else:
            _replace(Path(change.path), change.before, private=True)


def remove_if_empty(folder: str) -> bool:
    """Remove a folder if it is empty; return whether it is gone."""
    with contextlib.suppress(OSError):
        Path(folder).rmdir()
    return not os.path.lexists(folder)


def _replace(path: Path, data: bytes, *, private: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            _like(path, file.fileno(), private=private)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):
        sync(path.parent)


def _like(path: Path, descriptor: int, *, private: bool) -> None:
    """Give a file the mode and owner of the file it replaces, or the mode of a new file."""
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


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
