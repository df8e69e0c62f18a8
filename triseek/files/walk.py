"""The files of a tree, exactly as `rg --files --sort path` lists them from the tree's root.

Our own walk, and not a binding of ripgrep's crate, for three reasons that were measured. The
binding makes a `pathlib` object of every entry (1.3 s for the Linux tree, where `os.scandir`
over all of it takes 0.13 s); it has no types and says of no entry whether it is a file; and it
cannot say what it left out, which an index needs to know before it answers a `-g`.

What cannot be entered is noted in `Walk.skipped` and never ends the walk.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest, RepoNotDetected
from triseek.files import absence
from triseek.files.ignore import ALLOWED_DIRS, ALLOWED_FILES, IgnoreFiles, Options
from triseek.model import budget
from triseek.model.search import Skipped
from triseek.query.filetypes import Types
from triseek.query.scope import Excluded, Overrides

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from triseek.files.ignore import Rules
    from triseek.model.search import ScopeSpec


_DOT = ord(".")


class Entry(NamedTuple):
    """A regular file of the walk."""

    path: bytes
    """Relative to the root, `/`-separated, raw bytes."""
    allowlisted: bool
    """Listed only because the well-known hidden places were asked for."""


@dataclass(slots=True)
class Walk:
    """What a walk found. Iterating gives the files in the order of `rg --sort path`."""

    root: bytes
    paths: list[bytes] = field(default_factory=list)
    """Component by component in byte order, each once."""
    allowlisted: set[bytes] = field(default_factory=set)
    """Those of `paths` that ripgrep would not list: the allow-list's hidden places."""
    directories: list[bytes] = field(default_factory=list)
    """Every folder entered, sorted; the root is empty."""
    skipped: list[Skipped] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    """Files and folders left out by ignore rules or hiddenness, in folders entered."""
    special: list[bytes] = field(default_factory=list)
    """Ignore files and `.git` in folders entered, hidden, listed or links: what has a say."""
    problems: list[tuple[bytes, str]] = field(default_factory=list)
    """Ignore files, or lines of them, that could not be used: path and why."""
    failure: OSError | None = None
    """The first error for which something may be missing that is there and may be read."""

    def __iter__(self) -> Iterator[Entry]:
        return (Entry(path, path in self.allowlisted) for path in self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def walk(
    root: str | bytes | os.PathLike[str], scope: ScopeSpec, *, within: tuple[str, ...] = ()
) -> Walk:
    """List the files below `root`.

    Args:
        root: An existing folder. Globs and `--ignore-file` count from here, as if ripgrep had
            been started here, unless the scope says from where (`ScopeSpec.here`).
        scope: Which files.
        within: Files and folders relative to the root to look at instead of all of it. As in
            ripgrep what is named is looked at even where it is hidden or ignored. Unlike in
            ripgrep the answer is in path order and holds no file twice.

    Raises:
        RepoNotDetected: There is no such folder.
        OSError: It cannot be looked at.
        InvalidQuery: A glob or a type is invalid.
        InvalidRequest: A path in `within` leads out of the root.
    """
    walker = _Walker(os.fsencode(root), scope)
    for name in within or ("",):
        walker.start(_relative(name))
    return walker.finish()


def walk_below(
    root: str | bytes | os.PathLike[str],
    scope: ScopeSpec,
    folders: Iterable[bytes],
    known: Collection[bytes] = (),
) -> Walk:
    """List the part of a whole walk that lies in these folders (relative to the root).

    Unlike `walk(…, within=…)`, for which a named folder is a start of its own, a folder the
    whole walk would not enter gives nothing here, and the rules above it see full paths. So this
    is the one to learn with what appeared in a folder since the whole walk. `known` folders are
    entered only on the way to one that was named.

    Raises:
        RepoNotDetected: There is no such root.
        OSError: It cannot be looked at.
        InvalidQuery: A glob or a type is invalid.
    """
    walker = _Walker(os.fsencode(root), scope)
    walker.only_below((_relative(folder) for folder in folders), known)
    walker.start(b"")
    return walker.finish()


def excluded(walked: Walk) -> list[Excluded]:
    """What the default walk left out of the folders it entered, files and folders."""
    return walked.excluded


def path_order(path: bytes) -> bytes:
    """Sort key of `rg --sort path`: component by component, bytes in order."""
    return path.replace(b"/", b"\0")


class _Folder(NamedTuple):
    """A folder to be listed."""

    path: bytes
    """Relative to the root, empty or ending in `/`."""
    rules: Rules
    depth: int
    allowlisted: bool
    wanted: bool
    """Whether what lies in it is asked for, or it is only passed through."""
    above: tuple[tuple[int, int], ...]
    """Device and inode of this folder and those above; kept only when links are followed."""


@dataclass(slots=True)
class _Listing:
    """The entries of one folder that count."""

    files: list[bytes] = field(default_factory=list)
    dirs: list[bytes] = field(default_factory=list)
    special: list[bytes] = field(default_factory=list)
    """Names that give the folder rules of its own."""
    linked: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    """Folders reached through a link: device and inode."""


class _Walker:
    def __init__(self, root: bytes, scope: ScopeSpec) -> None:
        status = absence.status(root)
        if status is None or not stat.S_ISDIR(status.st_mode):
            raise RepoNotDetected(f"not a folder: {os.fsdecode(root)}")
        self.root = os.path.abspath(root)  # noqa: PTH100
        self.scope = scope
        self.overrides = Overrides.compile(scope)
        self.types = Types.compile(scope)
        self.ignore = IgnoreFiles(self.root, Options.of(scope), self.overrides.seen)
        self.special = self.ignore.names
        self.walk = Walk(self.root)
        self.device = -1
        self.starts = 0
        self.wanted: frozenset[bytes] | None = None
        self.passed: frozenset[bytes] = frozenset()
        self.known: Collection[bytes] = ()

    def only_below(self, folders: Iterable[bytes], known: Collection[bytes]) -> None:
        """Keep only what lies in these folders, and not in known ones below them."""
        self.known = known
        self.wanted = frozenset(folder + b"/" if folder else b"" for folder in folders)
        parts = [folder[:-1].split(b"/") for folder in self.wanted]
        self.passed = frozenset(
            b"/".join(part[:size]) + b"/" for part in parts for size in range(1, len(part))
        )

    def start(self, name: bytes) -> None:
        """Walk one folder, or take one file as it is."""
        self.starts += 1
        path = self._absolute(name)
        status = absence.status(path)
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
        stack = [_Folder(folder, self.ignore.start(name), 0, False, wanted, above)]
        while stack:
            budget.check()
            stack.extend(self._visit(stack.pop()))

    def finish(self) -> Walk:
        """Bring what was found into order."""
        found = self.walk
        if self.starts > 1:
            found.paths = list(set(found.paths))
        found.paths.sort(key=path_order)
        found.directories = sorted(set(found.directories), key=path_order)
        found.excluded = sorted(set(found.excluded), key=lambda entry: path_order(entry.path))
        found.problems = self.ignore.problems
        found.failure = found.failure or self.ignore.failure
        return found

    def _absolute(self, relative: bytes) -> bytes:
        return self.root + b"/" + relative if relative else self.root

    def _visit(self, folder: _Folder) -> list[_Folder]:
        """List one folder: keep its files, and answer with the folders to enter from it."""
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
            self._keep(folder, files, shown)
        if self.wanted is not None:
            dirs = [name for name in dirs if self._leads_on(folder, name)]
        return [self._child(folder, rules, listing, name, shown) for name in dirs]

    def _keep(self, folder: _Folder, files: list[bytes], shown: set[bytes]) -> None:
        kept = [folder.path + name for name in files]
        self.walk.paths.extend(kept)
        if folder.allowlisted:
            self.walk.allowlisted.update(kept)
        elif shown:
            self.walk.allowlisted.update(folder.path + name for name in files if name in shown)

    def _child(
        self, folder: _Folder, rules: Rules, listing: _Listing, name: bytes, shown: set[bytes]
    ) -> _Folder:
        path = folder.path + name + b"/"
        return _Folder(
            path,
            rules,
            folder.depth + 1,
            folder.allowlisted or name in shown,
            self._is_wanted(folder, path),
            self._above(folder, listing, name),
        )

    def _is_wanted(self, above: _Folder, path: bytes) -> bool:
        if self.wanted is None or path in self.wanted:
            return True
        return above.wanted and path[:-1] not in self.known

    def _leads_on(self, above: _Folder, name: bytes) -> bool:
        path = above.path + name + b"/"
        return path in self.passed or self._is_wanted(above, path)

    def _choose(
        self, folder: _Folder, rules: Rules, listing: _Listing
    ) -> tuple[list[bytes], list[bytes], set[bytes]]:
        """Which files to keep, which folders to enter, and what of it the allow-list shows."""
        by_file, by_dir = rules.decide(folder.path, listing.files, listing.dirs)
        shown: set[bytes] = set()
        sides = [(listing.files, by_file, False), (listing.dirs, by_dir, True)]
        kept: list[list[bytes]] = []
        for names, verdicts, dirs in sides:
            named = self._named(folder, names, dirs=dirs)
            typed = {} if dirs or not self.types.active else self.types.decide(names)
            if typed:
                ignored = {name: taken for name, taken in verdicts.items() if not taken}
                verdicts = {**verdicts, **typed, **ignored}
            hidden = self._hidden(names)
            if not (named or verdicts or hidden):
                kept.append(names)
                continue
            allowed = self._allowed(folder, hidden, dirs=dirs)
            shown |= {name for name in allowed if name not in verdicts and name not in named}
            final = dict.fromkeys(hidden - allowed, False) | verdicts | named
            kept.append([name for name in names if final.get(name, True)])
            self._note_excluded(folder, names, final, (named, typed, verdicts), dirs=dirs)
        files = kept[0]
        if self.scope.max_filesize is not None:
            files = [name for name in files if self._fits(folder.path + name)]
        return files, self._same_device(folder, kept[1]), shown

    def _named(self, folder: _Folder, names: list[bytes], *, dirs: bool) -> dict[bytes, bool]:
        if not self.overrides.rules or not names:
            return {}
        return self.overrides.decide(folder.path, names, dirs=dirs)

    def _hidden(self, names: list[bytes]) -> set[bytes]:
        """Hidden names. To ripgrep a path that ends with a dot has no name, hence is not."""
        if self.scope.hidden:
            return set()
        return {name for name in names if name[0] == _DOT and name[-1] != _DOT}

    def _allowed(self, folder: _Folder, hidden: set[bytes], *, dirs: bool) -> set[bytes]:
        if not self.scope.allowlist or folder.path:
            return set()
        return hidden & (ALLOWED_DIRS if dirs else ALLOWED_FILES)

    def _note_excluded(
        self,
        folder: _Folder,
        names: list[bytes],
        final: dict[bytes, bool],
        parts: tuple[dict[bytes, bool], dict[bytes, bool], dict[bytes, bool]],
        *,
        dirs: bool,
    ) -> None:
        if not folder.wanted:
            return
        named, typed, verdicts = parts
        for name in names:
            if final.get(name, True) or name in named or name in typed:
                continue
            hidden = name not in verdicts
            self.walk.excluded.append(Excluded(folder.path + name, dirs, hidden))

    def _fits(self, path: bytes) -> bool:
        try:
            size = os.stat(self._absolute(path), follow_symlinks=self.scope.follow).st_size  # noqa: PTH116
        except OSError:
            return True  # as ripgrep: whoever reads it will say what is wrong
        limit = self.scope.max_filesize
        return limit is None or size <= limit

    def _same_device(self, folder: _Folder, dirs: list[bytes]) -> list[bytes]:
        if not self.scope.one_file_system:
            return dirs
        return [name for name in dirs if self._device_of(folder.path + name) == self.device]

    def _device_of(self, path: bytes) -> int:
        try:
            return os.stat(self._absolute(path)).st_dev  # noqa: PTH116
        except OSError as error:
            self._skip(path, error)
            return -1

    def _above(
        self, folder: _Folder, listing: _Listing, name: bytes
    ) -> tuple[tuple[int, int], ...]:
        if not self.scope.follow:
            return ()
        key = listing.linked.get(name)
        if key is None:
            try:
                status = os.stat(self._absolute(folder.path + name))  # noqa: PTH116
            except OSError:
                return folder.above  # it will be found unreadable when it is entered
            key = (status.st_dev, status.st_ino)
        return (*folder.above, key)

    def _list(self, folder: _Folder) -> _Listing | None:
        """Read a folder; `None` if that cannot be done. Sockets, pipes and devices are left out."""
        listing = _Listing()
        others: list[bytes] = []
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
            return None  # it has gone since the folder above it was read
        except OSError as error:
            self._skip(folder.path[:-1], error)
            # One that may not be read is a folder all the same: it is known when it may be again.
            empty = not (listing.files or listing.dirs or others)
            if empty and not isinstance(error, PermissionError):
                return None
        for part in (listing.files, listing.dirs, others):
            listing.special += [name for name in part if name[0] == _DOT and name in self.special]
        if self.scope.follow:
            for name in others:
                self._follow(folder, name, listing)
        return listing

    def _follow(self, folder: _Folder, name: bytes, listing: _Listing) -> None:
        """Add what a link leads to (or a pipe is), unless that is nowhere or a folder above."""
        path = folder.path + name
        try:
            status = os.stat(self._absolute(path))  # noqa: PTH116
        except OSError as error:
            self._skip(path, error)
            return
        key = (status.st_dev, status.st_ino)
        mode = status.st_mode & 0o170000
        if mode == 0o100000:
            listing.files.append(name)
        elif mode == 0o040000 and key in folder.above:
            self.walk.skipped.append(Skipped(path, "loop", "the link leads to a folder above it"))
        elif mode == 0o040000:
            listing.dirs.append(name)
            listing.linked[name] = key

    def _skip(self, path: bytes, error: OSError) -> None:
        if self.walk.failure is None and not absence.is_unseen(error):
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
