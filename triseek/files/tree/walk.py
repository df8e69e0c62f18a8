"""The walk: lists the files of a tree exactly as `rg --files --sort path` does from its root.

This is our own walk and not a binding of ripgrep's crate, for three reasons that were measured.
The binding makes a `pathlib` object of every entry (1.3 s for the Linux tree, where `os.scandir`
over all of it takes 0.13 s). It has no file types and does not say whether an entry is a file. It
does not report what it left out, which an index needs to know before it answers a `-g`.

Folders that cannot be entered are recorded in `Walk.skipped` and never end the walk.
"""

from __future__ import annotations

import math
import os
import stat
from collections import deque
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest, OutOfTime, RepoNotDetected
from triseek.files import access
from triseek.files.tree.ignore import ALLOWED_DIRS, ALLOWED_FILES, IgnoreFiles
from triseek.model import budget
from triseek.model.search import Skipped
from triseek.query.globs.file_types import Types
from triseek.query.globs.scope import Excluded, Overrides, Scope

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from triseek.files.tree.ignore import Rules
    from triseek.model.search import ScopeSpec


_DOT = ord(".")


@dataclass(slots=True)
class Walk:
    """The result of a walk."""

    paths: list[bytes] = field(default_factory=list)
    """The files in path order (component by component, in byte order), each once."""
    allowlisted: set[bytes] = field(default_factory=set)
    """Those of `paths` that ripgrep would not list: the allow-list's hidden places, and files of
    `ScopeSpec.also`."""
    directories: list[bytes] = field(default_factory=list)
    """All folders entered, sorted; the root is the empty path."""
    skipped: list[Skipped] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    """Files and folders left out by ignore rules or as hidden, in the folders entered."""
    special: list[bytes] = field(default_factory=list)
    """Ignore files, `.git` and `.jj` in the folders entered; they may be hidden or links."""
    failure: OSError | None = None
    """The first error by which files that exist and are readable may be missing."""
    is_partial: bool = False
    """Whether the walk ended before it had entered every folder (`walk_nearest`)."""


def walk(
    root: str | bytes | os.PathLike[str], scope: ScopeSpec, *, within: tuple[str, ...] = ()
) -> Walk:
    """List the files below `root`.

    Args:
        root: An existing folder. Globs and `--ignore-file` are relative to it, as if ripgrep had
            been started there, unless `ScopeSpec.here` names another folder.
        scope: Which files to list.
        within: Files and folders, relative to the root, to walk instead of all of it. As in
            ripgrep, named paths are walked even if they are hidden or ignored. Unlike in
            ripgrep, the result is in path order and holds no file twice.

    Raises:
        RepoNotDetected: There is no such folder.
        OSError: The folder cannot be examined.
        InvalidQuery: A glob or a type is invalid.
        InvalidRequest: A path in `within` leads out of the root.
    """
    return _started(_Walker(os.fsencode(root), scope), within)


def walk_nearest(
    root: str | bytes | os.PathLike[str],
    scope: ScopeSpec,
    *,
    within: tuple[str, ...] = (),
    below: bytes = b"",
    entries_max: float = math.inf,
) -> Walk:
    """List files as `walk` does, those nearest to the root first, and end early if need be.

    It ends when the time for the request is over, which `walk` reports as an error. The result is
    what was listed by then, and is marked as partial.

    Args:
        root: As for `walk`.
        scope: As for `walk`.
        within: As for `walk`.
        below: The folder to which the walk is restricted, as by `walk_below`.
        entries_max: Files and folders after which it ends, too.

    Raises:
        As `walk`.
    """
    walker = _Walker(os.fsencode(root), scope)
    walker.entries_max = entries_max
    walker.nearest_first = True
    if below:
        walker.restrict((_relative(below),), ())
    return _started(walker, within)


def extra_files(
    root: str | bytes | os.PathLike[str], scope: ScopeSpec, *, within: tuple[str, ...] = ()
) -> set[bytes]:
    """Return `Walk.allowlisted` of a walk, and enter only the folders that may hold such files.

    Raises:
        As `walk`.
    """
    walker = _Walker(os.fsencode(root), scope)
    folders = {path.rpartition(b"/")[0] for path in scope.also} | set(map(_relative, within))
    walker.restrict(folders | {b"", *ALLOWED_DIRS} if scope.allowlist else folders, _Elsewhere())
    return _started(walker, within).allowlisted


