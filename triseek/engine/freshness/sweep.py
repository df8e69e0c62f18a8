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
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.freshness import checked as memory
from triseek.engine.freshness.compare import compare, linked, look, ordered_below
from triseek.engine.freshness.racy_files import ChangedFiles, differ
from triseek.engine.freshness.tree_diff import TreeDiff, excluded_entries
from triseek.files import access
from triseek.files.tree import walk
from triseek.files.tree.ignore import REPOSITORY
from triseek.index import retimed
from triseek.index.build import DEFAULT_SCOPE
from triseek.index.tree import CLOSED, IGNORE_NAMES, changed_rules, is_closed, rule_times
from triseek.index.update import RACY_NS
from triseek.kernels import fetch
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from triseek.engine.freshness.checked import Checked
    from triseek.engine.freshness.compare import Now
    from triseek.index.reader import IndexReader, View
    from triseek.query.globs.scope import Excluded

Array: TypeAlias = np.ndarray[Any, Any]

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
        self._directories = reader.directories
        self._folders = self._directories.names("path")
        self._checked = memory.recall(reader)
        retimed.restore(reader)
        _let_differ(reader, self._checked)

    def sweep(self, budget_s: float = BUDGET_S) -> TreeDiff:
        """Compare the tree with the index; return `unverified` on failure or after `budget_s`."""
        try:
            return self._opened(lambda descriptor: self._sweep(descriptor, budget_s))
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread could be started
            return self._unverified(_named(error))

    def _unverified(self, problem: str) -> TreeDiff:
        masks = [np.zeros(len(view.names), np.bool_) for view in self._reader.views]
        return TreeDiff("unverified", masks, problem=problem)

    def look(self, place: TreePart, *, rules: bool) -> TreeDiff:
        """Compare a part of the tree with the index; the rest is known to be as indexed.

        place: must contain all folders that gained, lost or exchanged names.
        rules: whether ignore rules may differ from those the index was built with.

        Raises:
            OSError: The state of a file or folder cannot be determined.
        """
        return self._opened(lambda descriptor: self._look(descriptor, place, rules=rules))

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
        files = [ordered_below(view.names, folder) for view in self._reader.views]
        return TreePart(
            [np.arange(*span) for span in files],
            np.arange(*ordered_below(self._folders, folder, itself=True)),
        )

    @property
    def folders(self) -> Sequence[bytes]:
        """Every indexed folder."""
        return list(self._folder_numbers)

    @property
    def views(self) -> Sequence[View]:
        """The views of the segments."""
        return self._reader.views

    def linked(self) -> list[Array]:
        """Return per view, int64: live files that have more than one name.

        Raises:
            OSError: The state of one of the files cannot be determined.
        """
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if not access.is_absent(error):
                raise
            return [np.empty(0, np.int64) for _ in self.views]
        try:
            return [linked(descriptor, view) for view in self.views]
        finally:
            os.close(descriptor)

    @cached_property
    def _folder_numbers(self) -> dict[bytes, int]:
        return {path: j for j, path in enumerate(self._folders.all())}

    def _opened(self, compare_with: Callable[[int], TreeDiff]) -> TreeDiff:
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if not access.is_absent(error):
                raise
            return self._everything_gone()
        try:
            return compare_with(descriptor)
        finally:
            os.close(descriptor)

    def _sweep(self, descriptor: int, budget_s: float) -> TreeDiff:
        started_ns, deadline = time.time_ns(), time.monotonic() + budget_s
        now = compare(descriptor, self._folders, self._reader.views, self._horizons(), deadline)
        if now is None:
            return self._unverified(f"it takes more than {budget_s:g} s")
        diff = TreeDiff("swept", [])
        files = self._add_changes(now, diff, descriptor, started_ns)
        checked = files.all_checked(self._checked, started_ns)
        closed = self._still_closed()
        suspect = self._suspect_folders(now.folders, started_ns, closed)
        diff.suspect = self._folders.take(suspect.numbers)
        rules = self._suspect_rules(diff.suspect, started_ns)
        news = self._with_news(suspect.resting if rules.suspect else suspect.numbers, closed)
        if self._add_names(diff, news, ruled=rules.suspect) and rules.resting:
            checked = checked._replace(rules_ns=started_ns)
        if len(suspect.resting):
            with_news = tuple(j for j in suspect.resting.tolist() if j in news.changed)
            checked = checked._replace(folders_ns=started_ns, folders=checked.folders + with_news)
        self._remember(checked)
        return diff

    def _look(self, descriptor: int, place: TreePart, *, rules: bool) -> TreeDiff:
        started_ns = time.time_ns()
        views, horizons = self._reader.views, self._horizons()
        closed = self._still_closed()
        folders = np.union1d(place.folders, np.setdiff1d(self._closed, closed))
        now = look(descriptor, self._folders, views, horizons, place.files, folders)
        diff = TreeDiff("synced", [])
        files = self._add_changes(now, diff, descriptor, started_ns)
        there = now.folders[folders, fetch.STAT_KIND] != 0
        diff.suspect = self._folders.take(folders[there])
        # Unchecked files may still be racy, so only files found to differ are stored.
        checked = self._checked._replace(differ=(*self._checked.differ, *files.differ))
        suspect_rules = self._suspect_rules(diff.suspect, started_ns) if rules else _NO_RULES
        news = self._with_news(np.setdiff1d(folders[there], closed), closed)
        if self._add_names(diff, news, ruled=suspect_rules.suspect) and suspect_rules.resting:
            checked = checked._replace(rules_ns=started_ns)
        self._remember(checked)
        return diff

    def _add_names(self, diff: TreeDiff, news: _News, *, ruled: bool) -> bool:
        """Add what is new in the changed folders, or in the whole tree if rules may differ.

        Returns whether a walk of the whole tree found everything as indexed.
        """
        diff.ruled = ruled
        as_indexed = ruled and self._walk_all(diff)
        if not ruled:
            self._close(diff, news.closed)
            diff.closed = news.closed
        if news.changed and not ruled:
            diff.listed = self._folders.take(sorted(news.changed))
            walked = _whole(
                walk.walk_below(self.root, DEFAULT_SCOPE, diff.listed, self._known_folders)
            )
            self._add_new(walked, diff)
            diff.closed += _closed_in(walked)
            diff.appeared = [path for path in walked.directories if path not in self._known_folders]
        diff.scan = sorted(set(diff.scan), key=walk.path_order)
        return as_indexed

    def _with_news(self, folders: Array, closed: Array) -> _News:
        """List `folders`; those in `closed` are known to be unreadable. Both are folder numbers."""
        news = _News(set(), list(self._folders.take(closed)))
        for j in folders.tolist():
            folder = self._folders[j]
            if is_closed(self._absolute(folder)):
                news.closed.append(folder)
            elif self._has_news(folder):
                news.changed.add(j)
        return news

    def _close(self, diff: TreeDiff, closed: Sequence[bytes]) -> None:
        """Leave out files below folders that may no longer be listed, as a walk does."""
        for folder in closed:
            for view, mask in zip(self._reader.views, diff.masks, strict=True):
                below = slice(*ordered_below(view.names, folder))
                left_out = view.alive[below] & ~mask[below]
                diff.removed += int(left_out.sum())
                mask[below] |= left_out
            inside = folder + b"/" if folder else b""
            scan = [path for path in diff.scan if not path.startswith(inside)]
            diff.removed += len(diff.scan) - len(scan)
            diff.scan = scan
            diff.allowlisted.intersection_update(diff.scan)

    def _add_changes(self, now: Now, diff: TreeDiff, descriptor: int, started_ns: int) -> _Settled:
        """Recheck the racy files and add what changed to `diff`."""
        changes = [
            ChangedFiles.of(*pair) for pair in zip(self._reader.views, now.files, strict=True)
        ]
        settled = self._settle(changes, descriptor, started_ns)
        for change in changes:
            _add(change, diff)
        diff.lost = now.lost
        return settled

    def _everything_gone(self) -> TreeDiff:
        masks = [view.alive.copy() for view in self._reader.views]
        return TreeDiff("swept", masks, removed=sum(int(mask.sum()) for mask in masks))

    def _horizons(self) -> list[int]:
        """Return per view, in ns: a file is trusted by its stat if it last changed before this."""
        scanned = self._reader.scanned_ns
        return [max(scan_ns, self._checked.files_ns) - RACY_NS for scan_ns in scanned]

    def _settle(
        self, changes: Sequence[ChangedFiles], descriptor: int, started_ns: int
    ) -> _Settled:
        """Recheck the files that their stats leave in doubt."""
        read, retimed_files = 0, 0
        differing: list[tuple[str, int]] = []
        for change in changes:
            settled = change.settle(descriptor, started_ns - RACY_NS)
            retimed_files += settled.retimed
            read += settled.read
            differing += [(change.view.segment.id, int(number)) for number in settled.differ]
        if retimed_files:
            retimed.remember(self._reader)
        return _Settled(read, tuple(differing))

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

    def _suspect_rules(self, folders: Sequence[bytes], started_ns: int) -> _SuspectRules:
        """Return whether ignore files may differ from those the walk read."""
        changed, newest = changed_rules(self._reader.watched)
        changed = changed or any(self._special_names_changed(folder) for folder in folders)
        racy = newest >= max(self._reader.tree_scanned_ns, self._checked.rules_ns) - RACY_NS
        resting = racy and not changed and newest < started_ns - RACY_NS
        return _SuspectRules(changed or racy, resting)

    def outer_rules(self) -> tuple[tuple[int, ...], ...]:
        """Return the stats of ignore files whose changes make no event inside the tree.

        Raises:
            OSError: The state of one of them cannot be determined.
        """
        return tuple(rule_times(path) for path in self._outer_rules)

    @cached_property
    def _outer_rules(self) -> list[bytes]:
        """Ignore files outside all indexed folders."""
        folders, prefix = self._known_folders, self._raw.rstrip(b"/") + b"/"
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
        for k, view in enumerate(self._reader.views):
            alive = np.flatnonzero(view.alive)
            files.update(zip(view.names.take(alive), (alive + (k << 32)).tolist(), strict=True))
        return files

    @property
    def _known_folders(self) -> Collection[bytes]:
        return self._folder_numbers.keys()

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
        for view, mask in zip(self._reader.views, diff.masks, strict=True):
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

    def _remember(self, checked: Checked) -> None:
        if checked != self._checked:
            self._checked = checked
            memory.remember(self._reader, checked)


