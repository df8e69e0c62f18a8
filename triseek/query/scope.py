"""Which of the known files a search is about: globs and types over many paths at once.

The walk of a tree applies the same rules while it goes (`files.walk`); a `Scope` applies them
afterwards to paths an unrestricted walk has found, and gives what ripgrep would have listed
among them. ripgrep's order is: the globs decide if they match at all; then the types.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triseek.query.filetypes import Types
from triseek.query.globs import RuleSet, parse_line
from triseek.query.pathtable import PathTable
from triseek.query.seen import AS_IT_IS, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.model.search import ScopeSpec
    from triseek.query.globs import Rule
    from triseek.query.rows import Ints, Mask

Verdicts: TypeAlias = NDArray[np.int8]
"""int8, one per path: 1 a rule takes it, -1 a rule leaves it out, 0 no rule matches."""


class Excluded(NamedTuple):
    """A file or folder the default walk saw and left out, itself inside a folder it entered."""

    path: bytes
    is_dir: bool
    hidden: bool = False
    """Left out for its leading dot alone; no ignore rule speaks of it."""


class Entries:
    """What a walk left out, ready to be asked again and again."""

    def __init__(self, entries: Iterable[Excluded]) -> None:
        self.entries = list(entries)
        self.table = PathTable.of([entry.path for entry in self.entries])
        count = len(self.entries)
        self.dirs = np.fromiter((entry.is_dir for entry in self.entries), bool, count)
        self.hidden = np.fromiter((entry.hidden for entry in self.entries), bool, count)


class Overrides:
    """All `-g` and `--iglob` together. They beat ignore rules, types and hiddenness."""

    def __init__(self, rules: Iterable[Rule], seen: Seen = AS_IT_IS) -> None:
        self.rules = list(rules)
        self.seen = seen
        self.takes = any(not rule.negated for rule in self.rules)
        """Whether a file that no glob matches is left out."""
        self.set = RuleSet(self.rules)

    @classmethod
    def compile(cls, spec: ScopeSpec) -> Overrides:
        """Read the globs of a scope.

        Raises:
            InvalidQuery: A glob is invalid; its text is in the message.
        """
        fold = spec.glob_case_insensitive
        parsed = [parse_line(glob, fold_case=fold) for glob in spec.globs]
        parsed += [parse_line(glob, fold_case=True) for glob in spec.iglobs]
        return cls((rule for rule in parsed if rule is not None), Seen.of(spec))

    def decide(self, folder: bytes, names: Sequence[bytes], *, dirs: bool) -> dict[bytes, bool]:
        """For names in `folder` (empty or ending in `/`) a glob speaks about: is it taken."""
        matched = self.seen.decide(self.set, folder, names, dirs=dirs)
        verdicts = {name: not negated for name, negated in matched.items()}
        if self.takes and not dirs:
            verdicts.update({name: False for name in names if name not in matched})
        return verdicts

    def verdicts(self, table: PathTable, *, dirs: bool) -> Verdicts:
        """What the last matching glob says of every path of the root."""
        rules = self.rules if dirs else [rule for rule in self.rules if not rule.only_dir]
        seen = self.seen
        if seen.changes and not (seen.lead or seen.cuts):
            rules = [rule.below(seen.folder) for rule in rules]
        elif seen.cuts or (seen.changes and not all(rule.name_only for rule in rules)):
            table = PathTable.of([seen.path(path) for path in table.paths])
        return _verdicts(table, rules)


class Scope:
    """The globs and types of a `ScopeSpec`, ready to choose among paths."""

    def __init__(self, spec: ScopeSpec, overrides: Overrides, types: Types) -> None:
        self.spec = spec
        self.overrides = overrides
        self.types = types

    @classmethod
    def compile(cls, spec: ScopeSpec) -> Scope:
        """Read a scope's globs and types.

        Raises:
            InvalidQuery: A glob or a type is invalid.
        """
        return cls(spec, Overrides.compile(spec), Types.compile(spec))

    @property
    def selects_all(self) -> bool:
        """Whether nothing is left out of what the default walk found."""
        unlimited = self.spec.max_depth is None and self.spec.max_filesize is None
        return unlimited and not self.overrides.rules and not self.types.active

    @property
    def widens_walk(self) -> bool:
        """Whether flags, not globs, ask for files the default walk does not list."""
        spec = self.spec
        return any(
            (
                spec.hidden, spec.no_ignore, spec.no_ignore_vcs, spec.no_ignore_parent,
                spec.no_ignore_dot, spec.no_ignore_exclude, spec.no_ignore_global,
                spec.no_require_git, spec.follow,
            )
        )  # fmt: skip

    def select(
        self,
        paths: PathTable | Sequence[bytes],
        allowlisted: Mask | None = None,
        named: Sequence[bytes] = (),
    ) -> Mask:
        """Choose among files of the default walk, by globs, types and depth.

        Args:
            paths: Relative to the root. A `PathTable` kept between searches saves the
                preparation (about 15 ms for 80,000 paths).
            allowlisted: bool, one per path: listed only because the well-known hidden places
                were asked for. Without `spec.allowlist` they count as hidden.
            named: Folders the user named. Globs do not keep ripgrep out of those, nor of the
                folders above them. That a path lies in one of them is the caller's business.

        Returns:
            bool, one per path: would ripgrep list it. `max_filesize`, `no_…` flags and
            `--ignore-file` are the caller's business: they need more than paths.
        """
        table = paths if isinstance(paths, PathTable) else PathTable.of(paths)
        told = self._override_verdicts(table)
        typed = self._type_verdicts(table)
        chosen: Mask = np.where(told != 0, told > 0, typed >= 0) & ~self._pruned(table, named)
        if self.spec.max_depth is not None:
            chosen &= table.depths <= self.spec.max_depth
        if allowlisted is not None and not self.spec.allowlist:
            hidden = np.flatnonzero(allowlisted)
            chosen[hidden] &= self._unhides(table, hidden, told[hidden], typed[hidden])
        return chosen

    def enters(self, folders: Sequence[bytes], named: Sequence[bytes] = ()) -> Mask:
        """Choose among folders of the default walk: bool, one per folder; `named` as for `select`.

        Would ripgrep list what is in it.
        """
        table = PathTable.of(folders)
        entered: Mask = (self._dir_verdicts(table) >= 0) & ~self._pruned(table, named)
        for folder in named:
            entered |= table.equals(folder)
        if self.spec.max_depth is not None:
            entered &= table.depths < self.spec.max_depth
        return entered

    @property
    def brings_back(self) -> bool:
        """Whether some globs or types may ask for files the default walk leaves out."""
        return bool(self.overrides.takes or self.types.selects)

    def may_whitelist(
        self, excluded: Entries | Iterable[Excluded], named: Sequence[bytes] = ()
    ) -> list[Excluded]:
        """Those of the entries the default walk left out that these globs or types bring back.

        A folder in the answer is entered again by ripgrep; what it lists there must be walked.
        Those that are `below_hidden` ripgrep may not reach. `named` is as for `select`.
        """
        if not self.brings_back:
            return []
        left = excluded if isinstance(excluded, Entries) else Entries(excluded)
        if not left.entries:
            return []
        as_file, as_dir = self._override_verdicts(left.table), self._dir_verdicts(left.table)
        typed = (as_file == 0) & left.hidden & (self._type_verdicts(left.table) > 0)
        back = np.where(left.dirs, as_dir > 0, (as_file > 0) | typed)
        back &= ~self._pruned(left.table, named)
        if self.spec.max_depth is not None:
            back &= left.table.depths + left.dirs <= self.spec.max_depth
        return [left.entries[at] for at in np.flatnonzero(back).tolist()]

    def below_hidden(self, entry: Excluded) -> bytes:
        """Return the hidden folder in the root that an entry is in; empty if ripgrep enters it.

        The default walk enters some of them by the allow-list. ripgrep does if a glob takes the
        folder; whether an ignore rule does is the caller's business.
        """
        top, below, _ = entry.path.partition(b"/")
        if self.spec.allowlist or not below or not top.startswith(b"."):
            return b""
        return b"" if self.overrides.decide(b"", [top], dirs=True).get(top) else top

    def _override_verdicts(self, table: PathTable) -> Verdicts:
        verdicts = self.overrides.verdicts(table, dirs=False)
        if self.overrides.takes:
            verdicts -= verdicts == 0
        return verdicts

    def _dir_verdicts(self, table: PathTable) -> Verdicts:
        return self.overrides.verdicts(table, dirs=True)

    def _type_verdicts(self, table: PathTable) -> Verdicts:
        verdicts = _verdicts(table, self.types.rules)
        if self.types.active:
            verdicts[table.ends_with(b".")] = 0
        if self.types.selects:
            verdicts -= verdicts == 0
        return verdicts

    def _pruned(self, table: PathTable, named: Sequence[bytes] = ()) -> Mask:
        """Which paths lie below a folder a glob leaves out."""
        if not any(rule.negated for rule in self.overrides.rules):
            return np.zeros(len(table), bool)
        folders = table.folders
        out = self._dir_verdicts(folders.table) < 0
        if not out.any():
            return np.zeros(len(table), bool)
        out = np.append(out, False)  # -1, the root, is the last
        entered = np.zeros(len(out), bool)
        for folder in named:
            entered[:-1] |= folders.table.equals(folder)
        out &= ~entered
        while True:
            # One level deeper each time, so as often as the tree is deep.
            deeper = (out | np.append(out[folders.parents], False)) & ~entered
            if (deeper == out).all():
                break
            out = deeper
        below: Mask = out[folders.of_path]
        return below

    def _unhides(self, table: PathTable, at: Ints, named: Verdicts, typed: Verdicts) -> Mask:
        """Which allow-listed paths ripgrep lists too, because a glob or type takes them.

        Directly in the root that is a matter of the file; deeper, its top folder must have been
        taken by a glob as well.

        Args:
            table: All paths.
            at: int64, the numbers of the allow-listed ones: almost always a handful.
            named: What the globs say of those.
            typed: What the types say of those.

        Returns:
            bool, one per number in `at`.
        """
        top_file = table.depths[at] == 1
        unhidden: Mask = top_file & ((named > 0) | ((named == 0) & (typed > 0)))
        if self.overrides.takes and not top_file.all():
            below = ~top_file & (named > 0)
            unhidden[below] = self._takes_top(table, at[below])
        return unhidden

    def _takes_top(self, table: PathTable, at: Ints) -> Mask:
        """Return whether a glob takes the top folder of each of these paths.

        Args:
            table: All paths.
            at: int64, the numbers of some of them.

        Returns:
            bool, one per number in `at`.
        """
        tops = [path.partition(b"/")[0] for path in table.take(at)]
        taken = self.overrides.decide(b"", sorted(set(tops)), dirs=True)
        return np.fromiter((taken.get(top, False) for top in tops), bool, len(tops))


def within(paths: PathTable | Sequence[bytes], folder: str | bytes) -> Mask:
    """Which paths are `folder` itself or lie below it; bool, one per path."""
    table = paths if isinstance(paths, PathTable) else PathTable.of(paths)
    prefix = folder.encode("utf-8", "surrogateescape") if isinstance(folder, str) else folder
    prefix = prefix.removeprefix(b"./").rstrip(b"/")
    if prefix in (b"", b"."):
        return np.ones(len(table), bool)
    found = table.starts_with(prefix + b"/")
    found |= table.equals(prefix)
    return found


def _verdicts(table: PathTable, rules: list[Rule]) -> Verdicts:
    """What the last matching rule says, for every path."""
    verdicts = np.zeros(len(table), np.int8)
    start = 0
    for at in range(1, len(rules) + 1):
        if at == len(rules) or rules[at].negated != rules[start].negated:
            # Sums of whole columns: assigning through a mask takes ten times as long.
            matched = table.matches(rules[start:at])
            verdicts *= ~matched
            verdicts += matched.view(np.int8) * np.int8(-1 if rules[start].negated else 1)
            start = at
    return verdicts
