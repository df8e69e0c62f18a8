"""What the index remembers of the tree itself, so that a later look can tell what changed.

A file that appears or vanishes changes its directory's times; an ignore file that changes may
change what is searched anywhere below it. Remembering both lets a sweep (`engine.freshness`) find
every change with one `stat` per file and directory, and no walk.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.files import absence, git
from triseek.files.ignore import REPOSITORY, global_excludes_path
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from triseek.query.scope import Excluded
    from triseek.store.segment import SegmentBuilder
    from triseek.store.table import Table

TABLES = {
    "directories": layout.DIRECTORIES,
    "watched": layout.WATCHED,
    "excluded": layout.EXCLUDED,
}
IGNORE_NAMES = (b".gitignore", b".ignore", b".rgignore")
CLOSED = -1
"""Stands for the inode of a folder that may not be read: nothing is known of what is in it."""


class Tree(NamedTuple):
    """The walk's surroundings."""

    directories: Sequence[bytes]
    excluded: Sequence[Excluded]
    watched: Sequence[bytes]
    """Absolute paths of ignore files that have, or would have, a say."""


def write(segment: SegmentBuilder, root: bytes, tree: Tree) -> None:
    """Write the three tables of `layout`."""
    folders = [_folder_times(os.path.join(root, path)) for path in tree.directories]
    segment.table(
        "directories",
        layout.DIRECTORIES,
        {
            "path": list(tree.directories),
            "mtime_ns": [row[1] for row in folders],
            "ctime_ns": [row[2] for row in folders],
            "inode": [row[3] for row in folders],
        },
    )
    files = [times(path) for path in tree.watched]
    segment.table(
        "watched",
        layout.WATCHED,
        {
            "path": list(tree.watched),
            "size": [row[0] for row in files],
            "mtime_ns": [row[1] for row in files],
            "ctime_ns": [row[2] for row in files],
            "inode": [row[3] for row in files],
        },
    )
    segment.table(
        "excluded",
        layout.EXCLUDED,
        {
            "path": [entry.path for entry in tree.excluded],
            "is_dir": [entry.is_dir for entry in tree.excluded],
            "hidden": [entry.hidden for entry in tree.excluded],
        },
    )


def carry(segment: SegmentBuilder, tables: Mapping[str, Table]) -> None:
    """Write the three tables as another segment, live until now, had them."""
    for name, schema in TABLES.items():
        table = tables[name]
        columns: dict[str, Any] = {
            column: table.names(column).all() if kind == "binary" else table.numbers(column)
            for column, kind in schema
        }
        segment.table(name, schema, columns)


def is_closed(folder: bytes) -> bool:
    """Return whether a folder is there and may not be listed, or nothing in it may be opened."""
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
    """Ignore files that matter to a walk of `root`: those there, and absent ones above it.

    special: what `walk.Walk.special` lists. An absent ignore file inside the tree needs no row:
    making one changes its directory's times.
    """
    found = [os.path.join(root, path) for path in (*special, *REPOSITORY)]
    above = os.path.dirname(root)
    while True:
        found += [os.path.join(above, name) for name in (*IGNORE_NAMES, *REPOSITORY)]
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    for path in found.copy():
        if os.path.basename(path) == b".git":
            found += git.exclude_sources(root, path)
    return sorted({*found, *_global_ignores()})


def _global_ignores() -> list[bytes]:
    """Git's configuration and its default excludes: where `core.excludesFile` may point."""
    home = os.fsencode(os.path.expanduser("~"))
    config = os.environb.get(b"XDG_CONFIG_HOME") or os.path.join(home, b".config")
    excludes = global_excludes_path()
    return [
        os.path.join(home, b".gitconfig"),
        os.path.join(config, b"git", b"config"),
        *([os.path.abspath(excludes)] if excludes else []),
    ]


def changed_rules(table: Table) -> tuple[bool, int]:
    """Whether any ignore file differs from a `watched` table, and when the newest last changed.

    Before the rules were those of ripgrep 15 no `.jj` was watched: what such an index leaves out
    may be wrong.

    Raises:
        OSError: It cannot be told of one of them.
    """
    paths = table.names("path").all()
    changed, newest = not any(path.endswith(b"/.jj") for path in paths), 0
    columns = [table.numbers(name).tolist() for name in ("size", "mtime_ns", "ctime_ns", "inode")]
    for path, *told in zip(paths, *columns, strict=True):
        now = rule_times(path)
        if now == _FOLDER:
            changed = changed or told[0] < 0
        else:
            changed = changed or now != tuple(told)
            newest = max(newest, now[1], now[2])
    return changed, newest


_FOLDER = (0, -1, -1, -1)


def rule_times(path: bytes) -> tuple[int, int, int, int]:
    """`times` of what gives rules.

    Git touches its folder with every command, as Jujutsu does; only its being there matters. A
    `.git` that is a file, as in a worktree, says where the rules are.

    Raises:
        OSError: It cannot be told whether there is such a file.
    """
    now = absence.status(path)
    if now is None:
        return _NOTHING
    is_folder = path.endswith((b"/.git", b"/.jj")) and not stat.S_ISREG(now.st_mode)
    return _FOLDER if is_folder else _times(now)


def times(path: bytes) -> tuple[int, int, int, int]:
    """What a path's stat says: (size, mtime_ns, ctime_ns, inode); size -1 if nothing is there."""
    try:
        return _times(os.stat(path))
    except OSError:
        return _NOTHING


def _folder_times(path: bytes) -> tuple[int, int, int, int]:
    """As `times`, with the mark of a folder that may not be read."""
    row = times(path)
    return (*row[:3], CLOSED) if is_closed(path) else row


_NOTHING = (-1, 0, 0, 0)


def _times(now: os.stat_result) -> tuple[int, int, int, int]:
    return now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino
