"""Create and check the daemon's folder, which must belong to this user alone."""

from __future__ import annotations

import os
import stat

from triseek import paths, private
from triseek.errors import StateUnwritable


def ensure() -> str:
    """Return the daemon's folder; create it with mode 0700 if it does not exist.

    Raises:
        StateUnwritable: it cannot be created, is a link, or belongs to another user. A user who
            could put a socket there could read every search and forge every answer.
    """
    folder = paths.daemon()
    try:
        _check(folder)
        private.make(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot use the folder {folder}: {error.strerror}") from error
    return folder


def _check(folder: str) -> None:
    try:
        status = os.lstat(folder)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "no folder"
        raise StateUnwritable(f"{folder} is {kind}", next_step="Remove it, or set TRISEEK_HOME.")
    if not hasattr(os, "geteuid"):
        return  # Windows: only the permissions of the profile folder protect it
    if status.st_uid != os.geteuid():  # root's folder is refused too: it would hold root's socket
        raise StateUnwritable(f"{folder} belongs to another user (uid {status.st_uid})")
