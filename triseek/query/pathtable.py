"""Many paths at once: columns over one blob, and the rules that match them.

Most globs people write are a literal beginning, one gap and a literal end (`*.rs`, `src/**/*.c`,
`vendor/`, `Makefile`). Those are answered by comparing eight bytes of every path at a time;
what is left goes to RE2. 80,000 paths take well under a millisecond a glob.
"""

from __future__ import annotations

from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from triseek.query.globs import Token, compile_wrapped, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from triseek.query.globs import Rule, Tokens

Mask: TypeAlias = NDArray[np.bool_]
Ints: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.uint8]
Windows: TypeAlias = NDArray[np.uint64]

_SLASH = ord("/")
_WINDOW = 8  # bytes compared at once
_SPELLINGS_MAX = 64  # of one glob, once its classes and alternatives are written out
_CLASS_MAX = 8


class Folders(NamedTuple):
    """Every folder that some path lies in, however deep."""

    table: PathTable
    """Parents before children."""
    parents: Ints
    """int64, one per folder: its parent's number, -1 for the root."""
    of_path: Ints
    """int64, one per path: its folder's number, -1 for the root."""


class PathTable:
    """Relative paths, `/`-separated, as slices of one blob with NUL bytes between them."""

    def __init__(self, blob: bytes | Bytes, starts: Ints, ends: Ints) -> None:
        """Wrap columns that exist already, for instance mapped ones.

        Args:
            blob: All paths (bytes or uint8), at least one NUL byte between any two.
            starts: int64, where each path begins.
            ends: int64, where each path ends.
        """
        self._data = np.frombuffer(blob, np.uint8) if isinstance(blob, bytes) else blob
        self._starts = starts.astype(np.int64, copy=False)
        self._ends = ends.astype(np.int64, copy=False)

    @classmethod
    def of(cls, paths: Sequence[bytes]) -> PathTable:
        """Make a table of a list of paths."""
        sizes = np.fromiter(map(len, paths), np.int64, len(paths))
        ends = np.cumsum(sizes + 1) - 1
        table = cls(b"\0".join(paths), ends - sizes, ends)
        table.__dict__["paths"] = list(paths)
        return table

    def __len__(self) -> int:
        return len(self._starts)

    @cached_property
    def paths(self) -> list[bytes]:
        """The paths one by one."""
        blob = self._data.tobytes()
        spans = zip(self._starts.tolist(), self._ends.tolist(), strict=True)
        return [blob[start:end] for start, end in spans]

    def take(self, numbers: Ints) -> list[bytes]:
        """The paths with these numbers (int64)."""
        begins, ends = self._starts[numbers].tolist(), self._ends[numbers].tolist()
        spans = zip(begins, ends, strict=True)
        return [self._data[begin:end].tobytes() for begin, end in spans]

    @cached_property
    def depths(self) -> Ints:
        """Components of each path; int64."""
        before, after = (np.searchsorted(self._slashes, at) for at in (self._starts, self._ends))
        depths: Ints = 1 + after - before
        return depths

    @cached_property
    def folders(self) -> Folders:
        """The folders of these paths."""
        numbers: dict[bytes, int] = {b"": -1}
        names: list[bytes] = []
        parents: list[int] = []

        def number(folder: bytes) -> int:
            known = numbers.get(folder)
            if known is None:
                parent = number(folder.rpartition(b"/")[0])
                known = numbers[folder] = len(names)
                names.append(folder)
                parents.append(parent)
            return known

        of_path: list[int] = []
        for path in self.paths:
            folder = path[: max(path.rfind(b"/"), 0)]
            known = numbers.get(folder)
            of_path.append(number(folder) if known is None else known)
        return Folders(PathTable.of(names), np.array(parents, int), np.array(of_path, int))

    def equals(self, literal: bytes) -> Mask:
        """Which paths are exactly this; bool."""
        found = self.starts_with(literal)
        found &= self._sizes == len(literal)
        return found

    def starts_with(self, literal: bytes) -> Mask:
        """Which paths begin with this; bool."""
        return self._compare(self._starts, self._heads, literal)

    def ends_with(self, literal: bytes) -> Mask:
        """Which paths end with this; bool."""
        if not literal:
            return np.ones(len(self), bool)
        head, tail = literal[:-_WINDOW], literal[-_WINDOW:]
        mask, value = _mask_value(tail, at_end=True)
        found: Mask = (self._tails & mask) == value
        if head:
            found &= self._sizes >= len(literal)
            self._narrow(found, self._ends - len(literal), head)
        return found

    def matches(self, rules: Iterable[Rule]) -> Mask:
        """Which paths any of the rules matches; their `only_dir` and `negated` are not asked."""
        found = np.zeros(len(self), bool)
        left: list[Rule] = []
        for rule in rules:
            shapes = _shapes(rule)
            if shapes is None:
                left.append(rule)
                continue
            table = self._folded if rule.fold_case else self
            for shape in shapes:
                found |= table._match_shape(shape)  # noqa: SLF001 - its own kind
        if left:
            found |= self._search(left)
        return found

    @cached_property
    def _folded(self) -> PathTable:
        # bytes.lower knows ASCII only, and so does ripgrep about globs.
        return PathTable(self._data.tobytes().lower(), self._starts, self._ends)

    @cached_property
    def _wrapped_paths(self) -> bytes:
        return wrap(self.paths)

    @cached_property
    def _wrapped_names(self) -> bytes:
        return wrap([path[path.rfind(b"/") + 1 :] for path in self.paths])

    @cached_property
    def _sizes(self) -> Ints:
        return self._ends - self._starts

    @cached_property
    def _name_sizes(self) -> Ints:
        return self._ends - self._name_starts

    @cached_property
    def _slashes(self) -> Ints:
        return np.flatnonzero(self._data == _SLASH)

    @cached_property
    def _name_starts(self) -> Ints:
        if not len(self._slashes):
            return self._starts
        last = np.searchsorted(self._slashes, self._ends) - 1
        # A slash before the path is another path's; without any there is none to look up.
        after_slash = np.where(last >= 0, self._slashes[np.maximum(last, 0)] + 1, 0)
        return np.maximum(after_slash, self._starts)

    @cached_property
    def _padded(self) -> Bytes:
        """The blob with a window of NUL bytes on either side."""
        return np.pad(self._data, _WINDOW)

    def _windows(self, begins: Ints) -> Windows:
        """The eight bytes from each position on, the first one lowest; uint64."""
        padded = self._padded
        every = np.ndarray((len(padded) - _WINDOW + 1,), "<u8", padded, strides=(1,))
        windows: Windows = every[begins + _WINDOW]
        return windows

    @cached_property
    def _heads(self) -> Windows:
        return self._windows(self._starts)

    @cached_property
    def _name_heads(self) -> Windows:
        return self._windows(self._name_starts)

    @cached_property
    def _tails(self) -> Windows:
        return self._windows(self._ends - _WINDOW)

    def _compare(self, begins: Ints, heads: Windows, literal: bytes) -> Mask:
        """Where the bytes from `begins` on are `literal`; `heads` are their first eight."""
        mask, value = _mask_value(literal[:_WINDOW])
        found: Mask = (heads & mask) == value
        if len(literal) > _WINDOW:
            self._narrow(found, begins + _WINDOW, literal[_WINDOW:])
        return found

    def _narrow(self, found: Mask, begins: Ints, literal: bytes) -> None:
        """Unset `found` where the bytes from `begins` on are not `literal`."""
        kept = np.flatnonzero(found)
        last = len(self._padded) - 1
        for at, byte in enumerate(literal):
            # Past the end of the blob lies a NUL byte, which no literal holds.
            where = np.minimum(begins[kept] + (_WINDOW + at), last)
            kept = kept[self._padded[where] == byte]
        found[:] = False
        found[kept] = True

    def _match_shape(self, shape: _Shape) -> Mask:
        found = self.ends_with(shape.end)
        if not (shape.begin or shape.exact) and (shape.name_only or not shape.same_component):
            return found  # an end that fits has room enough, in the path as in the name
        if shape.name_only:
            found &= self._compare(self._name_starts, self._name_heads, shape.begin)
            room = self._name_sizes
        else:
            found &= self.starts_with(shape.begin)
            room = self._sizes
        if shape.exact or shape.end:
            found &= (room == shape.size_min) if shape.exact else (room >= shape.size_min)
        if shape.same_component and not shape.name_only:
            found &= self._name_starts - self._starts <= len(shape.begin)
        return found

    def _search(self, rules: list[Rule]) -> Mask:
        """RE2 over the names and over the paths, for globs of no simple shape."""
        found = np.zeros(len(self), bool)
        by_name = compile_wrapped([rule.body for rule in rules if rule.name_only and rule.body])
        by_path = compile_wrapped([rule.body for rule in rules if not rule.name_only and rule.body])
        if by_path is not None:
            _mark(found, by_path, self._wrapped_paths, self._sizes)
        if by_name is not None:
            _mark(found, by_name, self._wrapped_names, self._name_sizes)
        return found


