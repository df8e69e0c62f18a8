"""The daemon's folder: its owner's alone, or not used at all."""

from __future__ import annotations

import contextlib
import os
import stat

from triseek import paths
from triseek.errors import StateUnwritable


def ensure() -> str:
    """The daemon's folder, made if need be, with mode 0700.

    Raises:
        StateUnwritable: it cannot be made, is a link, or belongs to another user. Whoever could
            put a socket of theirs there would read every search and write every answer.
    """
    folder = paths.daemon()
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        _check(folder, os.lstat(folder))
    except OSError as error:
        raise StateUnwritable(f"cannot use the folder {folder}: {error.strerror}") from error
    return folder


def _check(folder: str, found: os.stat_result) -> None:
    if not stat.S_ISDIR(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "no folder"
        raise StateUnwritable(f"{folder} is {kind}", next_step="Remove it, or set TRISEEK_HOME.")
    if not hasattr(os, "geteuid"):
        return  # Windows: the profile folder's own rights have to do
    if found.st_uid != os.geteuid():
        raise StateUnwritable(f"{folder} belongs to another user (uid {found.st_uid})")
    if stat.S_IMODE(found.st_mode) != 0o700:
        os.chmod(folder, 0o700)
