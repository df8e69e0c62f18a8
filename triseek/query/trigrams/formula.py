"""The boolean trigram formula that every match must satisfy.

Computed bottom-up over the pattern tree with exact, prefix and suffix sets, after Russ Cox,
"Regular Expression Matching with a Trigram Index" (2012). A formula must hold wherever the pattern
matches; it may also hold where nothing matches. So every limit below weakens the formula.

A gram is three consecutive bytes of the unchanged text, case included: `b0 << 16 | b1 << 8 | b2`.
The index lists grams within lines, so no gram contains a newline and none with one is required.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from triseek.query.regex import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Strings: TypeAlias = frozenset[bytes]

GRAMS_MAX = 2048
"""Grams in one formula, counted with repetition; larger formulas are weakened."""
DEPTH_MAX = 16
"""Nesting levels of `And` and `Or`, so that consumers can recurse safely."""


@dataclass(frozen=True, slots=True)
class All:
    """True for every text: the pattern requires no grams."""

    size: ClassVar[int] = 0
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return "all"


@dataclass(frozen=True, slots=True)
class Never:
    """False for every text: the pattern cannot match."""

    size: ClassVar[int] = 0
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return "never"


@dataclass(frozen=True, slots=True)
class Gram:
    """The text contains these three bytes."""

    key: int
    """`b0 << 16 | b1 << 8 | b2`."""
    size: ClassVar[int] = 1
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return '"' + "".join(map(_spell, self.key.to_bytes(3, "big"))) + '"'


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold. There are at least two, in the order in which the pattern requires them."""

    parts: tuple[Formula, ...]
    size: int = field(repr=False, compare=False)
    """Grams below, counted with repetition."""
    depth: int = field(repr=False, compare=False)

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """At least one part holds. There are at least two parts."""

    parts: tuple[Formula, ...]
    size: int = field(repr=False, compare=False)
    """Grams below, counted with repetition."""
    depth: int = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "|".join(f"({part})" if isinstance(part, And) else str(part) for part in self.parts)


Formula: TypeAlias = All | Never | Gram | And | Or

ALL = All()
NEVER = Never()


def formula(tree: syntax.Node) -> Formula:
    """Return the formula that the grams of a text satisfy if `tree` matches anywhere in it.

    The text is one line if the tree cannot match a newline, else all lines that a match may span.
    Takes time linear in the size of the tree (with the constants below); never raises.
    """
    facts = syntax.fold(tree, _facts)
    return facts.formula if facts.exact is None else _some_string(facts.exact)


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified conjunction, weakened if it would exceed the limits."""
    flat = _flatten(parts, And)
    if NEVER in flat:
        return NEVER
    grams = {part for part in flat if isinstance(part, Gram)}
    kept = dict.fromkeys(_given(part, grams) for part in flat)
    kept.pop(ALL, None)
    return _joined(_within_bounds(list(_flatten(kept, And))))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified disjunction; `ALL` if it would exceed the limits."""
    flat = _flatten(parts, Or)
    flat.pop(NEVER, None)
    if not flat or ALL in flat:
        return ALL if flat else NEVER
    wanted = [dict.fromkeys(_conjuncts(part)) for part in flat]
    shared = [item for item in wanted[0] if all(item in items for items in wanted[1:])]
    if shared and len(wanted) > 1:
        common = set(shared)
        rest = (all_of(item for item in items if item not in common) for items in wanted)
        return all_of([*shared, any_of(rest)])
    kept = _unimplied(list(flat))
    if len(kept) == 1:
        return kept[0]
    size, depth = sum(part.size for part in kept), 1 + max(part.depth for part in kept)
    return Or(tuple(kept), size, depth) if size <= GRAMS_MAX and depth <= DEPTH_MAX else ALL


def _flatten(parts: Iterable[Formula], kind: type[And | Or]) -> dict[Formula, None]:
    """Return the distinct parts in order, with those of `kind` replaced by their own parts."""
    return dict.fromkeys(
        chain.from_iterable(part.parts if isinstance(part, kind) else (part,) for part in parts)
    )


def _given(part: Formula, grams: set[Gram]) -> Formula:
    """Return `part` simplified under the assumption that `grams` hold."""
    if not isinstance(part, Or) or not grams:
        return part
    wanted = [_conjuncts(choice) for choice in part.parts]
    if not any(item in grams for items in wanted for item in items):
        return part
    return any_of(all_of(item for item in items if item not in grams) for items in wanted)


def _conjuncts(part: Formula) -> tuple[Formula, ...]:
    return part.parts if isinstance(part, And) else (part,)


UNIMPLIED_MAX = 64
"""Maximum number of choices among which redundant ones are looked for, pair by pair."""


def _unimplied(choices: list[Formula]) -> list[Formula]:
    """Drop every choice whose conditions are a proper superset of another's."""
    if len(choices) > UNIMPLIED_MAX:
        return choices
    wanted = [frozenset(_conjuncts(choice)) for choice in choices]
    return [
        choice
        for choice, items in zip(choices, wanted, strict=True)
        if not any(other < items for other in wanted)
    ]


def _within_bounds(parts: list[Formula]) -> list[Formula]:
    """Drop the largest parts until the rest is within the limits."""
    flat_enough = [part for part in parts if part.depth < DEPTH_MAX]
    if sum(part.size for part in flat_enough) <= GRAMS_MAX:
        return flat_enough
    kept: set[Formula] = set()
    room = GRAMS_MAX
    for part in sorted(flat_enough, key=lambda part: part.size):
        room -= part.size
        if room < 0:
            break
        kept.add(part)
    return [part for part in flat_enough if part in kept]


def _joined(parts: list[Formula]) -> Formula:
    if len(parts) < 2:
        return parts[0] if parts else ALL
    size, depth = sum(part.size for part in parts), 1 + max(part.depth for part in parts)
    return And(tuple(parts), size, depth)


def _spell(byte: int) -> str:
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


# Facts about the strings that a node matches.


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts about the strings that a node matches."""

    exact: Strings | None
    """All of them, if they are few; then the fields below are not used."""
    prefixes: Strings = frozenset([b""])
    """Each string begins with one of these, of at most two bytes (more cannot form a new gram)."""
    suffixes: Strings = frozenset([b""])
    """Each string ends with one of these."""
    formula: Formula = ALL
    """Holds for each string."""


EXACT_MAX = 32
"""Strings in an exact set."""
PRODUCT_MAX = 16
"""Strings in an exact set that is the product of two sets with several strings each."""
PRODUCT_LONG_MAX = 4
"""The same if all have three bytes or more. Beyond that, one `Or` per position is nearly as
selective as one `And` per spelling, in fewer grams: `(?i)` on n letters needs 8 n instead of
n 2^n."""
LENGTH_MAX = 256
"""Bytes in a string of an exact set, so that growing one a byte at a time stays linear."""
CROSS_MAX = 64
"""Strings considered where two inexact parts meet."""
EDGE_MAX = 32
"""Strings in a set of prefixes or suffixes."""
CLASS_MAX = 16
"""Code points of a class that are spelled out; larger classes are treated as unknown."""
CONCAT_MAX = 4 * GRAMS_MAX
"""Conditions collected from a concatenation: many more than a formula may have grams."""
UNROLL_MAX = 8
"""Copies of a repeated part that are considered; the rest are equal to them."""

NOTHING = _Facts(frozenset())
EMPTY = _Facts(frozenset([b""]))
UNKNOWN = _Facts(None)
NO_EDGE: Strings = frozenset([b""])


def _facts(node: syntax.Node, parts: list[_Facts]) -> _Facts:
    match node:
        case syntax.Empty() | syntax.Assertion():
            return EMPTY
        case syntax.Chars(ranges):
            return _of_class(spelled(ranges, CLASS_MAX))
        case syntax.Bytes(ranges):
            return _of_class(bytes_in(ranges, CLASS_MAX))
        case syntax.Concat():
            return _concat(parts)
        case syntax.Alternate():
            return _alternate(parts)
        case syntax.Repeat(_, low, high):
            return _repeat(parts[0], low, high)
        case syntax.Capture():
            return parts[0]


def _of_class(strings: list[bytes] | None) -> _Facts:
    return UNKNOWN if strings is None else _Facts(frozenset(strings))


def spelled(ranges: syntax.Ranges, most: int) -> list[bytes] | None:
    """Return the UTF-8 encodings of the scalar values in `ranges`; None if more than `most`."""
    spellings: list[bytes] = []
    for low, high in ranges:
        if high - low > most + 0x800:
            return None
        spellings += [chr(code).encode() for code in range(low, high + 1) if not _surrogate(code)]
        if len(spellings) > most:
            return None
    return spellings


def bytes_in(ranges: syntax.Ranges, most: int) -> list[bytes] | None:
    """Return the bytes in `ranges`; None if more than `most`."""
    members = [bytes([byte]) for low, high in ranges for byte in range(low, high + 1)]
    return members if len(members) <= most else None


def _surrogate(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF


def _concat(parts: Iterable[_Facts]) -> _Facts:
    left = EMPTY
    conditions: list[Formula] = []
    for right in parts:
        if right == NOTHING:
            return NOTHING
        if len(conditions) > CONCAT_MAX:  # further conditions would be dropped anyway
            left = UNKNOWN
            break
        left = _beside(left, right, conditions)
    if left.exact is not None:
        return left
    return _Facts(None, left.prefixes, left.suffixes, all_of(conditions))


def _beside(left: _Facts, right: _Facts, conditions: list[Formula]) -> _Facts:
    """Return `left` followed by `right`, adding the formulas that the seam requires.

    They are appended to `conditions`, as are the formulas of parts that are no longer exact.
    """
    if left.exact is not None and right.exact is not None:
        both = _product(left.exact, right.exact)
        if both is not None:
            return _Facts(both)
        conditions.append(_some_string(left.exact))
        left = _Facts(None, _heads(left.exact), _tails(left.exact))
    if right.exact is not None:
        seam = _cross(left.suffixes, right.exact) or right.exact
        suffixes, prefixes = _tails(seam), left.prefixes
    elif left.exact is not None:
        seam = _cross(left.exact, right.prefixes) or left.exact
        prefixes, suffixes = _heads(seam), right.suffixes
    else:
        seam = _cross(left.suffixes, right.prefixes) or NO_EDGE
        prefixes, suffixes = left.prefixes, right.suffixes
    conditions += [_some_string(seam), right.formula]
    return _Facts(None, prefixes, suffixes)


def _product(left: Strings, right: Strings) -> Strings | None:
    """Return every left followed by every right, or None if the result is better left inexact."""
    count = len(left) * len(right)
    if count > EXACT_MAX or max(map(len, left)) + max(map(len, right)) > LENGTH_MAX:
        return None
    if len(left) > 1 and len(right) > 1 and count > PRODUCT_MAX:
        return None
    long = min(map(len, left)) + min(map(len, right)) > 3
    if long and len(right) > 1 and count > PRODUCT_LONG_MAX and len(left) > 1:
        return None
    return frozenset(a + b for a in left for b in right)


def _cross(left: Strings, right: Strings) -> Strings | None:
    """Return every left followed by every right; None if more than `CROSS_MAX`."""
    if len(left) * len(right) > CROSS_MAX:
        return None
    return frozenset(a + b for a in left for b in right)


def _alternate(parts: list[_Facts]) -> _Facts:
    choices = [part for part in parts if part != NOTHING]
    exact = frozenset(chain.from_iterable(part.exact or () for part in choices))
    if len(exact) <= EXACT_MAX and all(part.exact is not None for part in choices):
        return _Facts(exact)
    inexact = [part for part in choices if part.exact is None]
    formulas = [part.formula for part in inexact]
    return _Facts(
        None,
        _heads(exact.union(*(part.prefixes for part in inexact))),
        _tails(exact.union(*(part.suffixes for part in inexact))),
        any_of([_some_string(exact), *formulas]),
    )


def _repeat(part: _Facts, low: int, high: int | None) -> _Facts:
    if high == 0 or part == EMPTY:
        return EMPTY
    if part == NOTHING:
        return NOTHING if low else EMPTY
    least = _concat(repeat(part, min(low, UNROLL_MAX)))
    if low == high and low <= UNROLL_MAX:
        return least
    if low == 0 and high == 1:
        return _alternate([part, EMPTY])
    return _inexact(least)


def _inexact(facts: _Facts) -> _Facts:
    """Return facts about all strings that begin with such a string and end with one."""
    if facts.exact is None:
        return facts
    return _Facts(None, _heads(facts.exact), _tails(facts.exact), _some_string(facts.exact))


def _heads(strings: Strings) -> Strings:
    return _edges(strings, lambda string, most: string[:most])


def _tails(strings: Strings) -> Strings:
    return _edges(strings, lambda string, most: string[max(0, len(string) - most) :])


def _edges(strings: Strings, cut: Callable[[bytes, int], bytes]) -> Strings:
    """Return the ends of the strings that may still be part of a gram, at most `EDGE_MAX`."""
    for most in (2, 1):
        edges = frozenset(cut(string, most) for string in strings)
        if b"" in edges:
            return NO_EDGE
        if len(edges) <= EDGE_MAX:
            return edges
    return NO_EDGE


def _some_string(strings: Strings) -> Formula:
    """Return the formula that holds for every text that contains one of `strings`."""
    return any_of(_every_gram(string) for string in sorted(strings))


def _every_gram(string: bytes) -> Formula:
    return all_of(map(Gram, _grams(string)))


def _grams(string: bytes) -> Iterator[int]:
    for at in range(len(string) - 2):
        gram = string[at : at + 3]
        if b"\n" not in gram:
            yield int.from_bytes(gram, "big")