class _Shape(NamedTuple):
    """A glob without alternatives: what a path (or name) begins with, and what it ends with."""

    begin: bytes
    end: bytes
    name_only: bool
    size_min: int
    exact: bool = False
    """The path is `size_min` bytes long, no more."""
    same_component: bool = False
    """What lies between begin and end holds no separator."""


def _shapes(rule: Rule) -> list[_Shape] | None:
    """The shapes a rule stands for, or `None` if it needs a regular expression."""
    if not rule.body:
        return []
    tokens = rule.tokens
    if rule.name_only and tokens[0].kind == "prefix" and len(tokens) > 1:
        tokens = tokens[1:]
    spelled = _spellings(tokens)
    if spelled is None:
        return None
    shapes: list[_Shape] = []
    for spelling in spelled:
        found = _shape(spelling, rule)
        if found is None:
            return None
        shapes.extend(found)
    return shapes


def _shape(tokens: Tokens, rule: Rule) -> list[_Shape] | None:
    literal = [token.kind == "literal" for token in tokens]
    first = literal.index(False) if False in literal else len(tokens)
    last = len(tokens) - (literal[::-1].index(False) if False in literal else 0)
    begin = b"".join(token.text for token in tokens[:first])
    end = b"".join(token.text for token in tokens[max(first, last) :])
    if rule.fold_case:
        begin, end = begin.lower(), end.lower()
    gap = tuple(token.kind for token in tokens[first : max(first, last)])
    return _of_gap(gap, begin, end, name_only=rule.name_only)


