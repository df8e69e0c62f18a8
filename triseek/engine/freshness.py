"""What of the working tree the index does not know yet, found without a walk.

A sweep stats every indexed file and every directory the index's walk entered: a file whose size,
times or inode differ has changed; a directory whose times differ may have gained names, and is
listed. Only an ignore file that changed costs a whole walk. Changed and new files are scanned by
the search itself, and their indexed blocks are masked, so an answer is as fresh as its sweep.

Racy times: what was modified within two seconds of being read may have been modified after it,
within the same tick of the file system's clock (git calls this racy). Such files count as dirty
until their content has been compared once, later; `engine.checked` remembers when that was, and
which of them turned out to differ.

Where somebody watches the tree (`engine.tracker`), only what an event named is looked at, by the
same rules: `look` is `sweep` for a part of the tree.
"""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek.engine import checked as memory
from triseek.engine.compare import compare, linked, look, ordered_below
from triseek.engine.dirt import Dirt
from triseek.engine.settle import Change, differ
from triseek.files import absence, walk
from triseek.files.ignore import REPOSITORY
from triseek.index import retimed
from triseek.index.build import DEFAULT_SCOPE
from triseek.index.tree import CLOSED, IGNORE_NAMES, changed_rules, is_closed, rule_times
from triseek.index.update import RACY_NS
from triseek.kernels import fetch
from triseek.query.scope import Excluded
from triseek.store import layout

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from triseek.engine.checked import Checked
    from triseek.engine.compare import Now
    from triseek.index.reader import Reader, View

Array: TypeAlias = np.ndarray[Any, Any]

BUDGET_S = 5.0
"""A sweep that takes longer than this is given up, and the answer says so."""
SPECIAL = (*IGNORE_NAMES, *REPOSITORY)
"""Names whose presence in a folder may change what is listed below it."""


class Place(NamedTuple):
    """Part of what an index knows: numbers of files per view, and of folders."""

    files: list[Array]
    """Per view, int64, rising."""
    folders: Array
    """int64, rising."""


