"""The boolean trigram formula a match must satisfy.

Bottom-up over the pattern tree with exact, prefix and suffix sets, after Russ Cox, "Regular
Expression Matching with a Trigram Index" (2012). The one law: a formula may hold where nothing
matches, and must hold wherever something does. So every bound below weakens, never guesses.

Grams are three consecutive bytes of the text as it is, case and all, `b0 << 16 | b1 << 8 | b2`.
The index posts lines, so no gram holds a newline, and none is ever required here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from triseek.query.fold import fold
from triseek.query.syntax import Alternate, Bytes, Capture, Chars, Concat, Empty, Look, Repeat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from triseek.query.syntax import Node, Ranges

    Strings: TypeAlias = frozenset[bytes]

GRAMS_MAX = 2048
"""Grams in one formula, counted with repetition; larger ones are weakened."""
DEPTH_MAX = 16
"""Levels of `And` in `Or` in `And` …; readers may recurse without care."""


@dataclass(frozen=True, slots=True)
class All:
    """Holds of every text: the pattern says nothing about grams."""

    size: ClassVar[int] = 0
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return "all"


@dataclass(frozen=True, slots=True)
class Never:
    """Holds of no text: the pattern cannot match."""

    size: ClassVar[int] = 0
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return "never"


@dataclass(frozen=True, slots=True)
class Gram:
    """The text holds these three bytes."""

    key: int
    """`b0 << 16 | b1 << 8 | b2`."""
    size: ClassVar[int] = 1
    depth: ClassVar[int] = 0

    def __str__(self) -> str:
        return '"' + "".join(map(_spell, self.key.to_bytes(3, "big"))) + '"'


@dataclass(frozen=True, slots=True)
class And:
    """Every part holds; at least two, in the order the pattern requires them."""

    parts: tuple[Formula, ...]
    size: int = field(repr=False, compare=False)
    """Grams below, counted with repetition."""
    depth: int = field(repr=False, compare=False)

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds; at least two."""

    parts: tuple[Formula, ...]
    size: int = field(repr=False, compare=False)
    """Grams below, counted with repetition."""
    depth: int = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "|".join(f"({part})" if isinstance(part, And) else str(part) for part in self.parts)


Formula: TypeAlias = All | Never | Gram | And | Or

ALL = All()
NEVER = Never()


def formula(tree: Node) -> Formula:
    """Return what the grams of a text must satisfy for `tree` to match anywhere in it.

    The text is one line when the tree cannot match a newline, else all the lines a match may
    span. Takes time linear in the tree (with the constants below); never raises.
    """
    facts = fold(tree, _facts)
    return facts.formula if facts.exact is None else _some_string(facts.exact)


def all_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified conjunction, weakened where it would grow beyond bounds."""
    flat = _flatten(parts, And)
    if NEVER in flat:
        return NEVER
    grams = {part for part in flat if isinstance(part, Gram)}
    kept = dict.fromkeys(_given(part, grams) for part in flat)
    kept.pop(ALL, None)
    return _joined(_within_bounds(list(_flatten(kept, And))))


def any_of(parts: Iterable[Formula]) -> Formula:
    """Return the simplified disjunction; `ALL` where it would grow beyond bounds."""
    flat = _flatten(parts, Or)
    flat.pop(NEVER, None)
    if not flat or ALL in flat:
        return ALL if flat else NEVER
    wanted = [dict.fromkeys(_conjuncts(part)) for part in flat]
    shared = [item for item in wanted[0] if all(item in items for items in wanted[1:])]
    if shared and len(wanted) > 1:
        known = set(shared)
        rest = (all_of(item for item in items if item not in known) for items in wanted)
        return all_of([*shared, any_of(rest)])
    kept = _unimplied(list(flat))
    if len(kept) == 1:
        return kept[0]
    size, depth = sum(part.size for part in kept), 1 + max(part.depth for part in kept)
    return Or(tuple(kept), size, depth) if size <= GRAMS_MAX and depth <= DEPTH_MAX else ALL


def _flatten(parts: Iterable[Formula], kind: type[And | Or]) -> dict[Formula, None]:
    """Return the parts once each, those of `kind` replaced by what they join, in order."""
    return dict.fromkeys(
        chain.from_iterable(part.parts if isinstance(part, kind) else (part,) for part in parts)
    )


def _given(part: Formula, grams: set[Gram]) -> Formula:
    """Return what `part` still says once `grams` are known to hold."""
    if not isinstance(part, Or) or not grams:
        return part
    wanted = [_conjuncts(choice) for choice in part.parts]
    if not any(item in grams for items in wanted for item in items):
        return part
    return any_of(all_of(item for item in items if item not in grams) for items in wanted)


def _conjuncts(part: Formula) -> tuple[Formula, ...]:
    return part.parts if isinstance(part, And) else (part,)


UNIMPLIED_MAX = 64
"""Choices among which the redundant ones are looked for, pair by pair."""


def _unimplied(choices: list[Formula]) -> list[Formula]:
    """Drop every choice that asks for all that another asks for, and more."""
    if len(choices) > UNIMPLIED_MAX:
        return choices
    wanted = [frozenset(_conjuncts(choice)) for choice in choices]
    return [
        choice
        for choice, items in zip(choices, wanted, strict=True)
        if not any(other < items for other in wanted)
    ]


def _within_bounds(parts: list[Formula]) -> list[Formula]:
    """Drop the largest parts until the rest may be joined."""
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


# What is known of the strings a node matches.


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of every string a node matches."""

    exact: Strings | None
    """All of them, when they are few; then nothing below counts."""
    prefixes: Strings = frozenset([b""])
    """Each begins with one of these, two bytes or fewer (more could not reach a new gram)."""
    suffixes: Strings = frozenset([b""])
    """Each ends with one of these."""
    formula: Formula = ALL
    """Holds of each."""