def _of_gap(
    gap: tuple[str, ...], begin: bytes, end: bytes, *, name_only: bool
) -> list[_Shape] | None:
    size = len(begin) + len(end)
    if not gap:
        return [_Shape(begin, b"", name_only, size, exact=True)]
    if set(gap) == {"star"} and b"/" not in end:
        return [_Shape(begin, end, name_only, size, same_component=True)]
    if gap == ("prefix",) and not begin and end:
        return [_Shape(end, b"", False, size, exact=True), _Shape(b"", b"/" + end, False, size)]
    if gap == ("suffix",) and not end:
        return [_Shape(begin + b"/", b"", False, size + 1)]
    if gap == ("between",):
        return [_Shape(begin + b"/", b"/" + end, False, size + 1)]
    if gap == ("between", "star") and b"/" not in end:
        return [_Shape(begin + b"/", end, False, size + 1)]
    return None


def _spellings(tokens: Tokens) -> list[Tokens] | None:
    """A glob's small classes and alternatives written out; `None` if there are too many."""
    columns: list[list[Tokens]] = []
    count = 1
    for token in tokens:
        choices = _choices(token)
        if choices is None:
            return None
        count *= len(choices)
        if count > _SPELLINGS_MAX:
            return None
        columns.append(choices)
    return [tuple(part for parts in choice for part in parts) for choice in product(*columns)]


def _choices(token: Token) -> list[Tokens] | None:
    if token.kind == "class":
        members = sorted(token.members - {0})
        if len(members) > _CLASS_MAX:
            return None
        return [(Token("literal", text=bytes([byte])),) for byte in members]
    if token.kind == "either":
        # An empty alternative is dropped, as in the regular expression.
        branches = [branch for branch in token.branches if branch]
        plain = all(inner.kind == "literal" for branch in branches for inner in branch)
        return (branches or [()]) if plain else None
    return None if token.kind == "any" else [(token,)]


def _mask_value(literal: bytes, *, at_end: bool = False) -> tuple[np.uint64, np.uint64]:
    """Up to eight bytes as an integer, and the bits of a window to compare with it."""
    padded = literal.rjust(_WINDOW, b"\0") if at_end else literal.ljust(_WINDOW, b"\0")
    ones = b"\xff" * len(literal)
    mask = ones.rjust(_WINDOW, b"\0") if at_end else ones.ljust(_WINDOW, b"\0")
    return np.uint64(int.from_bytes(mask, "little")), np.uint64(int.from_bytes(padded, "little"))


def _mark(found: Mask, expression: Any, blob: bytes, sizes: Ints) -> None:  # noqa: ANN401
    """Set `found` for the texts of a wrapped blob that the expression matches."""
    begins = np.cumsum(sizes + 3) - (sizes + 3)  # as `wrap` lays them out
    hits = [match.start() for match in expression.finditer(blob)]
    found[np.searchsorted(begins, np.array(hits, np.int64))] = True