class Sweeper:
    """Sweep one root against one generation, again and again."""

    def __init__(self, root: str, reader: Reader) -> None:
        self.root = root
        self._raw = os.fsencode(root)
        self._reader = reader
        self._directories = reader.directories
        self._folders = self._directories.names("path")
        self._checked = memory.recall(reader)
        retimed.restore(reader)
        _let_differ(reader, self._checked)

    def sweep(self, budget_s: float = BUDGET_S) -> Dirt:
        """Compare the tree with the index now; unverified where that fails, or takes longer."""
        deadline = time.monotonic() + budget_s
        try:
            return self._opened(lambda descriptor: self._sweep(descriptor, deadline))
        except (OSError, RuntimeError) as error:  # RuntimeError: no thread could be started
            return self._unverified(_named(error))

    def _unverified(self, problem: str) -> Dirt:
        masks = [np.zeros(len(view.names), np.bool_) for view in self._reader.views]
        return Dirt("unverified", masks, problem=problem)

    def look(self, place: Place, *, rules: bool) -> Dirt:
        """Compare a part of the tree with the index, where the rest is known to be as indexed.

        place: folders that gained, lost or exchanged names are to be in it.
        rules: whether ignore rules may be others than those the index was made by.

        Raises:
            OSError: Of something it cannot be told what is there.
        """
        return self._opened(lambda descriptor: self._look(descriptor, place, rules=rules))

    def prepare(self) -> None:
        """Work out now what a first look would have to."""
        _ = self._known, self._outer_rules

    def number_of(self, path: bytes) -> tuple[int, int] | None:
        """View and number of a live indexed file; None of what is none."""
        found = self._files.get(path)
        return None if found is None else (found >> 32, found & 0xFFFFFFFF)

    def folder_of(self, path: bytes) -> int:
        """Number of a folder, or of the nearest above it that the index knows."""
        while path not in self._folder_numbers and path:
            path = path.rpartition(b"/")[0]
        return self._folder_numbers.get(path, 0)

    def below(self, folder: bytes) -> Place:
        """All that the index knows at or below a path."""
        files = [ordered_below(view.names, folder) for view in self._reader.views]
        return Place(
            [np.arange(*span) for span in files],
            np.arange(*ordered_below(self._folders, folder, itself=True)),
        )

    @property
    def folders(self) -> Sequence[bytes]:
        """Every folder the index knows."""
        return list(self._folder_numbers)

    @property
    def views(self) -> Sequence[View]:
        """The segments."""
        return self._reader.views

    def linked(self) -> list[Array]:
        """Per view, int64: live files that have more names than one.

        Raises:
            OSError: It cannot be told of one of them.
        """
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if not absence.is_absent(error):
                raise
            return [np.empty(0, np.int64) for _ in self.views]
        try:
            return [linked(descriptor, view) for view in self.views]
        finally:
            os.close(descriptor)

    @cached_property
    def _folder_numbers(self) -> dict[bytes, int]:
        return {path: j for j, path in enumerate(self._folders.all())}

    def _opened(self, compare_with: Callable[[int], Dirt]) -> Dirt:
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            if not absence.is_absent(error):
                raise
            return self._everything_gone()
        try:
            return compare_with(descriptor)
        finally:
            os.close(descriptor)

    def _sweep(self, descriptor: int, deadline: float) -> Dirt:
        started_ns = time.time_ns()
        now = compare(descriptor, self._folders, self._reader.views, self._horizons(), deadline)
        if now is None:
            return self._unverified(f"it takes more than {BUDGET_S:g} s")
        dirt = Dirt("swept", [])
        files = self._add_changes(now, dirt, descriptor, started_ns)
        checked = files.all_checked(self._checked, started_ns)
        closed = self._still_closed()
        suspect = self._suspect_folders(now.folders, started_ns, closed)
        dirt.suspect = self._folders.take(suspect.numbers)
        rules = self._suspect_rules(dirt.suspect, started_ns)
        news = self._with_news(suspect.resting if rules.suspect else suspect.numbers, closed)
        if self._add_names(dirt, news, ruled=rules.suspect) and rules.resting:
            checked = checked._replace(rules_ns=started_ns)
        if len(suspect.resting):
            with_news = tuple(j for j in suspect.resting.tolist() if j in news.changed)
            checked = checked._replace(folders_ns=started_ns, folders=checked.folders + with_news)
        self._remember(checked)
        return dirt

    def _look(self, descriptor: int, place: Place, *, rules: bool) -> Dirt:
        started_ns = time.time_ns()
        views, horizons = self._reader.views, self._horizons()
        closed = self._still_closed()
        folders = np.union1d(place.folders, np.setdiff1d(self._closed, closed))
        now = look(descriptor, self._folders, views, horizons, place.files, folders)
        dirt = Dirt("synced", [])
        files = self._add_changes(now, dirt, descriptor, started_ns)
        there = now.folders[folders, fetch.STAT_KIND] != 0
        dirt.suspect = self._folders.take(folders[there])
        # What was not looked at may be racy still: only what was found to differ is remembered.
        checked = self._checked._replace(differ=(*self._checked.differ, *files.differ))
        found = self._suspect_rules(dirt.suspect, started_ns) if rules else _NO_RULES
        news = self._with_news(np.setdiff1d(folders[there], closed), closed)
        if self._add_names(dirt, news, ruled=found.suspect) and found.resting:
            checked = checked._replace(rules_ns=started_ns)
        self._remember(checked)
        return dirt

    def _add_names(self, dirt: Dirt, news: _News, *, ruled: bool) -> bool:
        """What is new in folders with news; everything, where ignore rules may be others.

        Returns whether a walk of everything found all as the index knows it.
        """
        dirt.ruled = ruled
        as_indexed = ruled and self._walk_all(dirt)
        if not ruled:
            self._close(dirt, news.closed)
            dirt.closed = news.closed
        if news.changed and not ruled:
            dirt.listed = self._folders.take(sorted(news.changed))
            found = _whole(
                walk.walk_below(self.root, DEFAULT_SCOPE, dirt.listed, self._known_folders)
            )
            self._add_new(found, dirt)
            dirt.closed += _closed_in(found)
            dirt.appeared = [path for path in found.directories if path not in self._known_folders]
        dirt.scan = sorted(set(dirt.scan), key=walk.path_order)
        return as_indexed

    def _with_news(self, folders: Array, closed: Array) -> _News:
        """List `folders`; `closed` are known to be unreadable. Both are numbers of folders."""
        news = _News(set(), list(self._folders.take(closed)))
        for j in folders.tolist():
            folder = self._folders[j]
            if is_closed(self._absolute(folder)):
                news.closed.append(folder)
            elif self._has_news(folder):
                news.changed.add(j)
        return news

    def _close(self, dirt: Dirt, closed: Sequence[bytes]) -> None:
        """Leave out what lies below folders that may not be listed any more, as a walk does."""
        for folder in closed:
            for view, mask in zip(self._reader.views, dirt.masks, strict=True):
                below = slice(*ordered_below(view.names, folder))
                left_out = view.alive[below] & ~mask[below]
                dirt.removed += int(left_out.sum())
                mask[below] |= left_out
            inside = folder + b"/" if folder else b""
            scan = [path for path in dirt.scan if not path.startswith(inside)]
            dirt.removed += len(dirt.scan) - len(scan)
            dirt.scan = scan
            dirt.allowlisted.intersection_update(dirt.scan)

    def _add_changes(self, now: Now, dirt: Dirt, descriptor: int, started_ns: int) -> _Settled:
        """Settle what the stats leave in doubt, and add what changed."""
        changes = [Change.of(*pair) for pair in zip(self._reader.views, now.files, strict=True)]
        settled = self._settle(changes, descriptor, started_ns)
        for change in changes:
            _add(change, dirt)
        dirt.lost = now.lost
        return settled

    def _everything_gone(self) -> Dirt:
        masks = [view.alive.copy() for view in self._reader.views]
        return Dirt("swept", masks, removed=sum(int(mask.sum()) for mask in masks))

    def _horizons(self) -> list[int]:
        """Per view, since when a file must not have been touched to be believed by its stat."""
        scanned = self._reader.scanned_ns
        return [max(told_ns, self._checked.files_ns) - RACY_NS for told_ns in scanned]

    def _settle(self, changes: Sequence[Change], descriptor: int, started_ns: int) -> _Settled:
        """Read what the stats leave in doubt."""
        read, retimed_files = 0, 0
        found: list[tuple[str, int]] = []
        for change in changes:
            settled = change.settle(descriptor, started_ns - RACY_NS)
            retimed_files += settled.retimed
            read += settled.read
            found += [(change.view.segment.id, int(number)) for number in settled.differ]
        if retimed_files:
            retimed.remember(self._reader)
        return _Settled(read, tuple(found))

    @cached_property
    def _closed(self) -> Array:
        """int64, rising: folders that could not be read when the index was written."""
        return np.flatnonzero(self._directories.numbers("inode") == CLOSED)

    def _still_closed(self) -> Array:
        """int64, rising: those of them that cannot be read now."""
        closed = [j for j in self._closed.tolist() if is_closed(self._absolute(self._folders[j]))]
        return np.array(closed, np.int64)

    def _absolute(self, folder: bytes) -> bytes:
        return os.path.join(self._raw, folder)

    def _suspect_folders(self, now: Array, started_ns: int, closed: Array) -> _SuspectFolders:
        """Directories whose names may not be those the walk saw; of `closed` there are none."""
        table = self._directories
        told_mtime, told_ctime = table.numbers("mtime_ns"), table.numbers("ctime_ns")
        there = now[:, fetch.STAT_KIND] != 0
        same = (
            (now[:, fetch.STAT_MTIME] == told_mtime)
            & (now[:, fetch.STAT_CTIME] == told_ctime)
            & (now[:, fetch.STAT_INODE] == table.numbers("inode"))
            & there
        )
        horizon = max(self._reader.tree_scanned_ns, self._checked.folders_ns) - RACY_NS
        newest = np.maximum(told_mtime, told_ctime)
        racy = same & (newest >= horizon)
        suspect = (~same | racy) & there
        known = [j for j in self._checked.folders if there[j]]
        suspect[known] = True
        resting = racy & (newest < started_ns - RACY_NS)
        resting[known] = False
        suspect[closed] = resting[closed] = False
        return _SuspectFolders(np.flatnonzero(suspect), np.flatnonzero(resting))

    def _suspect_rules(self, folders: Sequence[bytes], started_ns: int) -> _SuspectRules:
        """Whether ignore files may not be those the walk read."""
        changed, newest = changed_rules(self._reader.watched)
        changed = changed or any(self._special_names_changed(folder) for folder in folders)
        racy = newest >= max(self._reader.tree_scanned_ns, self._checked.rules_ns) - RACY_NS
        resting = racy and not changed and newest < started_ns - RACY_NS
        return _SuspectRules(changed or racy, resting)

    def outer_rules(self) -> tuple[tuple[int, ...], ...]:
        """The stats of ignore files of whose change no event from inside the tree tells.

        Raises:
            OSError: It cannot be told of one of them.
        """
        return tuple(rule_times(path) for path in self._outer_rules)

    @cached_property
    def _outer_rules(self) -> list[bytes]:
        """Ignore files that lie in no folder the index knows."""
        known, lead = self._known_folders, self._raw.rstrip(b"/") + b"/"
        return [
            path
            for path in self._reader.watched.names("path").all()
            if not path.startswith(lead) or os.path.dirname(path[len(lead) :]) not in known
        ]

    def _special_names_changed(self, folder: bytes) -> bool:
        paths = [os.path.join(self._raw, folder, name) for name in SPECIAL]
        return any((path in self._watched) != absence.exists(path) for path in paths)

    @cached_property
    def _watched(self) -> set[bytes]:
        """The ignore files that were there."""
        table = self._reader.watched
        return set(table.names("path").take(np.flatnonzero(table.numbers("size") >= 0)))

    @cached_property
    def _excluded(self) -> set[Excluded]:
        """What the walk left out."""
        table = self._reader.excluded
        columns = (table.numbers("is_dir").tolist(), table.numbers("hidden").tolist())
        return {Excluded(*entry) for entry in zip(table.names("path").all(), *columns, strict=True)}

    @cached_property
    def _known(self) -> set[bytes]:
        """Every live indexed file, and with a slash at its end every folder seen or left out."""
        known = {path + b"/" for path in self._folder_numbers}
        known.update(path + b"/" if is_dir else path for path, is_dir, _ in self._excluded)
        return known.union(self._files)

    @cached_property
    def _files(self) -> dict[bytes, int]:
        """Every live indexed path, with its view and number (view << 32 | number)."""
        files: dict[bytes, int] = {}
        for k, view in enumerate(self._reader.views):
            alive = np.flatnonzero(view.alive)
            files.update(zip(view.names.take(alive), (alive + (k << 32)).tolist(), strict=True))
        return files

    @property
    def _known_folders(self) -> Collection[bytes]:
        return self._folder_numbers.keys()

    def _has_news(self, folder: bytes) -> bool:
        """Whether a file or folder in it was not there, or was not what it is now."""
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
            if absence.is_absent(error):
                return False
            raise

    def _walk_all(self, dirt: Dirt) -> bool:
        """The rules may differ: list everything, leave out what is no longer listed.

        Returns whether the rules say of all that the index knows what they said when it was made.
        """
        found = _whole(walk.walk(self.root, DEFAULT_SCOPE))
        listed = set(found.paths)
        as_indexed = self._are_as_indexed(found) and listed.issuperset(dirt.scan)
        for view, mask in zip(self._reader.views, dirt.masks, strict=True):
            numbers = np.flatnonzero(view.alive & ~mask)
            paths = view.names.take(numbers)
            shown = view.allowlisted[numbers].tolist()
            gone = [path not in listed for path in paths]
            other = [
                path in listed and (path in found.allowlisted) != was
                for path, was in zip(paths, shown, strict=True)
            ]
            mask[numbers[np.logical_or(gone, other)]] = True
            dirt.scan += [path for path, differs in zip(paths, other, strict=True) if differs]
            dirt.removed += sum(gone)
            as_indexed = as_indexed and not any(gone) and not any(other)
        dirt.scan = [path for path in dirt.scan if path in listed]
        dirt.directories = found.directories
        dirt.closed = _closed_in(found)
        self._add_new(found, dirt)
        dirt.allowlisted = found.allowlisted.intersection(dirt.scan)
        return as_indexed

    def _are_as_indexed(self, found: walk.Walk) -> bool:
        """Whether nothing is left out that was not, and nothing found that was left out."""
        before = {entry.path: entry for entry in self._excluded}
        known = set(self._folder_numbers).union(self._files)
        return not any(path in before for path in (*found.paths, *found.directories)) and all(
            before.get(entry.path, entry) == entry and entry.path not in known
            for entry in found.excluded
        )

    def _add_new(self, found: walk.Walk, dirt: Dirt) -> None:
        news = [path for path in found.paths if path not in self._files]
        dirt.scan += news
        dirt.allowlisted.update(path for path in news if path in found.allowlisted)
        dirt.excluded = found.excluded
        dirt.special = found.special

    def _remember(self, checked: Checked) -> None:
        if checked != self._checked:
            self._checked = checked
            memory.remember(self._reader, checked)