EXACT_MAX = 32
"""Strings in an exact set."""
PRODUCT_MAX = 16
"""Strings in an exact set made by crossing two that both hold several."""
PRODUCT_LONG_MAX = 4
"""The same when all have three bytes or more. Beyond, one `Or` per place says nearly as much as
one `And` per spelling, in fewer grams: `(?i)` on n letters needs 8 n instead of n 2^n."""
LENGTH_MAX = 256
"""Bytes in a string of an exact set, so that growing one a byte at a time stays linear."""
CROSS_MAX = 64
"""Strings looked at where two inexact parts meet."""
EDGE_MAX = 32
"""Strings in a set of prefixes or suffixes."""
CLASS_MAX = 16
"""Code points of a class that are spelled out; of larger ones nothing is known."""
CONCAT_MAX = 4 * GRAMS_MAX
"""Conditions gathered from a row of parts: many more than a formula may have grams."""
UNROLL_MAX = 8
"""Copies of a repeated part that are looked at; the rest are like them."""

NOTHING = _Facts(frozenset())
EMPTY = _Facts(frozenset([b""]))
UNKNOWN = _Facts(None)
NO_EDGE: Strings = frozenset([b""])


def _facts(node: Node, parts: list[_Facts]) -> _Facts:
    match node:
        case Empty() | Look():
            return EMPTY
        case Chars(ranges):
            return _of_class(spelled(ranges, CLASS_MAX))
        case Bytes(ranges):
            return _of_class(bytes_in(ranges, CLASS_MAX))
        case Concat():
            return _concat(parts)
        case Alternate():
            return _alternate(parts)
        case Repeat(_, low, high):
            return _repeat(parts[0], low, high)
        case Capture():
            return parts[0]


def _of_class(strings: list[bytes] | None) -> _Facts:
    return UNKNOWN if strings is None else _Facts(frozenset(strings))


def spelled(ranges: Ranges, most: int) -> list[bytes] | None:
    """Return the UTF-8 spellings of the scalar values in `ranges`, or None beyond `most`."""
    found: list[bytes] = []
    for low, high in ranges:
        if high - low > most + 0x800:
            return None
        found += [chr(code).encode() for code in range(low, high + 1) if not _surrogate(code)]
        if len(found) > most:
            return None
    return found


def bytes_in(ranges: Ranges, most: int) -> list[bytes] | None:
    """Return the bytes in `ranges`, or None beyond `most`."""
    found = [bytes([byte]) for low, high in ranges for byte in range(low, high + 1)]
    return found if len(found) <= most else None


def _surrogate(code: int) -> bool:
    return 0xD800 <= code <= 0xDFFF


def _concat(parts: Iterable[_Facts]) -> _Facts:
    left = EMPTY
    found: list[Formula] = []
    for right in parts:
        if right == NOTHING:
            return NOTHING
        if len(found) > CONCAT_MAX:  # what comes behind may ask for more, and is dropped anyway
            left = UNKNOWN
            break
        left = _beside(left, right, found)
    if left.exact is not None:
        return left
    return _Facts(None, left.prefixes, left.suffixes, all_of(found))


def _beside(left: _Facts, right: _Facts, found: list[Formula]) -> _Facts:
    """Return `left` followed by `right`, adding what the seam requires to `found`.

    `found` gets the formula of everything that is not exact any more.
    """
    if left.exact is not None and right.exact is not None:
        both = _product(left.exact, right.exact)
        if both is not None:
            return _Facts(both)
        found.append(_some_string(left.exact))
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
    found += [_some_string(seam), right.formula]
    return _Facts(None, prefixes, suffixes)


def _product(left: Strings, right: Strings) -> Strings | None:
    """Return every left followed by every right, or None where that is better left inexact."""
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
    """Return every left followed by every right, or None beyond `CROSS_MAX`."""
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
    """Return what holds of every string that begins with such a string and ends with one."""
    if facts.exact is None:
        return facts
    return _Facts(None, _heads(facts.exact), _tails(facts.exact), _some_string(facts.exact))


def _heads(strings: Strings) -> Strings:
    return _edges(strings, lambda string, most: string[:most])


def _tails(strings: Strings) -> Strings:
    return _edges(strings, lambda string, most: string[max(0, len(string) - most) :])


def _edges(strings: Strings, cut: Callable[[bytes, int], bytes]) -> Strings:
    """Return the strings cut to what may still take part in a gram, few enough to go on with."""
    for most in (2, 1):
        edges = frozenset(cut(string, most) for string in strings)
        if b"" in edges:
            return NO_EDGE
        if len(edges) <= EDGE_MAX:
            return edges
    return NO_EDGE


def _some_string(strings: Strings) -> Formula:
    """Return what holds of a text that has one of `strings` in it."""
    return any_of(_every_gram(string) for string in sorted(strings))


def _every_gram(string: bytes) -> Formula:
    return all_of(map(Gram, _grams(string)))


def _grams(string: bytes) -> Iterator[int]:
    for at in range(len(string) - 2):
        gram = string[at : at + 3]
        if b"\n" not in gram:
            yield int.from_bytes(gram, "big")
