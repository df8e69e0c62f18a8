"""The daemon's folder: its owner's alone, or not used at all."""

from __future__ import annotations

import os
import stat

from triseek import paths, private
from triseek.errors import StateUnwritable


def ensure() -> str:
    """The daemon's folder, made if need be, with mode 0700.

    Raises:
        StateUnwritable: it cannot be made, is a link, or belongs to another user. Whoever could
            put a socket of theirs there would read every search and write every answer.
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
        found = os.lstat(folder)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "no folder"
        raise StateUnwritable(f"{folder} is {kind}", next_step="Remove it, or set TRISEEK_HOME.")
    if not hasattr(os, "geteuid"):
        return  # Windows: the profile folder's own rights have to do
    if found.st_uid != os.geteuid():  # root's as well: it would hold root's socket
        raise StateUnwritable(f"{folder} belongs to another user (uid {found.st_uid})")
