"""Packs that agents request, as named files in one folder of the state folder."""

from __future__ import annotations

import os
from pathlib import Path

from triseek import paths, private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.sessions import pack

SUFFIX = ".tcp"
NAME_BYTES_MAX = 128
_SHOWN_MAX = 80


def checked_name(name: str) -> str:
    """Return the name if it is a valid file name for a pack.

    Raises:
        InvalidRequest: It is a path, is hidden, is not printable, lacks the suffix, or is too long.
    """
    why = _objection(name)
    if why:
        raise InvalidRequest(
            f"output {name[:_SHOWN_MAX]!r} {why}",
            next_step=f"Name a file such as handoff{SUFFIX}; it is written to {paths.exports()}.",
        )
    return name


def write(snapshot_folder: Path, name: str) -> str:
    """Export a snapshot as a pack into the exports folder; return the file's absolute path.

    A pack of that name is replaced; a link of that name is replaced, not followed.

    Raises:
        InvalidRequest: The name is not valid for a pack, or the snapshot is damaged.
        StateUnwritable: It cannot be written.
    """
    folder = Path(paths.exports())
    target = folder / checked_name(name)
    try:
        private.make(folder)
    except OSError as error:
        raise StateUnwritable(f"cannot make {folder}: {error.strerror}") from error
    if folder.is_symlink():
        raise StateUnwritable(
            f"{folder} is a link, and is not written to", next_step="Remove the link."
        )
    pack.export(snapshot_folder, target, mode=0o600)
    return os.fspath(target)


def _objection(name: str) -> str:
    """Return why a name is refused; "" if it is not."""
    if "/" in name or "\\" in name:
        return "is a path, not a file name"
    if not name.isprintable():
        return "holds characters that cannot be shown"
    if name.startswith((".", " ")):
        return "begins with a dot or a space"
    if not name.endswith(SUFFIX):
        return f"does not end in {SUFFIX}"
    too_long = len(name.encode()) > NAME_BYTES_MAX
    return f"is longer than {NAME_BYTES_MAX} bytes" if too_long else ""
