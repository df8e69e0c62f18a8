"""The boolean trigram formula that every match must satisfy.

Computed bottom-up over the pattern tree with exact, prefix and suffix sets, after Russ Cox,
"Regular Expression Matching with a Trigram Index" (2012). A formula must hold wherever the pattern
matches; it may also hold where nothing matches. So every limit below weakens the formula.

A gram is three consecutive bytes of the unchanged text, case included: `b0 << 16 | b1 << 8 | b2`.
The index lists grams within lines, so no gram contains a newline and none with one is required.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Generic, TypeAlias, TypeVar

from triseek.query.regex import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
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
class _Parts:
    """Two parts or more, and the measures of the whole."""

    parts: tuple[Formula, ...]
    size: int = field(repr=False, compare=False)
    """Grams below, counted with repetition."""
    depth: int = field(repr=False, compare=False)


class And(_Parts):
    """All parts hold; they are in the order in which the pattern requires them."""

    __slots__ = ()

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


class Or(_Parts):
    """At least one part holds."""

    __slots__ = ()

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
    facts = syntax.fold(tree, _ANALYSIS.facts)
    return facts.required if facts.exact is None else _some_string(facts.exact)


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified conjunction, weakened if it would exceed the limits."""
    flat = _flatten(parts, And)
    if NEVER in flat:
        return NEVER
    grams = {part for part in flat if isinstance(part, Gram)}
    kept = dict.fromkeys(_implied_by(part, grams) for part in flat)
    kept.pop(ALL, None)
    return _joined(_within_bounds(list(_flatten(kept, And))), And)


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
    joined = _joined(_unimplied(list(flat)), Or)
    return joined if joined.size <= GRAMS_MAX and joined.depth <= DEPTH_MAX else ALL


def _flatten(parts: Iterable[Formula], kind: type[And | Or]) -> dict[Formula, None]:
    """Return the distinct parts in order, with those of `kind` replaced by their own parts."""
    return dict.fromkeys(
        chain.from_iterable(part.parts if isinstance(part, kind) else (part,) for part in parts)
    )


def _implied_by(part: Formula, grams: set[Gram]) -> Formula:
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


def _joined(parts: list[Formula], kind: type[And | Or]) -> Formula:
    if len(parts) < 2:
        return parts[0] if parts else ALL
    size, depth = sum(part.size for part in parts), 1 + max(part.depth for part in parts)
    return kind(tuple(parts), size, depth)


def _spell(byte: int) -> str:
    if byte in b'"\\':
        return "\\" + chr(byte)
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


NO_EDGE: Strings = frozenset([b""])


@dataclass(frozen=True, slots=True)
class NodeFacts(Generic[T]):
    """Facts about the strings that a node matches."""

    exact: Strings | None
    """All of them, if they are few; then the prefixes and suffixes are not used."""
    required: T
    """A formula that holds for each string; or literals of which each string contains one."""
    prefixes: Strings = NO_EDGE
    """Each string begins with one of these."""
    suffixes: Strings = NO_EDGE
    """Each string ends with one of these."""


@dataclass(frozen=True)
class Analysis(Generic[T]):
    """Computation of facts bottom-up over a tree; `facts` is called by `syntax.fold`."""

    class_max: int
    """Code points of a class that are spelled out; larger classes are treated as unknown."""
    exact_max: int
    """Strings in an exact set."""
    nothing: T
    """The value of `required` if nothing is known, or where the exact set says all."""
    concat: Callable[[list[NodeFacts[T]]], NodeFacts[T]]
    choice: Callable[[Strings, list[NodeFacts[T]]], NodeFacts[T]]
    """Facts about a choice, not all of whose branches are exact, or that has too many strings; the
    first argument has the strings of those that are."""
    inexact: Callable[[Strings], NodeFacts[T]]
    """Facts about all strings that begin with such a string and end with one."""

    def facts(self, node: syntax.Node, parts: list[NodeFacts[T]]) -> NodeFacts[T]:
        """Return the facts about a node, given those about its children."""
        match node:
            case syntax.Empty() | syntax.Assertion():
                return NodeFacts(NO_EDGE, self.nothing)
            case syntax.Chars(ranges):
                return NodeFacts(_spelled(ranges, self.class_max), self.nothing)
            case syntax.Bytes(ranges):
                return NodeFacts(_bytes_in(ranges, self.class_max), self.nothing)
            case syntax.Concat():
                never = any(part.exact == frozenset() for part in parts)
                return NodeFacts(frozenset(), self.nothing) if never else self.concat(parts)
            case syntax.Alternate():
                return self._alternate(parts)
            case syntax.Repeat(_, low, high):
                return self._repeat(parts[0], low, high)
            case syntax.Capture():
                return parts[0]

    def _alternate(self, parts: list[NodeFacts[T]]) -> NodeFacts[T]:
        choices = [part for part in parts if part.exact != frozenset()]
        exact = frozenset(chain.from_iterable(part.exact or () for part in choices))
        if len(exact) <= self.exact_max and all(part.exact is not None for part in choices):
            return NodeFacts(exact, self.nothing)
        return self.choice(exact, choices)

    def _repeat(self, part: NodeFacts[T], low: int, high: int | None) -> NodeFacts[T]:
        empty = NodeFacts(NO_EDGE, self.nothing)
        if high == 0 or part.exact == NO_EDGE:
            return empty
        if part.exact == frozenset():
            return part if low else empty
        least = self.concat([part] * min(low, UNROLL_MAX))
        if low == high and low <= UNROLL_MAX:
            return least
        if low == 0 and high == 1:
            return self._alternate([part, empty])
        return least if least.exact is None else self.inexact(least.exact)


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