class _Settled(NamedTuple):
    """Result of rechecking the racy files of all views."""

    read: int
    """How many files were read."""
    differ: tuple[tuple[str, int], ...]
    """The files that differ from the index, by segment and number."""

    def all_checked(self, checked: Checked, started_ns: int) -> Checked:
        """Return `checked` updated after all racy files were rechecked."""
        if not self.read:
            return checked
        return checked._replace(files_ns=started_ns, differ=(*checked.differ, *self.differ))


class _News(NamedTuple):
    """Result of listing some folders."""

    changed: set[int]
    """Numbers of the folders that hold names not in the index."""
    closed: list[bytes]
    """The folders that may not be listed."""


class _SuspectFolders(NamedTuple):
    """Directories that differ or are racy."""

    numbers: Array
    """int64: all of these folders."""
    resting: Array
    """int64: the racy ones at rest; listing them once settles them."""


class _SuspectRules(NamedTuple):
    """What the stats of ignore files show."""

    suspect: bool
    """They differ or are racy."""
    resting: bool
    """They are unchanged, racy and at rest, so reading them once more settles them."""


_NO_RULES = _SuspectRules(suspect=False, resting=False)


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


def _add(change: ChangedFiles, diff: TreeDiff) -> None:
    """Add the changes of one view to `diff`."""
    view = change.view
    mask = np.zeros(len(view.names), np.bool_)
    mask[change.numbers[change.changed]] = True
    there = change.numbers[change.changed & change.there]
    diff.masks.append(mask)
    diff.scan += view.names.take(there)
    shown = there[(view.flags[there] & layout.FLAG_ALLOWLISTED) != 0]
    diff.allowlisted.update(view.names.take(shown))
    diff.removed += int((change.changed & ~change.there).sum())


def _let_differ(reader: IndexReader, checked: Checked) -> None:
    """Make the files that were found to differ count as changed, whatever their stat."""
    for view in reader.views:
        numbers = [number for segment, number in checked.differ if segment == view.segment.id]
        differ(view, np.array(numbers, np.int64))
