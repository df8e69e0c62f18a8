"""Following a tree with a watcher as the engine does, and what the tree really holds."""

from __future__ import annotations

import os
import stat


def names_in(folder: bytes) -> list[bytes]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def join(folder: bytes, name: bytes) -> bytes:
    return folder + b"/" + name if folder else name


def status(root: bytes, path: bytes):
    """What a change changes. A folder's times and size say only that names came and went."""
    try:
        seen = os.lstat(join(root, path))
    except OSError:
        return None
    if stat.S_ISDIR(seen.st_mode):
        return ("folder", seen.st_mode, seen.st_ino)
    return ("file", seen.st_mode, seen.st_ino, seen.st_size, seen.st_mtime_ns)


def is_folder(row) -> bool:
    return row is not None and row[0] == "folder"


def snapshot(root: bytes, start: bytes = b"", before_listing=lambda folder: None) -> dict:
    """Every path at and below `start`, with its status."""
    found = {}
    waiting = [start]
    while waiting:
        path = waiting.pop()
        row = status(root, path)
        if row is None:
            continue
        found[path] = row
        if is_folder(row):
            before_listing(path)
            waiting += [join(path, name) for name in names_in(join(root, path))]
    return found


def at_or_above(path: bytes):
    yield path
    while path:
        path = path.rpartition(b"/")[0]
        yield path


def told(changes, path: bytes, before, after) -> bool:
    """Whether these changes name a path whose status was `before` and is `after`."""
    trees = any(above in changes.trees for above in at_or_above(path))
    if changes.lost or trees:
        return True
    if is_folder(before) or is_folder(after) or path not in changes.files:
        return False
    return (before is None) == (after is None) or path.rpartition(b"/")[0] in changes.folders


def untold(changes, before: dict, after: dict) -> list[bytes]:
    """Paths that changed without being named.

    A file of several names is written through one of them, and only that one's folder is told:
    it counts as named when any of its names is.
    """
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    named = {path for path in changed if told(changes, path, before.get(path), after.get(path))}
    inodes = {rows[path][2] for rows in (before, after) for path in named if path in rows}
    return sorted(path for path in changed - named if after.get(path, (0, 0, -1))[2] not in inodes)


class Follower:
    """Knows a tree only by a first look and by what the watcher told since."""

    def __init__(self, watcher, root: bytes) -> None:
        self.watcher = watcher
        self.root = root
        self.rows: dict = {}
        self.look(b"")

    def look(self, tree: bytes) -> None:
        """Look at a tree anew: each folder is watched before it is listed."""
        inside = tree + b"/" if tree else b""
        for path in [path for path in self.rows if path == tree or path.startswith(inside)]:
            del self.rows[path]
        if tree and not self._is_real(tree.rpartition(b"/")[0]):
            return  # told of what lay there before a link took the place of a folder above it
        self.rows |= snapshot(self.root, tree, lambda folder: self.watcher.watch([folder]))

    def catch_up(self):
        """Take what was told, and look there."""
        changes = self.watcher.take()
        if changes.lost:
            self.look(b"")
            return changes
        for tree in changes.trees:
            self.look(tree)
        # A folder that has become a link by now leads elsewhere: what lies there is not below it.
        present = {
            join(folder, name)
            for folder in changes.folders
            if self._is_real(folder)
            for name in names_in(join(self.root, folder))
        }
        for path in present | changes.files:
            self._refresh(path)
        return changes

    def _refresh(self, path: bytes) -> None:
        row = status(self.root, path) if self._is_real(path.rpartition(b"/")[0]) else None
        if row is None:
            self.rows.pop(path, None)
        elif not is_folder(row):  # a folder that appeared is told as a tree
            self.rows[path] = row

    def _is_real(self, folder: bytes) -> bool:
        return all(is_folder(status(self.root, above)) for above in at_or_above(folder))
