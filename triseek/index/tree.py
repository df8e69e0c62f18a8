"""The tree's tables: directories, ignore files and excluded entries, to find changes later.

A file that appears or vanishes changes its directory's times; an ignore file that changes may
change what is searched anywhere below it. With both stored, a sweep (`engine.freshness.sweep`)
finds every change with one `stat` per file and directory, and no walk.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.files import access
from triseek.files.tree import ignore
from triseek.kernels import fetch
from triseek.store import layout
from triseek.store.table import StringColumn

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.query.globs.scope import Excluded
    from triseek.store.segment import SegmentBuilder
    from triseek.store.table import Table

Array: TypeAlias = np.ndarray[Any, Any]

CLOSED = -1
"""Stored as the inode of a folder that may not be read: its contents are unknown."""


class Tree(NamedTuple):
    """The rows of the tree's tables."""

    directories: Sequence[bytes]
    excluded: Sequence[Excluded]
    watched: Sequence[bytes]
    """Absolute paths of ignore files that apply, or would apply if they existed."""


def write(segment: SegmentBuilder, root: bytes, tree: Tree) -> None:
    """Write the three tables of the tree (see `store.layout`)."""
    tables: list[Sequence[tuple[Any, ...]]] = [
        [(path, *_folder_times(os.path.join(root, path))[1:]) for path in tree.directories],
        [(path, *times(path)) for path in tree.watched],
        tree.excluded,
    ]
    for (name, schema), rows in zip(layout.TREE_TABLES.items(), tables, strict=True):
        columns = {column: [row[i] for row in rows] for i, (column, _) in enumerate(schema)}
        segment.table(name, schema, columns)


def carry(segment: SegmentBuilder, tables: Sequence[Table]) -> None:
    """Copy the three tables (directories, watched, excluded) from another segment."""
    for (name, schema), table in zip(layout.TREE_TABLES.items(), tables, strict=True):
        columns = {
            column: table.names(column).all() if kind == "binary" else table.numbers(column)
            for column, kind in schema
        }
        segment.table(name, schema, columns)


def is_closed(folder: bytes) -> bool:
    """Return whether a folder exists and may not be listed, or nothing in it may be opened."""
    if os.access(folder, os.R_OK | os.X_OK, effective_ids=True):
        return False  # one system call for almost every folder
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        return isinstance(error, PermissionError)
    try:
        os.stat(b".", dir_fd=descriptor)
    except PermissionError:
        return bool(os.listdir(descriptor))
    finally:
        os.close(descriptor)
    return False


def watched(root: bytes, special: Iterable[bytes]) -> list[bytes]:
    """Return the ignore files that affect a walk of `root`; absent ones above it are included.

    special: `walk.Walk.special`. An absent ignore file inside the tree needs no row: creating one
    changes its directory's times.
    """
    paths = [os.path.join(root, path) for path in (*special, *ignore.REPOSITORY)]
    for above in ignore.folders_above(root):
        paths += [os.path.join(above, name) for name in (*ignore.IGNORE_NAMES, *ignore.REPOSITORY)]
    for path in paths.copy():
        if os.path.basename(path) == b".git":
            paths += ignore.exclude_sources(root, path)
    # Git's configuration files, and the global excludes file that they select.
    home = os.fsencode(os.path.expanduser("~"))
    config = os.environb.get(b"XDG_CONFIG_HOME") or os.path.join(home, b".config")
    excludes = ignore.global_excludes_path()
    paths += [os.path.join(home, b".gitconfig"), os.path.join(config, b"git", b"config")]
    if excludes:
        paths.append(os.path.abspath(excludes))
    return sorted(set(paths))


def changed_rules(table: Table) -> tuple[bool, int]:
    """Return whether any ignore file differs from a `watched` table, and the newest change time.

    An index without a `.jj` among its watched paths was written before the rules were those of
    ripgrep 15: what it leaves out may be wrong, so it counts as different.

    Raises:
        OSError: One of them could not be examined.
    """
    paths = table.names("path").all()
    changed, newest = not any(path.endswith(b"/.jj") for path in paths), 0
    columns = [table.numbers(name).tolist() for name in ("size", "mtime_ns", "ctime_ns", "inode")]
    for path, *stored in zip(paths, *columns, strict=True):
        now = rule_times(path)
        if now == _FOLDER:
            changed = changed or stored[0] < 0
        else:
            changed = changed or now != tuple(stored)
            newest = max(newest, now[1], now[2])
    return changed, newest


_FOLDER = (0, -1, -1, -1)


def rule_times(path: bytes) -> tuple[int, int, int, int]:
    """Return the `times` of an ignore file, or a constant for a `.git` or `.jj` folder.

    Every git or Jujutsu command changes its folder's times, so only the folder's existence
    matters. A `.git` that is a file, as in a worktree, says where the rules are.

    Raises:
        OSError: The path could not be examined.
    """
    now = access.status(path)
    if now is None:
        return _NOTHING
    is_folder = path.endswith((b"/.git", b"/.jj")) and not stat.S_ISREG(now.st_mode)
    return _FOLDER if is_folder else _times(now)


def times(path: bytes) -> tuple[int, int, int, int]:
    """Return (size, mtime_ns, ctime_ns, inode) of a path; size is -1 if its stat fails."""
    try:
        return _times(os.stat(path))
    except OSError:
        return _NOTHING


def _folder_times(path: bytes) -> tuple[int, int, int, int]:
    """Return the `times` of a folder, with inode `CLOSED` if it may not be read."""
    row = times(path)
    return (*row[:3], CLOSED) if is_closed(path) else row


_NOTHING = (-1, 0, 0, 0)


def _times(now: os.stat_result) -> tuple[int, int, int, int]:
    return now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino


def stat_all(directory: int, paths: Sequence[bytes]) -> Array:
    """Return int64[n, STAT_SLOTS]: the lstat of each path below an open directory; zeros if none.

    Paths that are too long for one call are looked up folder by folder.
    """
    rows = np.full((len(paths), fetch.STAT_SLOTS), fetch.UNKNOWN, np.int64)
    if fetch.is_available():
        names, scratch = StringColumn.of(paths), np.zeros(fetch.SCRATCH_BYTES, np.uint8)
        fetch.stat_many(
            directory, names.blob, names.starts, 0, len(paths), scratch, rows.reshape(-1)
        )
    for i in np.flatnonzero(rows[:, fetch.STAT_KIND] == fetch.UNKNOWN).tolist():
        rows[i] = fetch.stat_slowly(directory, paths[i])
    return rows
