"""What of the working tree the index does not know yet, found without a walk.

A sweep stats every indexed file and every directory the index's walk entered: a file whose size,
times or inode differ has changed; a directory whose times differ may have gained names, and is
listed. Only an ignore file that changed costs a whole walk. Changed and new files are scanned by
the search itself, and their indexed blocks are masked, so an answer is as fresh as its sweep.

Racy times: what was modified within two seconds of being read may have been modified after it,
within the same tick of the file system's clock (git calls this racy). Such files count as dirty
until their content has been compared once, later; `checked.json` remembers when that was, and
which of them turned out to differ.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import xxhash

from triseek.engine.compare import compare
from triseek.engine.settle import Change, differ
from triseek.files import walk
from triseek.index import retimed
from triseek.index.build import DEFAULT_SCOPE
from triseek.index.tree import IGNORE_NAMES, changed_rules
from triseek.index.update import RACY_NS
from triseek.kernels import fetch
from triseek.query.scope import Excluded
from triseek.store import atomic, layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.index.reader import Reader
    from triseek.model.search import Freshness

Array: TypeAlias = np.ndarray[Any, Any]

BUDGET_S = 5.0
"""A sweep that takes longer than this is given up, and the answer says so."""
_DIFFER_MAX = 1_000
"""More files that differ behind their stats are not written down: each process reads them again."""
_SPECIAL = (*IGNORE_NAMES, b".git")
_CHECKED = "checked.json"


@dataclass(slots=True)
class Dirt:
    """The difference between the tree and the index."""

    freshness: Freshness
    masks: list[Array]
    """Per view, bool[files]: indexed files to leave out, because they changed or are gone."""
    scan: list[bytes] = field(default_factory=list)
    """Files to look at directly, new and changed ones, in path order."""
    allowlisted: set[bytes] = field(default_factory=set)
    """Those of `scan` that are hidden places ripgrep would leave out."""
    removed: int = 0
    """Indexed files that are gone."""
    directories: list[bytes] = field(default_factory=list)
    """Every directory of the tree as it is now, when a walk was needed to tell; else empty."""
    excluded: list[Excluded] = field(default_factory=list)
    """What was left out of the folders that had to be looked at."""

    @property
    def count(self) -> int:
        """How many files differ."""
        return len(self.scan) + self.removed


class Sweeper:
    """Sweep one root against one generation, again and again."""

    def __init__(self, root: str, reader: Reader) -> None:
        self.root = root
        self._raw = os.fsencode(root)
        self._reader = reader
        self._directories = reader.directories
        self._folders = self._directories.names("path")
        self._checked = _read_checked(reader)
        retimed.restore(reader)
        _let_differ(reader, self._checked)

    def sweep(self, budget_s: float = BUDGET_S) -> Dirt:
        """Compare the tree with the index now."""
        deadline = time.monotonic() + budget_s
        try:
            descriptor = os.open(self._raw, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return self._everything_gone()
        try:
            return self._sweep(descriptor, deadline)
        finally:
            os.close(descriptor)

    def _sweep(self, descriptor: int, deadline: float) -> Dirt:
        started_ns = time.time_ns()
        now = compare(descriptor, self._folders, self._reader.views, self._horizons(), deadline)
        if now is None:
            masks = [np.zeros(len(view.names), np.bool_) for view in self._reader.views]
            return Dirt("unverified", masks)
        dirt = Dirt("swept", [])
        changes = [Change.of(*pair) for pair in zip(self._reader.views, now.files, strict=True)]
        checked = self._settle(changes, descriptor, started_ns)
        for change in changes:
            _add(change, dirt)
        suspect = self._suspect_folders(now.folders, started_ns)
        folders = self._folders.take(suspect.numbers)
        rules = self._suspect_rules(folders, started_ns)
        listed = suspect.resting if rules.suspect else suspect.numbers
        news = {j for j in listed.tolist() if self._has_news(self._folders[j])}
        if rules.suspect:
            as_indexed = self._walk_all(dirt)
            if rules.resting and as_indexed:
                checked = checked._replace(rules_ns=started_ns)
        elif news:
            fresh = self._folders.take(sorted(news))
            self._add_new(
                walk.walk_below(self.root, DEFAULT_SCOPE, fresh, self._known_folders), dirt
            )
        dirt.scan = sorted(set(dirt.scan), key=walk.path_order)
        if len(suspect.resting):
            with_news = tuple(j for j in suspect.resting.tolist() if j in news)
            checked = checked._replace(folders_ns=started_ns, folders=checked.folders + with_news)
        self._remember_checked(checked)
        return dirt

    def _everything_gone(self) -> Dirt:
        masks = [view.alive.copy() for view in self._reader.views]
        return Dirt("swept", masks, removed=sum(int(mask.sum()) for mask in masks))

    def _horizons(self) -> list[int]:
        """Per view, since when a file must not have been touched to be believed by its stat."""
        scanned = self._reader.scanned_ns
        return [max(told_ns, self._checked.files_ns) - RACY_NS for told_ns in scanned]

    def _settle(self, changes: Sequence[Change], descriptor: int, started_ns: int) -> _Checked:
        """Read what the stats leave in doubt; what is to be remembered of it."""
        checked, retimed_files = self._checked, 0
        for change in changes:
            settled = change.settle(descriptor, started_ns - RACY_NS)
            retimed_files += settled.retimed
            if settled.read:
                found = [(change.view.segment.id, int(number)) for number in settled.differ]
                checked = checked._replace(files_ns=started_ns, differ=(*checked.differ, *found))
        if retimed_files:
            retimed.remember(self._reader)
        return checked

    def _suspect_folders(self, now: Array, started_ns: int) -> _SuspectFolders:
        """Directories whose names may not be those the walk saw."""
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
        return _SuspectFolders(np.flatnonzero(suspect), np.flatnonzero(resting))

    def _suspect_rules(self, folders: Sequence[bytes], started_ns: int) -> _SuspectRules:
        """Whether ignore files may not be those the walk read."""
        changed, newest = changed_rules(self._reader.watched)
        changed = changed or any(self._special_names_changed(folder) for folder in folders)
        racy = newest >= max(self._reader.tree_scanned_ns, self._checked.rules_ns) - RACY_NS
        resting = racy and not changed and newest < started_ns - RACY_NS
        return _SuspectRules(changed or racy, resting)

    def _special_names_changed(self, folder: bytes) -> bool:
        paths = [os.path.join(self._raw, folder, name) for name in _SPECIAL]
        return any((path in self._watched) != os.path.exists(path) for path in paths)

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
        known = {path + b"/" for path in self._known_folders}
        known.update(path + b"/" if is_dir else path for path, is_dir, _ in self._excluded)
        return known | self._files

    @cached_property
    def _files(self) -> set[bytes]:
        """Every live indexed path."""
        files: set[bytes] = set()
        for view in self._reader.views:
            files.update(view.names.take(np.flatnonzero(view.alive)))
        return files

    @cached_property
    def _known_folders(self) -> set[bytes]:
        return set(self._folders.all())

    def _has_news(self, folder: bytes) -> bool:
        """Whether a file or folder in it was not there, or was not what it is now."""
        prefix = folder + b"/" if folder else b""
        try:
            with os.scandir(os.path.join(self._raw, folder)) as entries:
                return any(
                    prefix + entry.name + (b"/" if is_dir else b"") not in self._known
                    for entry in entries
                    if (is_dir := entry.is_dir(follow_symlinks=False))
                    or entry.is_file(follow_symlinks=False)
                )
        except OSError:
            return False

    def _walk_all(self, dirt: Dirt) -> bool:
        """The rules may differ: list everything, leave out what is no longer listed.

        Returns whether the rules say of all that the index knows what they said when it was made.
        """
        found = walk.walk(self.root, DEFAULT_SCOPE)
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
        self._add_new(found, dirt)
        dirt.allowlisted = found.allowlisted.intersection(dirt.scan)
        return as_indexed

    def _are_as_indexed(self, found: walk.Walk) -> bool:
        """Whether nothing is left out that was not, and nothing found that was left out."""
        before = {entry.path: entry for entry in self._excluded}
        known = self._files | self._known_folders
        return not any(path in before for path in (*found.paths, *found.directories)) and all(
            before.get(entry.path, entry) == entry and entry.path not in known
            for entry in found.excluded
        )

    def _add_new(self, found: walk.Walk, dirt: Dirt) -> None:
        news = [path for path in found.paths if path not in self._files]
        dirt.scan += news
        dirt.allowlisted.update(path for path in news if path in found.allowlisted)
        dirt.excluded = found.excluded

    def _remember_checked(self, checked: _Checked) -> None:
        """Say to later processes, if that is possible, since when nothing racy is left."""
        if checked == self._checked:
            return
        self._checked = checked
        if len(checked.differ) + len(checked.folders) > _DIFFER_MAX:
            return
        body = {
            "times": checked[:3], "differ": checked.differ, "folders": checked.folders,
            "xxh3": _seal(self._reader, checked),
        }  # fmt: skip
        try:
            atomic.write(Path(self._reader.index_dir) / _CHECKED, json.dumps(body).encode())
        except OSError:
            return


class _Checked(NamedTuple):
    """What is known of racy things; times in nanoseconds since the epoch, 0: never yet."""

    files_ns: int
    """When every racy file at rest had been compared."""
    folders_ns: int
    """When every racy folder at rest had been listed."""
    rules_ns: int = 0
    """When racy rules at rest had been read again, and were what they had been."""
    differ: tuple[tuple[str, int], ...] = ()
    """Files, by segment and number, that are not what was indexed although their stats may be."""
    folders: tuple[int, ...] = ()
    """Folders, by number, with names the walk did not see although their stats are the same."""


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


def _read_checked(reader: Reader) -> _Checked:
    """What an earlier sweep of this generation wrote down."""
    try:
        body = json.loads((Path(reader.index_dir) / _CHECKED).read_bytes())
        differ = tuple((str(segment), int(number)) for segment, number in body["differ"])
        files_ns, folders_ns, rules_ns = map(int, body["times"])
        folders = tuple(map(int, body["folders"]))
        checked = _Checked(files_ns, folders_ns, rules_ns, differ, folders)
        return checked if body["xxh3"] == _seal(reader, checked) else _Checked(0, 0)
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return _Checked(0, 0)


def _seal(reader: Reader, checked: _Checked) -> str:
    """What makes a `checked.json` believable, and this generation's."""
    said = f"{reader.generation} {reader.manifest.tree} {json.dumps(checked)}"
    return xxhash.xxh3_64_hexdigest(said.encode())


def _let_differ(reader: Reader, checked: _Checked) -> None:
    """Believe no stat of the files that were found to differ."""
    for view in reader.views:
        numbers = [number for segment, number in checked.differ if segment == view.segment.id]
        differ(view, np.array(numbers, np.int64))