class _Settled(NamedTuple):
    """What came of doubtful files."""

    read: int
    """How many were read."""
    differ: tuple[tuple[str, int], ...]
    """Those that are not what was indexed, by segment and number."""

    def all_checked(self, checked: Checked, started_ns: int) -> Checked:
        """What is known once every doubtful file has been settled."""
        if not self.read:
            return checked
        return checked._replace(files_ns=started_ns, differ=(*checked.differ, *self.differ))


class _News(NamedTuple):
    """What listing some folders has told."""

    changed: set[int]
    """Those with names the index does not know."""
    closed: list[bytes]
    """Those that may not be listed."""


class _SuspectFolders(NamedTuple):
    """Directories that differ or are racy."""

    numbers: Array
    """int64: all of them."""
    resting: Array
    """int64: the racy ones at rest, which are known once they have been listed."""


class _SuspectRules(NamedTuple):
    """What the stats of ignore files say."""

    suspect: bool
    """They differ, or are racy."""
    resting: bool
    """They are the same, racy and at rest, so that reading them once more will tell."""


_NO_RULES = _SuspectRules(suspect=False, resting=False)


def _whole(found: walk.Walk) -> walk.Walk:
    """The same walk.

    Raises:
        OSError: Something may be missing from it.
    """
    if found.failure is not None:
        raise found.failure
    return found