def _spelled(ranges: syntax.Ranges, most: int) -> Strings | None:
    """Return the UTF-8 encodings of the scalar values in `ranges`; None if more than `most`."""
    spellings: list[bytes] = []
    for low, high in ranges:
        if high - low > most + 0x800:
            return None
        scalars = (code for code in range(low, high + 1) if not 0xD800 <= code <= 0xDFFF)
        spellings += [chr(code).encode() for code in scalars]
        if len(spellings) > most:
            return None
    return frozenset(spellings)


def _bytes_in(ranges: syntax.Ranges, most: int) -> Strings | None:
    """Return the bytes in `ranges`; None if more than `most`."""
    members = frozenset(bytes([byte]) for low, high in ranges for byte in range(low, high + 1))
    return members if len(members) <= most else None


def _concat(parts: list[NodeFacts[Formula]]) -> NodeFacts[Formula]:
    left: NodeFacts[Formula] = NodeFacts(NO_EDGE, ALL)
    conditions: list[Formula] = []
    for right in parts:
        if len(conditions) > CONCAT_MAX:  # further conditions would be dropped anyway
            left = NodeFacts(None, ALL)
            break
        left = _beside(left, right, conditions)
    return left if left.exact is not None else replace(left, required=all_of(conditions))


def _beside(
    left: NodeFacts[Formula], right: NodeFacts[Formula], conditions: list[Formula]
) -> NodeFacts[Formula]:
    """Return `left` followed by `right`, adding the formulas that the seam requires.

    They are appended to `conditions`, as are the formulas of parts that are no longer exact.
    """
    if left.exact is not None and right.exact is not None:
        both = _product(left.exact, right.exact)
        if both is not None:
            return NodeFacts(both, ALL)
        conditions.append(_some_string(left.exact))
        left = NodeFacts(None, ALL, _heads(left.exact), _tails(left.exact))
    if right.exact is not None:
        seam = _cross(left.suffixes, right.exact) or right.exact
        suffixes, prefixes = _tails(seam), left.prefixes
    elif left.exact is not None:
        seam = _cross(left.exact, right.prefixes) or left.exact
        prefixes, suffixes = _heads(seam), right.suffixes
    else:
        seam = _cross(left.suffixes, right.prefixes) or NO_EDGE
        prefixes, suffixes = left.prefixes, right.suffixes
    conditions += [_some_string(seam), right.required]
    return NodeFacts(None, ALL, prefixes, suffixes)


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


def _choice(exact: Strings, parts: list[NodeFacts[Formula]]) -> NodeFacts[Formula]:
    inexact = [part for part in parts if part.exact is None]
    return NodeFacts(
        None,
        any_of([_some_string(exact), *(part.required for part in inexact)]),
        _heads(exact.union(*(part.prefixes for part in inexact))),
        _tails(exact.union(*(part.suffixes for part in inexact))),
    )


def _inexact(exact: Strings) -> NodeFacts[Formula]:
    return NodeFacts(None, _some_string(exact), _heads(exact), _tails(exact))


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


_ANALYSIS = Analysis[Formula](CLASS_MAX, EXACT_MAX, ALL, _concat, _choice, _inexact)