class _Elsewhere:
    """All folders but those that the allow-list shows, and what is below these."""

    def __contains__(self, folder: object) -> bool:
        return isinstance(folder, bytes) and folder.partition(b"/")[0] not in ALLOWED_DIRS


def _started(walker: _Walker, within: tuple[str, ...]) -> Walk:
    """Do a walk, and add the files of `ScopeSpec.also`."""
    for name in within or ("",):
        walker.start(_relative(name))
    walked, scope = walker.finish(), walker.scope
    if scope.also:
        folders = sorted({_relative(name) for name in within}.intersection(walked.directories))
        is_wanted = not within or bool(folders)
        more = set(also(walker.root, Scope.compile(scope), folders) if is_wanted else ())
        walked.allowlisted |= more.difference(walked.paths)
        walked.paths = sorted(more.union(walked.paths), key=path_order)
    return walked


def also(
    root: str | bytes | os.PathLike[str], scope: Scope, folders: Sequence[bytes]
) -> list[bytes]:
    """Return the existing files of `ScopeSpec.also` that a scope selects, in path order.

    folders: those that the user named, relative to the root; empty for all of it.
    """
    inside = [path for path in scope.spec.also if _is_inside(path, folders)]
    paths = [path for path in sorted(inside, key=path_order) if _is_file(root, path, scope.spec)]
    return list(compress(paths, scope.select(paths, named=folders).tolist())) if paths else []


def _is_inside(path: bytes, folders: Sequence[bytes]) -> bool:
    return not folders or any(not folder or path.startswith(folder + b"/") for folder in folders)


def _is_file(root: str | bytes | os.PathLike[str], path: bytes, spec: ScopeSpec) -> bool:
    """Return whether a path is a regular file and not too large."""
    status = access.status(os.path.join(os.fsencode(root), path), follow=False)  # noqa: PTH118
    if status is None or not stat.S_ISREG(status.st_mode):
        return False
    return spec.max_filesize is None or status.st_size <= spec.max_filesize


def walk_below(
    root: str | bytes | os.PathLike[str],
    scope: ScopeSpec,
    folders: Iterable[bytes],
    known: Container[bytes] = (),
) -> Walk:
    """List the part of a whole walk that lies in these folders (relative to the root).

    `walk(…, within=…)` starts a walk in each named folder. Here, a folder that the whole walk
    would not enter gives nothing, and rules above it are matched against full paths. So use this
    to find what appeared in a folder since the whole walk. `known` folders are entered only on
    the way to one of `folders`.

    Raises:
        RepoNotDetected: There is no such root.
        OSError: It cannot be examined.
        InvalidQuery: A glob or a type is invalid.
    """
    walker = _Walker(os.fsencode(root), scope)
    walker.restrict((_relative(folder) for folder in folders), known)
    walker.start(b"")
    return walker.finish()


def path_order(path: bytes) -> bytes:
    """Return the sort key of `rg --sort path`: component by component, in byte order."""
    return path.replace(b"/", b"\0")


class _Folder(NamedTuple):
    """A folder to be listed."""

    path: bytes
    """Relative to the root, empty or ending in `/`."""
    rules: Rules
    depth: int
    allowlisted: bool
    wanted: bool
    """Whether its entries are listed; if not, it is only on the way to a wanted folder."""
    above: tuple[tuple[int, int], ...]
    """Device and inode of this folder and those above; only recorded when links are followed."""


class _Listing(NamedTuple):
    """The relevant entries of one folder."""

    files: list[bytes]
    dirs: list[bytes]
    special: list[bytes]
    """Names that give the folder rules of its own."""


