"""State of one root at one index generation, computed once and shared by its searches."""

from __future__ import annotations

import errno
import os
import stat
import threading
from bisect import bisect_left
from contextlib import suppress
from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.engine.freshness.sweep import Sweeper
from triseek.engine.freshness.tree_diff import TreeDiff, excluded_entries
from triseek.files.tree import walk
from triseek.files.tree.ignore import exclude_file, excludes_see_folders
from triseek.model.search import Skipped
from triseek.query.globs.rule_paths import RulePrefix
from triseek.query.globs.scope import Entries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.engine.freshness.tracker import Follow, Tracker
    from triseek.engine.search.query import Selection
    from triseek.index.reader import IndexReader, View
    from triseek.model.search import ScopeSpec
    from triseek.query.globs.scope import Scope

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
        self.followed: Follow | None = None
        """The follow of this generation; None if it is not followed."""

    @cached_property
    def folders(self) -> set[bytes]:
        """Every folder that the index's walk entered."""
        return set(self.reader.directories.names("path").all())

    @cached_property
    def _git(self) -> list[bytes]:
        """The `.git` files and folders that the index's walk met."""
        names = self.reader.watched.names("path").all()
        return [path for path in names if path.endswith(b"/.git")]

    def holds(self, selection: Selection) -> bool:
        """Return whether the index, with a partial walk, can answer for these files.

        It cannot for files that the default walk leaves out, for single files, for folders that its
        walk did not enter, nor where excludes of git see other paths than when it was built.
        """
        spec, folders = selection.spec, selection.folders
        if selection.scope.widens_walk or spec.one_file_system or spec.text or spec.binary:
            return False
        if spec.ignore_files or spec.no_ignore_files or selection.files or selection.missing:
            return False
        if folders and spec.max_depth is not None:
            return False
        if any(path.startswith(b".") or b"/." in path for path in folders):
            return False
        if RulePrefix.of(spec).changes and excludes_see_folders(self.root, spec):
            return False  # the index was built with the paths they see from the root
        return self.folders.issuperset(folders) and not self._other_excludes(os.fsencode(spec.here))

    def _other_excludes(self, here: bytes) -> bool:
        """Return whether some `.git` file leads to another `info/exclude` from `here` than root.

        A relative path in it may: ripgrep resolves that from the working folder.
        """
        root = os.fsencode(self.root)
        if here in (b"", root):
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
        if self._tracker is not None and self.followed is not None:
            diff = self._tracker.tree_diff(self.followed)
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
        self._tracker, self.followed = tracker, follow

    def reconcile(self) -> bool:
        """Sweep to check the events. Return whether they had missed nothing."""
        if self._tracker is None or self.followed is None:
            return True
        return self._tracker.reconcile(self.followed)

    @property
    def is_followed(self) -> bool:
        """Whether a tracker reports what changed."""
        return self._tracker is not None and self._tracker.alive

    def chosen(self, view: View, selection: Selection, mask: Array) -> Array:
        """Return bool[files]: a view's indexed files that are in scope and have not changed."""
        scope, paths = selection.scope, selection.folders
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

    def closed(self, selection: Selection, diff: TreeDiff) -> list[Skipped]:
        """Return the selected folders that may not be read."""
        folders = selection.folders
        inside = [path for path in diff.closed if path in folders or selection.includes(path)]
        entered = selection.scope.enters(inside, folders).tolist() if inside else ()
        return [
            Skipped(folder, "unreadable", os.strerror(errno.EACCES))
            for folder, enters in zip(inside, entered, strict=True)
            if enters
        ]

    def extras(self, selection: Selection, diff: TreeDiff) -> list[bytes]:
        """Return the files to read directly: changed ones and those that a glob brings back."""
        extra = self._brought_back(selection, diff)
        if diff.scan:
            allowlisted = np.array([path in diff.allowlisted for path in diff.scan], np.bool_)
            taken = selection.scope.select(diff.scan, allowlisted, selection.folders)
            extra += compress(diff.scan, taken.tolist())
        if selection.spec.also:
            extra += walk.also(self.root, selection.scope, selection.folders)
        return [
            path
            for path in dict.fromkeys(extra)
            if selection.includes(path) and self._small_enough(path, selection.spec)
        ]

    def _brought_back(self, selection: Selection, diff: TreeDiff) -> list[bytes]:
        """Return files that the index's walk left out and this scope's globs select by name."""
        scope, paths = selection.scope, selection.folders
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
        with suppress(OSError):
            return stat.S_ISREG(os.lstat(os.fsencode(self.root) + b"/" + path).st_mode)
        return False

    def _small_enough(self, path: bytes, spec: ScopeSpec) -> bool:
        if spec.max_filesize is not None:
            with suppress(OSError):
                path = os.fsencode(self.root) + b"/" + path
                return os.stat(path).st_size <= spec.max_filesize  # noqa: PTH116
        return True

    def listed(
        self,
        selection: Selection,
        diff: TreeDiff,
        keep: Callable[[View], Array] | None = None,
    ) -> list[bytes]:
        """Return every selected file, in path order.

        keep: only the indexed files of a view that this returns, as bool[files]. Files not in the
            index are not filtered.
        """

        def files(view: View, mask: Array) -> list[bytes]:
            chosen = self.chosen(view, selection, mask)
            if keep is not None:
                chosen &= keep(view)
            return view.names.take(np.flatnonzero(chosen))

        views = zip(self.reader.views, diff.masks, strict=True)
        first, *later = [files(view, mask) for view, mask in views]
        loose = self.extras(selection, diff)
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