def _closed_in(found: walk.Walk) -> list[bytes]:
    """Return the folders that a walk could not list."""
    folders = set(found.directories)
    return [each.path for each in found.skipped if each.path in folders]


def _named(error: Exception) -> str:
    """An error in one line, with the path it is about."""
    if isinstance(error, OSError) and error.strerror:
        path = f"{os.fsdecode(error.filename)!r}: " if error.filename else ""
        return f"{path}{error.strerror}"
    return str(error)


def _add(change: Change, dirt: Dirt) -> None:
    """What changed in one view, to the difference."""
    view = change.view
    mask = np.zeros(len(view.names), np.bool_)
    mask[change.numbers[change.changed]] = True
    there = change.numbers[change.changed & change.there]
    dirt.masks.append(mask)
    dirt.scan += view.names.take(there)
    shown = there[(view.flags[there] & layout.FLAG_ALLOWLISTED) != 0]
    dirt.allowlisted.update(view.names.take(shown))
    dirt.removed += int((change.changed & ~change.there).sum())


def _let_differ(reader: Reader, checked: Checked) -> None:
    """Believe no stat of the files that were found to differ."""
    for view in reader.views:
        numbers = [number for segment, number in checked.differ if segment == view.segment.id]
        differ(view, np.array(numbers, np.int64))
