"""One root at one generation of its index: what is worked out once and shared by its searches."""

from __future__ import annotations

import errno
import os
import stat
import threading
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.engine.backends.file import named_files
from triseek.engine.dirt import Dirt
from triseek.engine.freshness import Sweeper
from triseek.files import walk
from triseek.files.git import exclude_file
from triseek.model.search import Skipped
from triseek.query.scope import Entries, Excluded, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.engine.tracker import Follow, Tracker
    from triseek.index.reader import Reader, View
    from triseek.model.search import ScopeSpec

Array: TypeAlias = np.ndarray[Any, Any]
Lender: TypeAlias = "Callable[[Reader], Dirt | None]"
"""Says what the tree as it is now holds that a generation does not know; None: it cannot tell."""

_LOOSE_MAX = 32
"""Finding a path's place takes about as long as sorting this many that are almost in order."""


class State:
    """One generation, and what is worked out from it once."""

    def __init__(self, root: str, reader: Reader, lender: Lender | None = None) -> None:
        """`lender` may know the difference to the tree; where it does not, a sweep tells."""
        self.root = root
        self.reader = reader
        self._lender = lender
        self._sweeper = Sweeper(root, reader)
        self._lock = threading.Lock()
        self._tracker: Tracker | None = None
        self._follow: Follow | None = None
        self._folders: set[bytes] | None = None
        self._git: list[bytes] | None = None
        self._excluded: Entries | None = None

    @property
    def folders(self) -> set[bytes]:
        """Every folder the walk entered."""
        if self._folders is None:
            table = self.reader.directories
            self._folders = set(table.names("path").all())
        return self._folders

    def other_excludes(self, here: bytes) -> bool:
        """Whether a `.git` file leads to another `info/exclude` from here than from the root."""
        root = os.fsencode(self.root)
        if here == root:
            return False
        if self._git is None:
            names = self.reader.watched.names("path").all()
            self._git = [path for path in names if path.endswith(b"/.git")]
        links = [path for path in self._git if os.path.isfile(path)]  # noqa: PTH113
        return any(exclude_file(root, path) != exclude_file(here, path) for path in links)

    @property
    def excluded(self) -> Entries:
        """What the walk left out."""
        if self._excluded is None:
            table = self.reader.excluded
            columns = (table.names("path").all(), table.numbers("is_dir"), table.numbers("hidden"))
            self._excluded = Entries(
                [
                    Excluded(path, bool(is_dir), bool(hidden))
                    for path, is_dir, hidden in zip(*columns, strict=True)
                ]
            )
        return self._excluded

    def sweep(self, *, verified: bool) -> Dirt:
        """What changed since the generation was written; unverified: assume nothing did."""
        if not verified:
            masks = [np.zeros(len(view.names), np.bool_) for view in self.reader.views]
            return Dirt("unverified", masks)
        if self._tracker is not None and self._follow is not None:
            dirt = self._tracker.dirt(self._follow)
            if dirt is not None:
                return dirt
        if self._lender is not None:
            dirt = self._lender(self.reader)
            if dirt is not None:
                return dirt
        with self._lock:
            return self._sweeper.sweep()

    def follow(self, tracker: Tracker, predecessor: State | None = None) -> None:
        """Learn from a tree's events what changed, from now on.

        Raises:
            WatchLimit: The tree has more folders than may be watched.
        """
        # Not the sweeper that answers without events: what it remembers is guarded by our lock.
        follow = tracker.follow(Sweeper(self.root, self.reader))
        if predecessor is not None:
            tracker.hand_over(predecessor.followed, follow)
        self._tracker, self._follow = tracker, follow

    def reconcile(self) -> bool:
        """Sweep, whatever events said; whether they had missed nothing."""
        if self._tracker is None or self._follow is None:
            return True
        return self._tracker.reconcile(self._follow)

    @property
    def followed(self) -> Follow | None:
        """How it is followed, if it is."""
        return self._follow

    @property
    def is_followed(self) -> bool:
        """Whether a tracker says what changed."""
        return self._tracker is not None and self._tracker.alive

    def chosen(self, view: View, scope: Scope, paths: Sequence[bytes], mask: Array) -> Array:
        """bool[files]: indexed files of a view that the scope takes and that have not changed."""
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

    def closed(self, scope: Scope, paths: Sequence[bytes], dirt: Dirt) -> list[Skipped]:
        """Return the folders of a scope that may not be read."""
        inside = [folder for folder in dirt.closed if folder in paths or _is_within(folder, paths)]
        entered = scope.enters(inside, paths).tolist() if inside else ()
        return [
            Skipped(folder, "unreadable", os.strerror(errno.EACCES))
            for folder, enters in zip(inside, entered, strict=True)
            if enters
        ]

    def extras(self, scope: Scope, paths: Sequence[bytes], dirt: Dirt) -> list[bytes]:
        """Files to look at directly: what changed, and what a glob brings back."""
        found = self._brought_back(scope, paths, dirt)
        if dirt.scan:
            allowlisted = np.array([path in dirt.allowlisted for path in dirt.scan], np.bool_)
            taken = scope.select(dirt.scan, allowlisted, paths).tolist()
            found += [path for path, take in zip(dirt.scan, taken, strict=True) if take]
        return [
            path
            for path in dict.fromkeys(found)
            if _is_within(path, paths) and self._small_enough(path, scope.spec)
        ]

    def _brought_back(self, scope: Scope, paths: Sequence[bytes], dirt: Dirt) -> list[bytes]:
        """Files left out by the index's walk that this scope's globs ask for by name."""
        # A walk of everything tells anew what is left out: a folder above may be among it now.
        back = [] if dirt.directories else scope.may_whitelist(self.excluded, paths)
        if dirt.excluded:
            back = list(dict.fromkeys([*back, *scope.may_whitelist(dirt.excluded, paths)]))
        hidden = {entry: top for entry in back if (top := scope.below_hidden(entry))}
        back = [entry for entry in back if entry not in hidden]
        found = [entry.path for entry in back if not entry.is_dir and self._is_file(entry.path)]
        found += self._below(scope, [entry.path for entry in back if entry.is_dir])
        if hidden:
            # Only a walk knows whether an ignore rule has ripgrep enter the folder.
            files = {entry.path for entry in hidden if not entry.is_dir}
            folders = tuple(entry.path + b"/" for entry in hidden if entry.is_dir)
            listed = self._below(scope, sorted(set(hidden.values())))
            found += [path for path in listed if path in files or path.startswith(folders)]
        return found

    def _below(self, scope: Scope, folders: list[bytes]) -> list[bytes]:
        """Files that a walk lists below these folders, now."""
        if not folders:
            return []
        listed = walk.walk_below(self.root, scope.spec, folders).paths
        most = scope.spec.max_depth
        return [path for path in listed if most is None or path.count(b"/") < most]

    def _is_file(self, path: bytes) -> bool:
        """Whether a regular file is there now; links are not followed."""
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
        spec: ScopeSpec,
        named: Sequence[str],
        dirt: Dirt,
        holding: Sequence[bytes] = (),
    ) -> list[bytes]:
        """Every file of a scope, in path order.

        holding: texts; of the indexed files only those whose path holds them all, in any case of
            ASCII letters. Others are given as they are.
        """
        scope = Scope.compile(spec)
        paths = sorted(named_files(os.fsencode(self.root), named).folders)

        def files(view: View, mask: Array) -> list[bytes]:
            chosen = self.chosen(view, scope, paths, mask)
            for text in holding:
                chosen &= view.paths.containing(text)
            return view.names.take(np.flatnonzero(chosen))

        views = zip(self.reader.views, dirt.masks, strict=True)
        first, *later = [files(view, mask) for view, mask in views]
        loose = self.extras(scope, paths, dirt)
        return _merged(first, [*loose, *(path for names in later for path in names)])


def _merged(names: list[bytes], loose: Sequence[bytes]) -> list[bytes]:
    """Put loose paths among names that are in path order, each path once."""
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
