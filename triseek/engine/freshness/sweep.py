"""Find what changed in the tree since the index was written, without a walk.

A sweep stats every indexed file and every directory that the index's walk entered. A file whose
size, times or inode differ has changed. A directory whose times differ may have new names and is
listed. A full walk is needed only if an ignore file changed. The search scans changed and new files
itself and masks their indexed blocks, so an answer is as fresh as its sweep.

Racy times: a file modified within two seconds of being read may have been modified after the read,
within the same tick of the file system's clock (git calls this racy). Such files count as dirty
until their content has been compared once, later. `engine.freshness.checked` stores when that was
and which of them differed.

If the tree is watched (`engine.freshness.tracker`), only what events named is compared, by the same
rules: `look` is `sweep` for a part of the tree.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from triseek.engine.freshness import checked as memory
from triseek.engine.freshness.compare import compare, linked, look, ordered_below
from triseek.engine.freshness.racy_files import differ, recheck
from triseek.engine.freshness.tree_diff import TreeDiff, excluded_entries
from triseek.files import access
from triseek.files.tree import walk
from triseek.files.tree.ignore import IGNORE_NAMES, REPOSITORY
from triseek.index import retimed
from triseek.index.build import DEFAULT_SCOPE
from triseek.index.tree import CLOSED, changed_rules, is_closed, rule_times
from triseek.index.update import RACY_NS
from triseek.kernels import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet

    from triseek.engine.freshness.checked import Checked
    from triseek.engine.freshness.compare import Now
    from triseek.index.reader import IndexReader, View
    from triseek.query.globs.scope import Excluded

Array: TypeAlias = np.ndarray[Any, Any]
T = TypeVar("T")

BUDGET_S = 5.0
"""A sweep that takes longer than this is abandoned, and the answer says so."""
SPECIAL = (*IGNORE_NAMES, *REPOSITORY)
"""Names whose presence in a folder may change which files below it are listed."""


class TreePart(NamedTuple):
    """A part of the indexed tree: file numbers per view, and folder numbers."""

    files: list[Array]
    """Per view, int64, ascending."""
    folders: Array
    """int64, ascending."""


class Sweeper:
    """Compares one root with one index generation, repeatedly."""

    def __init__(self, root: str, reader: IndexReader) -> None:
        self.root = root
        self._raw = os.fsencode(root)
        self._reader = reader
        self.views: Sequence[View] = reader.views
        self._directories = reader.directories
        self._folders = self._directories.names("path")
        self._checked = memory.recall(reader)
        retimed.restore(reader)
        for view in self.views:  # what was found to differ counts as changed, whatever its stat
            numbers = [j for segment, j in self._checked.differ if segment == view.segment.id]
            differ(view, np.array(numbers, np.int64))

    def sweep(self, budget_s: float = BUDGET_S) -> TreeDiff:
        """Compare the tree with the index; return `unverified` on failure or after `budget_s`."""
        try:
            diff = self._opened(lambda descriptor: self._sweep(descriptor, budget_s))
            return diff or self._everything_gone()
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread could be started
            return self._unverified(_named(error))

    def _unverified(self, problem: str) -> TreeDiff:
        masks = [np.zeros(len(view.names), np.bool_) for view in self.views]
        return TreeDiff("unverified", masks, problem=problem)

    def look(self, place: TreePart, *, rules: bool) -> TreeDiff:
        """Compare a part of the tree with the index; the rest is known to be as indexed.

        place: must contain all folders that gained, lost or exchanged names.
        rules: whether ignore rules may differ from those the index was built with.

        Raises:
            OSError: The state of a file or folder cannot be determined.
        """
        diff = self._opened(lambda descriptor: self._look(descriptor, place, rules=rules))
        return diff or self._everything_gone()

    def prepare(self) -> None:
        """Compute the tables that the first `look` needs."""
        _ = self._known, self._outer_rules

    def number_of(self, path: bytes) -> tuple[int, int] | None:
        """Return view and number of a live indexed file; None if `path` is not one."""
        position = self._files.get(path)
        return None if position is None else (position >> 32, position & 0xFFFFFFFF)

    def folder_of(self, path: bytes) -> int:
        """Return the number of a folder, or of its nearest parent in the index."""
        while path not in self._folder_numbers and path:
            path = path.rpartition(b"/")[0]
        return self._folder_numbers.get(path, 0)

    def below(self, folder: bytes) -> TreePart:
        """Return all indexed files and folders at or below a path."""
        files = [ordered_below(view.names, folder) for view in self.views]
        return TreePart(
            [np.arange(*span) for span in files],
            np.arange(*ordered_below(self._folders, folder, itself=True)),
        )

    @property
    def folders(self) -> Sequence[bytes]:
        """Every indexed folder."""
        return list(self._folder_numbers)

    def linked(self) -> list[Array]:
        """Return per view, int64: live files that have more than one name.

        Raises:
            OSError: The state of one of the files cannot be determined.
        """
        several = self._opened(lambda root: [linked(root, view) for view in self.views])
        return several or [np.empty(0, np.int64) for _ in self.views]

    @cached_property
    def _folder_numbers(self) -> dict[bytes, int]:
        return {path: j for j, path in enumerate(self._folders.all())}

    def _opened(self, use: Callable[[int], T]) -> T | None:
        """Return `use(descriptor of the root)`; None if the root is gone."""
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if not access.is_absent(error):
                raise
            return None
        try:
            return use(descriptor)
        finally:
            os.close(descriptor)

    def _sweep(self, descriptor: int, budget_s: float) -> TreeDiff:
        started_ns, deadline = time.time_ns(), time.monotonic() + budget_s
        closed = self._still_closed()
        now = compare(descriptor, self._folders, self.views, self._horizons(), deadline)
        if now is None:
            return self._unverified(f"it takes more than {budget_s:g} s")
        diff = TreeDiff("swept", [])
        checked = self._add_changes(now, diff, descriptor, started_ns)
        suspect = self._suspect_folders(now.folders, started_ns, closed)
        return self._add_names(diff, suspect, closed, checked, started_ns, rules=True)

    def _look(self, descriptor: int, place: TreePart, *, rules: bool) -> TreeDiff:
        started_ns = time.time_ns()
        closed = self._still_closed()
        folders = np.union1d(place.folders, np.setdiff1d(self._closed, closed))
        now = look(descriptor, self._folders, self.views, self._horizons(), place.files, folders)
        diff = TreeDiff("synced", [])
        checked = self._add_changes(now, diff, descriptor, started_ns)
        there = folders[now.folders[folders, fetch.STAT_KIND] != 0]
        suspect = _SuspectFolders(there, resting=np.empty(0, np.int64))
        return self._add_names(diff, suspect, closed, checked, started_ns, rules=rules)

    def _add_names(
        self,
        diff: TreeDiff,
        suspect: _SuspectFolders,
        closed: Array,
        checked: Checked,
        started_ns: int,
        *,
        rules: bool,
    ) -> TreeDiff:
        """Add what is new in the suspect folders, or in the whole tree if `rules` may differ.

        Saves `checked` with what was found out.
        """
        diff.suspect = self._folders.take(suspect.numbers)
        rules_resting = False
        if rules:
            diff.ruled, rules_resting = self._suspect_rules(diff.suspect, started_ns)
        listed = suspect.resting if diff.ruled else np.setdiff1d(suspect.numbers, closed)
        changed, unreadable = self._with_news(listed, closed)
        if diff.ruled:
            if self._walk_all(diff) and rules_resting:
                checked = checked._replace(rules_ns=started_ns)
        else:
            self._close(diff, unreadable)
            diff.closed = unreadable
            self._list_again(diff, changed)
        diff.scan = sorted(set(diff.scan), key=walk.path_order)
        if len(suspect.resting):
            with_news = tuple(j for j in suspect.resting.tolist() if j in changed)
            checked = checked._replace(folders_ns=started_ns, folders=checked.folders + with_news)
        if checked != self._checked:
            self._checked = checked
            memory.remember(self._reader, checked)
        return diff

    def _list_again(self, diff: TreeDiff, changed: AbstractSet[int]) -> None:
        """Add the new names in the folders of these numbers."""
        if not changed:
            return
        diff.listed = self._folders.take(sorted(changed))
        walked = _whole(
            walk.walk_below(self.root, DEFAULT_SCOPE, diff.listed, self._folder_numbers)
        )
        self._add_new(walked, diff)
        diff.closed += _closed_in(walked)
        diff.appeared = [path for path in walked.directories if path not in self._folder_numbers]

    def _with_news(self, folders: Array, closed: Array) -> tuple[set[int], list[bytes]]:
        """List folders; return the numbers of those with new names, and all that may not be listed.

        folders, closed: int64, folder numbers; `closed` are known to be unreadable.
        """
        changed, unreadable = set(), self._folders.take(closed)
        for j in folders.tolist():
            folder = self._folders[j]
            if is_closed(self._absolute(folder)):
                unreadable.append(folder)
            elif self._has_news(folder):
                changed.add(j)
        return changed, unreadable

    def _close(self, diff: TreeDiff, closed: Sequence[bytes]) -> None:
        """Leave out files below folders that may no longer be listed, as a walk does."""
        for folder in closed:
            for view, mask in zip(self.views, diff.masks, strict=True):
                below = slice(*ordered_below(view.names, folder))
                left_out = view.alive[below] & ~mask[below]
                diff.removed += int(left_out.sum())
                mask[below] |= left_out
            inside = folder + b"/" if folder else b""
            scan = [path for path in diff.scan if not path.startswith(inside)]
            diff.removed += len(diff.scan) - len(scan)
            diff.scan = scan
            diff.allowlisted.intersection_update(diff.scan)

    def _add_changes(self, now: Now, diff: TreeDiff, descriptor: int, started_ns: int) -> Checked:
        """Recheck the racy files and add what changed to `diff`; return what is checked then."""
        read, retimed_files, differing = 0, 0, list(self._checked.differ)
        for view, stats in zip(self.views, now.files, strict=True):
            files = recheck(descriptor, view, stats, started_ns - RACY_NS)
            read += files.read
            retimed_files += files.retimed
            differing += [(view.segment.id, number) for number in files.differ.tolist()]
            mask = np.zeros(len(view.names), np.bool_)
            mask[files.changed] = mask[files.gone] = True
            diff.masks.append(mask)
            diff.scan += view.names.take(files.changed)
            shown = files.changed[view.allowlisted[files.changed]]
            diff.allowlisted.update(view.names.take(shown))
            diff.removed += len(files.gone)
        if retimed_files:
            retimed.remember(self._reader)
        diff.lost = now.lost
        checked = self._checked._replace(differ=tuple(differing))
        # After a look, files outside of its part may still be racy.
        is_whole = diff.freshness == "swept"
        return checked._replace(files_ns=started_ns) if read and is_whole else checked

    def _everything_gone(self) -> TreeDiff:
        masks = [view.alive.copy() for view in self.views]
        return TreeDiff("swept", masks, removed=sum(int(mask.sum()) for mask in masks))

    def _horizons(self) -> list[int]:
        """Return per view, in ns: a file is trusted by its stat if it last changed before this."""
        scanned = self._reader.scanned_ns
        return [max(scan_ns, self._checked.files_ns) - RACY_NS for scan_ns in scanned]

    @cached_property
    def _closed(self) -> Array:
        """int64, ascending: folders that could not be read when the index was written."""
        return np.flatnonzero(self._directories.numbers("inode") == CLOSED)

    def _still_closed(self) -> Array:
        """Return int64, ascending: those of `_closed` that still cannot be read."""
        closed = [j for j in self._closed.tolist() if is_closed(self._absolute(self._folders[j]))]
        return np.array(closed, np.int64)

    def _absolute(self, folder: bytes) -> bytes:
        return os.path.join(self._raw, folder)

    def _suspect_folders(self, now: Array, started_ns: int, closed: Array) -> _SuspectFolders:
        """Return folders that may hold other names than the walk saw, without those in `closed`."""
        table = self._directories
        indexed_mtime, indexed_ctime = table.numbers("mtime_ns"), table.numbers("ctime_ns")
        there = now[:, fetch.STAT_KIND] != 0
        same = (
            (now[:, fetch.STAT_MTIME] == indexed_mtime)
            & (now[:, fetch.STAT_CTIME] == indexed_ctime)
            & (now[:, fetch.STAT_INODE] == table.numbers("inode"))
            & there
        )
        horizon = max(self._reader.tree_scanned_ns, self._checked.folders_ns) - RACY_NS
        newest = np.maximum(indexed_mtime, indexed_ctime)
        racy = same & (newest >= horizon)
        suspect = (~same | racy) & there
        differing = [j for j in self._checked.folders if there[j]]
        suspect[differing] = True
        resting = racy & (newest < started_ns - RACY_NS)
        resting[differing] = False
        suspect[closed] = resting[closed] = False
        return _SuspectFolders(np.flatnonzero(suspect), np.flatnonzero(resting))

    def _suspect_rules(self, folders: Sequence[bytes], started_ns: int) -> tuple[bool, bool]:
        """Return whether ignore files may differ from those the walk read, and whether all rest.

        They rest if they are unchanged, racy and old enough for one more reading to settle them.
        """
        changed, newest = changed_rules(self._reader.watched)
        changed = changed or any(self._special_names_changed(folder) for folder in folders)
        racy = newest >= max(self._reader.tree_scanned_ns, self._checked.rules_ns) - RACY_NS
        resting = racy and not changed and newest < started_ns - RACY_NS
        return changed or racy, resting

    def outer_rules(self) -> tuple[tuple[int, ...], ...]:
        """Return the stats of ignore files whose changes make no event inside the tree.

        Raises:
            OSError: The state of one of them cannot be determined.
        """
        return tuple(rule_times(path) for path in self._outer_rules)

    @cached_property
    def _outer_rules(self) -> list[bytes]:
        """Ignore files outside all indexed folders."""
        folders, prefix = self._folder_numbers, self._raw.rstrip(b"/") + b"/"
        return [
            path
            for path in self._reader.watched.names("path").all()
            if not path.startswith(prefix) or os.path.dirname(path[len(prefix) :]) not in folders
        ]

    def _special_names_changed(self, folder: bytes) -> bool:
        paths = [os.path.join(self._raw, folder, name) for name in SPECIAL]
        return any((path in self._watched) != access.exists(path) for path in paths)

    @cached_property
    def _watched(self) -> set[bytes]:
        """The ignore files that existed when the index was written."""
        table = self._reader.watched
        return set(table.names("path").take(np.flatnonzero(table.numbers("size") >= 0)))

    @cached_property
    def _excluded(self) -> set[Excluded]:
        """The entries that the index's walk left out."""
        return set(excluded_entries(self._reader))

    @cached_property
    def _known(self) -> set[bytes]:
        """Live indexed and excluded files, and all seen or excluded folders ending in `/`."""
        names = {path + b"/" for path in self._folder_numbers}
        names.update(path + b"/" if is_dir else path for path, is_dir, _ in self._excluded)
        return names.union(self._files)

    @cached_property
    def _files(self) -> dict[bytes, int]:
        """Every live indexed path, mapped to view << 32 | number."""
        files: dict[bytes, int] = {}
        for k, view in enumerate(self.views):
            alive = np.flatnonzero(view.alive)
            files.update(zip(view.names.take(alive), (alive + (k << 32)).tolist(), strict=True))
        return files

    def _has_news(self, folder: bytes) -> bool:
        """Return whether a file or folder in `folder` is new or changed its kind."""
        prefix = folder + b"/" if folder else b""
        try:
            with os.scandir(self._absolute(folder)) as entries:
                return any(
                    prefix + entry.name + (b"/" if is_dir else b"") not in self._known
                    for entry in entries
                    if (is_dir := entry.is_dir(follow_symlinks=False))
                    or entry.is_file(follow_symlinks=False)
                )
        except OSError as error:
            if access.is_absent(error):
                return False
            raise

    def _walk_all(self, diff: TreeDiff) -> bool:
        """Walk the whole tree, since rules may differ, and leave out what is no longer listed.

        Returns whether the rules treat all indexed entries as they did when the index was built.
        """
        walked = _whole(walk.walk(self.root, DEFAULT_SCOPE))
        listed = set(walked.paths)
        as_indexed = self._are_as_indexed(walked) and listed.issuperset(diff.scan)
        for view, mask in zip(self.views, diff.masks, strict=True):
            numbers = np.flatnonzero(view.alive & ~mask)
            paths = view.names.take(numbers)
            shown = view.allowlisted[numbers].tolist()
            gone = [path not in listed for path in paths]
            other = [
                path in listed and (path in walked.allowlisted) != was
                for path, was in zip(paths, shown, strict=True)
            ]
            mask[numbers[np.logical_or(gone, other)]] = True
            diff.scan += [path for path, differs in zip(paths, other, strict=True) if differs]
            diff.removed += sum(gone)
            as_indexed = as_indexed and not any(gone) and not any(other)
        diff.scan = [path for path in diff.scan if path in listed]
        diff.directories = walked.directories
        diff.closed = _closed_in(walked)
        self._add_new(walked, diff)
        diff.allowlisted = walked.allowlisted.intersection(diff.scan)
        return as_indexed

    def _are_as_indexed(self, walked: walk.Walk) -> bool:
        """Return whether no indexed path is now excluded and no excluded path is now listed."""
        before = {entry.path: entry for entry in self._excluded}
        indexed = set(self._folder_numbers).union(self._files)
        return not any(path in before for path in (*walked.paths, *walked.directories)) and all(
            before.get(entry.path, entry) == entry and entry.path not in indexed
            for entry in walked.excluded
        )

    def _add_new(self, walked: walk.Walk, diff: TreeDiff) -> None:
        new_paths = [path for path in walked.paths if path not in self._files]
        diff.scan += new_paths
        diff.allowlisted.update(path for path in new_paths if path in walked.allowlisted)
        diff.excluded = walked.excluded
        diff.special = walked.special


class _SuspectFolders(NamedTuple):
    """Directories that differ or are racy."""

    numbers: Array
    """int64: all of these folders."""
    resting: Array
    """int64: the racy ones at rest; listing them once settles them."""


def _whole(walked: walk.Walk) -> walk.Walk:
    """Return the walk if it is complete.

    Raises:
        OSError: Something may be missing from the walk.
    """
    if walked.failure is not None:
        raise walked.failure
    return walked


def _closed_in(walked: walk.Walk) -> list[bytes]:
    """Return the folders that a walk could not list."""
    folders = set(walked.directories)
    return [entry.path for entry in walked.skipped if entry.path in folders]


def _named(error: Exception) -> str:
    """Describe an error in one line, with its path."""
    if isinstance(error, OSError) and error.strerror:
        path = f"{os.fsdecode(error.filename)!r}: " if error.filename else ""
        return f"{path}{error.strerror}"
    return str(error)
