"""Removes from the folder of indexes what nobody will use again.

Left behind are segments and unfinished files of writers that were killed, folders of first builds
that were killed, and indexes of roots that are gone. Everything is removed under the locks of its
folder: what another process writes is left alone. A reader that has an index open keeps what it has
mapped. Links are not followed, and what is not named as triseek names it is not touched.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import shutil
import stat
from typing import TYPE_CHECKING

from triseek import errors, paths, private
from triseek.files import mounts
from triseek.files.tree.root import key
from triseek.store import layout, lock, manifest

if TYPE_CHECKING:
    from triseek.store.manifest import Manifest

logger = logging.getLogger(__name__)

LOCKS = ("lock", "frecency.lock")
"""The locks of an index folder: `store.lock` and `engine.frecency`."""
PARTIAL = ".partial"
_INDEX = re.compile(r"[a-z0-9-]+-[0-9a-f]{16}")
_COOKIES = re.compile(rf"{_INDEX.pattern}\.([0-9]+)")
_REMOVED = re.compile(r"\.removed-[0-9a-f]{16}")


def clean() -> None:
    """Remove what is left behind in all indexes. A folder that cannot be cleaned stays as it is."""
    for name in _names(paths.indexes()):
        folder = paths.index_of(name)
        try:
            if _REMOVED.fullmatch(name):
                shutil.rmtree(folder, ignore_errors=True)
            elif _INDEX.fullmatch(name):
                _clean_index(folder, name)
        except (errors.TriseekError, OSError) as error:
            logger.debug("not cleaned: %s: %s", folder, error)


def clean_cookies() -> None:
    """Remove the folders of cookies of earlier daemons. Only the daemon may call this."""
    folder = os.path.join(paths.daemon(), "cookies")  # noqa: PTH118
    for name in _names(folder):
        match = _COOKIES.fullmatch(name)
        if match is not None and int(match[1]) != os.getpid():
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)  # noqa: PTH118


def is_gone(root: str) -> bool:
    """Return whether a root was removed.

    Where its parent is not there either, or may be a volume that is not mounted, it may come back.
    What is on a server is not looked at, as that may take for ever, and counts as there.
    """
    if mounts.is_remote(os.fsencode(root)):
        return False
    try:
        os.lstat(root)
    except FileNotFoundError:
        parent = os.path.dirname(root)  # noqa: PTH120
        try:
            return os.path.isdir(parent) and not mounts.is_unmounted(parent)  # noqa: PTH112
        except OSError:
            return False
    except OSError:
        return False
    return False


def _names(folder: str) -> list[str]:
    """Return the names of the real folders of this user in a folder."""
    try:
        if private.distrust(folder) is not None:
            return []
        with os.scandir(folder) as entries:
            return [
                entry.name for entry in entries if _is_own_folder(entry.stat(follow_symlinks=False))
            ]
    except OSError:
        return []


def _is_own_folder(status: os.stat_result) -> bool:
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return stat.S_ISDIR(status.st_mode) and is_own


def _clean_index(folder: str, name: str) -> None:
    """Clean one index folder.

    Raises:
        TriseekError: It is in use, or its manifest cannot be read.
        OSError: It cannot be listed or written.
    """
    current = _read(folder)
    is_unused = current is None or (_is_of(current, name) and is_gone(current.root))
    if not is_unused and not _has_leftovers(folder, current):
        return
    with lock.writer(folder):
        current = _read(folder)  # another process may have written it since
        if current is None:
            _remove_parts(folder)
            if set(os.listdir(folder)) <= set(LOCKS):  # noqa: PTH208
                _remove(folder)
        elif _is_of(current, name) and is_gone(current.root):
            _remove(folder)
            logger.info("removed the index of %s, which is gone", current.root)
        else:
            manifest.sweep(folder, current)


def _read(folder: str) -> Manifest | None:
    """Return the manifest of an index folder; None if it has none.

    Raises:
        TriseekError: It is damaged, or of a format of another version.
    """
    current = manifest.read(folder)
    if current is None and os.path.lexists(os.path.join(folder, layout.CURRENT)):  # noqa: PTH118
        raise errors.IndexUnavailable("its format is too old")
    return current


def _is_of(current: Manifest, name: str) -> bool:
    return key(os.fsencode(current.root)) == name


def _has_leftovers(folder: str, current: Manifest | None) -> bool:
    """Return whether something is in a folder that its manifest does not use."""
    segments = os.path.join(folder, layout.SEGMENTS)  # noqa: PTH118
    kept = current.folders if current is not None else set()
    unused = set(os.listdir(segments)) - kept  # noqa: PTH208
    return bool(unused) or any(each.endswith(PARTIAL) for each in os.listdir(folder))  # noqa: PTH208


def _remove_parts(folder: str) -> None:
    """Remove segments that no manifest names, and unfinished files."""
    shutil.rmtree(os.path.join(folder, layout.SEGMENTS), ignore_errors=True)  # noqa: PTH118
    for name in os.listdir(folder):  # noqa: PTH208
        if name.endswith(PARTIAL):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))  # noqa: PTH108, PTH118


def _remove(folder: str) -> None:
    """Remove a whole folder, whose writer lock the caller holds.

    Raises:
        Busy: The process that owns the scores of its root is still there.
    """
    with lock.writer(folder, LOCKS[1]):
        # Renamed first: whoever opens it meanwhile finds all of it or nothing.
        aside = paths.index_of(f".removed-{secrets.token_hex(8)}")
        os.rename(folder, aside)  # noqa: PTH104
    shutil.rmtree(aside, ignore_errors=True)