class _Walker:
    def __init__(self, root: bytes, scope: ScopeSpec) -> None:
        status = access.status(root)
        if status is None or not stat.S_ISDIR(status.st_mode):
            raise RepoNotDetected(f"not a folder: {os.fsdecode(root)}")
        self.root = os.path.abspath(root)  # noqa: PTH100
        self.scope = scope
        self.overrides = Overrides(scope)
        self.types = Types(scope)
        self.ignore = IgnoreFiles(self.root, scope)
        self.special = self.ignore.names
        self.walk = Walk()
        self.device = -1
        self.starts = 0
        self.wanted: frozenset[bytes] | None = None
        self.passed: frozenset[bytes] = frozenset()
        self.known: Container[bytes] = ()
        self.entries_max = math.inf
        self.nearest_first = False

    def restrict(self, folders: Iterable[bytes], known: Container[bytes]) -> None:
        """Restrict the walk to these folders, without the known ones below them."""
        self.known = known
        self.wanted = frozenset(folder + b"/" if folder else b"" for folder in folders)
        parts = [folder[:-1].split(b"/") for folder in self.wanted]
        self.passed = frozenset(
            b"/".join(part[:size]) + b"/" for part in parts for size in range(1, len(part))
        )

    def start(self, name: bytes) -> None:
        """Walk one folder, or add one file."""
        self.starts += 1
        path = self._absolute(name)
        status = access.status(path)
        if status is None or not stat.S_ISDIR(status.st_mode):
            if os.path.lexists(path):
                self.walk.paths.append(name)
            else:
                self.walk.skipped.append(Skipped(name, "not_found"))
            return
        self.device = status.st_dev
        above = ((status.st_dev, status.st_ino),) if self.scope.follow else ()
        folder = name + b"/" if name else b""
        wanted = self.wanted is None or folder in self.wanted
        folders = deque([_Folder(folder, self.ignore.start(name), 0, False, wanted, above)])
        take = folders.popleft if self.nearest_first else folders.pop
        while folders and not self._is_over():
            folders.extend(self._visit(take()))
        self.walk.is_partial |= bool(folders)

    def _is_over(self) -> bool:
        """Return whether a walk of the nearest files has to end.

        Raises:
            OutOfTime: Another walk has to.
        """
        try:
            budget.check()
        except OutOfTime:
            if not self.nearest_first:
                raise
            return True
        return len(self.walk.paths) + len(self.walk.directories) > self.entries_max

    def finish(self) -> Walk:
        """Sort the results, remove duplicates and return them."""
        result = self.walk
        if self.starts > 1:
            result.paths = list(set(result.paths))
        result.paths.sort(key=path_order)
        result.directories = sorted(set(result.directories), key=path_order)
        result.excluded = sorted(set(result.excluded), key=lambda entry: path_order(entry.path))
        result.failure = result.failure or self.ignore.failure
        return result

    def _absolute(self, relative: bytes) -> bytes:
        return self.root + b"/" + relative if relative else self.root

    def _visit(self, folder: _Folder) -> list[_Folder]:
        """List one folder: record its files, and return the folders to enter from it."""
        if self.scope.max_depth is not None and folder.depth >= self.scope.max_depth:
            return []
        listing = self._list(folder)
        if listing is None:
            return []
        rules = folder.rules
        if listing.special:
            rules = self.ignore.enter(rules, folder.path, listing.special)
        files, dirs, shown = self._choose(folder, rules, listing)
        if folder.wanted:
            self.walk.special += [folder.path + name for name in listing.special]
            self.walk.directories.append(folder.path[:-1])
            kept = [folder.path + name for name in files]
            self.walk.paths += kept
            if folder.allowlisted:
                self.walk.allowlisted.update(kept)
            elif shown:
                self.walk.allowlisted.update(folder.path + name for name in files if name in shown)
        below = []
        for name in dirs:
            path = folder.path + name + b"/"
            wanted = self._is_wanted(folder, path)
            if wanted or path in self.passed:
                allowlisted, above = folder.allowlisted or name in shown, self._above(folder, path)
                below.append(_Folder(path, rules, folder.depth + 1, allowlisted, wanted, above))
        return below

    def _is_wanted(self, above: _Folder, path: bytes) -> bool:
        if self.wanted is None or path in self.wanted:
            return True
        return above.wanted and path[:-1] not in self.known

    def _choose(
        self, folder: _Folder, rules: Rules, listing: _Listing
    ) -> tuple[list[bytes], list[bytes], set[bytes]]:
        """Return the files to keep, the folders to enter, and which of both are allow-listed."""
        by_file, by_dir = rules.decide(folder.path, listing.files, listing.dirs)
        shown: set[bytes] = set()
        files = self._selected(folder, listing.files, by_file, shown, dirs=False)
        dirs = self._selected(folder, listing.dirs, by_dir, shown, dirs=True)
        limit = self.scope.max_filesize
        if limit is not None:
            files = [name for name in files if self._size(folder.path + name) <= limit]
        if self.scope.one_file_system:
            stats = [(name, self._stat(folder.path + name)) for name in dirs]
            dirs = [name for name, status in stats if status and status.st_dev == self.device]
        return files, dirs, shown

    def _selected(
        self,
        folder: _Folder,
        names: list[bytes],
        verdicts: dict[bytes, bool],
        shown: set[bytes],
        *,
        dirs: bool,
    ) -> list[bytes]:
        """Return the names that the rules leave; add those that the allow-list shows to `shown`."""
        scope = self.scope
        named: dict[bytes, bool] = {}
        typed: dict[bytes, bool] = {}
        hidden: set[bytes] = set()
        allowed: set[bytes] = set()
        if names and self.overrides.rules:
            named = self.overrides.decide(folder.path, names, dirs=dirs)
        if self.types.active and not dirs:
            typed = self.types.decide(names)
            ignored = {name: taken for name, taken in verdicts.items() if not taken}
            verdicts = verdicts | typed | ignored
        if not scope.hidden:
            # To ripgrep, a name that ends with a dot is not hidden.
            hidden = {name for name in names if name[0] == _DOT and name[-1] != _DOT}
        if not (named or verdicts or hidden):
            return names
        if scope.allowlist and not folder.path:
            allowed = hidden & (ALLOWED_DIRS if dirs else ALLOWED_FILES)
            shown |= allowed - verdicts.keys() - named.keys()
        final = dict.fromkeys(hidden - allowed, False) | verdicts | named
        if folder.wanted:
            self.walk.excluded += [
                Excluded(folder.path + name, dirs, name not in verdicts)
                for name in names
                if not final.get(name, True) and name not in named and name not in typed
            ]
        return [name for name in names if final.get(name, True)]

    def _size(self, path: bytes) -> int:
        try:
            return os.stat(self._absolute(path), follow_symlinks=self.scope.follow).st_size  # noqa: PTH116
        except OSError:
            return 0  # listed, as in ripgrep; the error is reported when the file is read

    def _stat(self, path: bytes) -> os.stat_result | None:
        """Return the stat of a path, links followed; None, and the path is skipped, if it fails."""
        try:
            return os.stat(self._absolute(path))  # noqa: PTH116
        except OSError as error:
            self._skip(path, error)
            return None

    def _above(self, folder: _Folder, path: bytes) -> tuple[tuple[int, int], ...]:
        if not self.scope.follow:
            return ()
        try:
            status = os.stat(self._absolute(path))  # noqa: PTH116
        except OSError:
            return folder.above  # the error is reported when it is entered
        return (*folder.above, (status.st_dev, status.st_ino))

    def _list(self, folder: _Folder) -> _Listing | None:
        """Read a folder; `None` if it cannot be read. Sockets, pipes and devices are left out."""
        listing, others = _Listing([], [], []), []
        try:
            with os.scandir(self._absolute(folder.path)) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        listing.files.append(entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        listing.dirs.append(entry.name)
                    else:
                        others.append(entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return None  # it was removed after the folder above it was read
        except OSError as error:
            self._skip(folder.path[:-1], error)
            # Record a folder without read permission, so that it is noticed when it gets some.
            empty = not (listing.files or listing.dirs or others)
            if empty and not isinstance(error, PermissionError):
                return None
        names = (*listing.files, *listing.dirs, *others)
        listing.special.extend(name for name in names if name[0] == _DOT and name in self.special)
        if self.scope.follow:
            for name in others:
                self._follow(folder, name, listing)
        return listing

    def _follow(self, folder: _Folder, name: bytes, listing: _Listing) -> None:
        """Add the file or folder that a link leads to, unless it is missing or a folder above."""
        path = folder.path + name
        status = self._stat(path)
        if status is None:
            return
        if stat.S_ISREG(status.st_mode):
            listing.files.append(name)
        elif stat.S_ISDIR(status.st_mode):
            if (status.st_dev, status.st_ino) in folder.above:
                why = "the link leads to a folder above it"
                self.walk.skipped.append(Skipped(path, "loop", why))
            else:
                listing.dirs.append(name)

    def _skip(self, path: bytes, error: OSError) -> None:
        if self.walk.failure is None and not access.is_unseen(error):
            self.walk.failure = error
        reason = error.strerror or str(error)
        self.walk.skipped.append(Skipped(path, "unreadable", reason))


def _relative(name: str | bytes) -> bytes:
    path = os.path.normpath(os.fsencode(name) or b".")
    if path == b".":
        return b""
    if path == b".." or path.startswith((b"../", b"/")):
        raise InvalidRequest(
            f"outside of the searched folder: {os.fsdecode(path)}",
            next_step="Name a path inside it, relative to it.",
        )
    return path
