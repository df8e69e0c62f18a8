"""State of one root at one index generation, computed once and shared by its searches."""

from __future__ import annotations

import errno
import os
import stat
import threading
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.engine.freshness.sweep import Sweeper
from triseek.engine.freshness.tree_diff import TreeDiff, excluded_entries
from triseek.files.tree import walk
from triseek.files.tree.ignore import exclude_file
from triseek.model.search import Skipped
from triseek.query.globs.scope import Entries, Scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.freshness.tracker import Follow, Tracker
    from triseek.index.reader import IndexReader, View
    from triseek.model.search import ScopeSpec

Array: TypeAlias = np.ndarray[Any, Any]

_LOOSE_MAX = 32
"""Finding a path's place takes as long as sorting about this many almost ordered paths."""


class State:
    """One index generation and the data derived from it once."""

    def __init__(self, root: str, reader: IndexReader) -> None:
        self.root = root
        self.reader = reader
        self._sweeper = Sweeper(root, reader)
        self._lock = threading.Lock()
        self._tracker: Tracker | None = None
        self._follow: Follow | None = None

    @cached_property
    def folders(self) -> set[bytes]:
        """Every folder that the index's walk entered."""
        return set(self.reader.directories.names("path").all())

    @cached_property
    def _git(self) -> list[bytes]:
        """The `.git` files and folders that the index's walk met."""
        names = self.reader.watched.names("path").all()
        return [path for path in names if path.endswith(b"/.git")]

    def holds(self, scope: Scope, folders: Sequence[bytes]) -> bool:
        """Return whether the index's walk entered these folders, by the rules that the scope sees.

        It did not if a relative path in a `.git` file leads elsewhere: ripgrep resolves it from the
        working folder.
        """
        here = scope.spec.here
        if here and self._other_excludes(os.fsencode(here)):
            return False
        return all(folder in self.folders for folder in folders)

    def _other_excludes(self, here: bytes) -> bool:
        """Return whether some `.git` file leads to another `info/exclude` from `here` than root."""
        root = os.fsencode(self.root)
        if here == root:
            return False
        links = [path for path in self._git if os.path.isfile(path)]  # noqa: PTH113
        return any(exclude_file(root, path) != exclude_file(here, path) for path in links)

    @cached_property
    def excluded(self) -> Entries:
        """The entries that the index's walk left out."""
        return Entries(excluded_entries(self.reader))

    def sweep(self, *, verified: bool) -> TreeDiff:
        """Return what changed since this generation; without `verified`, assume nothing did."""
        if not verified:
            masks = [np.zeros(len(view.names), np.bool_) for view in self.reader.views]
            return TreeDiff("unverified", masks)
        if self._tracker is not None and self._follow is not None:
            diff = self._tracker.tree_diff(self._follow)
            if diff is not None:
                return diff
        with self._lock:
            return self._sweeper.sweep()

    def follow(self, tracker: Tracker, predecessor: State | None = None) -> None:
        """Track changes by the tree's events from now on.

        Raises:
            WatchLimit: The tree has more folders than may be watched.
        """
        # A separate sweeper: `self._sweeper` is used without events and its state needs our lock.
        follow = tracker.follow(Sweeper(self.root, self.reader))
        if predecessor is not None:
            tracker.hand_over(predecessor.followed, follow)
        self._tracker, self._follow = tracker, follow

    def reconcile(self) -> bool:
        """Sweep to check the events. Return whether they had missed nothing."""
        if self._tracker is None or self._follow is None:
            return True
        return self._tracker.reconcile(self._follow)

    @property
    def followed(self) -> Follow | None:
        """The follow of this generation; None if it is not followed."""
        return self._follow

    @property
    def is_followed(self) -> bool:
        """Whether a tracker reports what changed."""
        return self._tracker is not None and self._tracker.alive

    def chosen(self, view: View, scope: Scope, paths: Sequence[bytes], mask: Array) -> Array:
        """Return bool[files]: a view's indexed files that are in scope and have not changed."""
        chosen: Array = view.alive & ~mask
        if not scope.selects_all:
            chosen &= scope.select(view.paths, view.allowlisted, paths)
        elif not scope.spec.allowlist:
            chosen &= ~view.allowlisted
        if scope.spec.max_filesize is not None:
            chosen &= view.segment.files.numbers("size") <= scope.spec.max_filesize
        if paths and b"" not in paths:
            inside = np.zeros(len(chosen), np.bool_)
            for path in paths:
                inside |= view.paths.starts_with(path + b"/")
            chosen &= inside
        return chosen

    def closed(self, scope: Scope, paths: Sequence[bytes], diff: TreeDiff) -> list[Skipped]:
        """Return the folders of a scope that may not be read."""
        inside = [folder for folder in diff.closed if folder in paths or _is_within(folder, paths)]
        entered = scope.enters(inside, paths).tolist() if inside else ()
        return [
            Skipped(folder, "unreadable", os.strerror(errno.EACCES))
            for folder, enters in zip(inside, entered, strict=True)
            if enters
        ]

    def extras(self, scope: Scope, paths: Sequence[bytes], diff: TreeDiff) -> list[bytes]:
        """Return the files to read directly: changed ones and those that a glob brings back."""
        extra = self._brought_back(scope, paths, diff)
        if diff.scan:
            allowlisted = np.array([path in diff.allowlisted for path in diff.scan], np.bool_)
            taken = scope.select(diff.scan, allowlisted, paths).tolist()
            extra += [path for path, take in zip(diff.scan, taken, strict=True) if take]
        return [
            path
            for path in dict.fromkeys(extra)
            if _is_within(path, paths) and self._small_enough(path, scope.spec)
        ]

    def _brought_back(self, scope: Scope, paths: Sequence[bytes], diff: TreeDiff) -> list[bytes]:
        """Return files that the index's walk left out and this scope's globs select by name."""
        # A full walk finds excluded entries again; a parent folder may be excluded now.
        back = [] if diff.directories else scope.may_whitelist(self.excluded, paths)
        if diff.excluded:
            back = list(dict.fromkeys([*back, *scope.may_whitelist(diff.excluded, paths)]))
        hidden = {entry: top for entry in back if (top := scope.below_hidden(entry))}
        back = [entry for entry in back if entry not in hidden]
        restored = [entry.path for entry in back if not entry.is_dir and self._is_file(entry.path)]
        restored += self._below(scope, [entry.path for entry in back if entry.is_dir])
        if hidden:
            # Only a walk shows whether an ignore rule makes ripgrep enter the folder.
            files = {entry.path for entry in hidden if not entry.is_dir}
            folders = tuple(entry.path + b"/" for entry in hidden if entry.is_dir)
            listed = self._below(scope, sorted(set(hidden.values())))
            restored += [path for path in listed if path in files or path.startswith(folders)]
        return restored

    def _below(self, scope: Scope, folders: list[bytes]) -> list[bytes]:
        """Return the files that a walk lists below these folders now."""
        if not folders:
            return []
        listed = walk.walk_below(self.root, scope.spec, folders).paths
        most = scope.spec.max_depth
        return [path for path in listed if most is None or path.count(b"/") < most]

    def _is_file(self, path: bytes) -> bool:
        """Return whether a regular file exists there now, without following links."""
        try:
            mode = os.lstat(os.path.join(os.fsencode(self.root), path)).st_mode  # noqa: PTH118
        except OSError:
            return False
        return stat.S_ISREG(mode)

    def _small_enough(self, path: bytes, spec: ScopeSpec) -> bool:
        if spec.max_filesize is None:
            return True
        try:
            size = os.stat(os.path.join(os.fsencode(self.root), path)).st_size  # noqa: PTH116, PTH118
        except OSError:
            return True
        return size <= spec.max_filesize

    def listed(
        self,
        scope: Scope,
        paths: Sequence[bytes],
        diff: TreeDiff,
        holding: Sequence[bytes] = (),
    ) -> list[bytes]:
        """Return every file of a scope, in path order.

        holding: only indexed files whose path contains all of these texts, ignoring ASCII case.
            Files not in the index are not filtered.
        """

        def files(view: View, mask: Array) -> list[bytes]:
            chosen = self.chosen(view, scope, paths, mask)
            for text in holding:
                chosen &= view.paths.containing(text)
            return view.names.take(np.flatnonzero(chosen))

        views = zip(self.reader.views, diff.masks, strict=True)
        first, *later = [files(view, mask) for view, mask in views]
        loose = self.extras(scope, paths, diff)
        return _merged(first, [*loose, *(path for names in later for path in names)])


def _merged(names: list[bytes], loose: Sequence[bytes]) -> list[bytes]:
    """Merge loose paths into names that are in path order, without duplicates."""
    if len(loose) * _LOOSE_MAX > len(names):
        return list(dict.fromkeys(sorted([*names, *loose], key=walk.path_order)))
    merged: list[bytes] = []
    at = 0
    for path in sorted(loose, key=walk.path_order):
        until = bisect_left(names, walk.path_order(path), at, key=walk.path_order)
        merged += names[at:until]
        at = until
        if names[at : at + 1] != [path] and merged[-1:] != [path]:
            merged.append(path)
    return merged + names[at:] if merged else names


def _is_within(path: bytes, folders: Sequence[bytes]) -> bool:
    return not folders or any(folder == b"" or path.startswith(folder + b"/") for folder in folders)
