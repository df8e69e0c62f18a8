"""Byte strings one of which every match must contain: what a search can jump to.

Where a formula of trigrams asks which blocks may match, a literal asks where in a block to look.
It is found bottom-up like the formula, but strings are kept whole and choices are few: at most
`ALTERNATIVES_MAX` strings, the set that is expected to be the cheapest to look for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, TypeAlias

from triseek.query.fold import fold
from triseek.query.frequency import byte_rarity, probability, rarity
from triseek.query.grams import bytes_in, spelled
from triseek.query.syntax import Alternate, Bytes, Capture, Chars, Concat, Empty, Look, Repeat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from triseek.query.syntax import Node

    Strings: TypeAlias = frozenset[bytes]

ALTERNATIVES_MAX = 16
"""Strings in a set, case variants included."""
LENGTH_MIN = 2
"""Bytes; one byte alone is in every other line."""
LENGTH_MAX = 256
"""Bytes; longer literals are cut, for nothing is gained and growing them must stay linear."""

PASS_NS = 0.1
"""Looking for a pair of bytes, per byte of text."""
CANDIDATE_NS = 6.0
"""Comparing a needle where its rarest two bytes were found."""
LINE_NS = 300.0
"""Asking an automaton whether the line around a needle matches."""


CANDIDATES_MAX = 2_048
"""Strings of a row that are compared; of a row with more, the best of the first will do."""


def required(tree: Node) -> tuple[bytes, ...]:
    """Return strings such that every match of `tree` has at least one of them wholly in a line.

    Sorted; none is part of another, holds a newline or is shorter than two bytes. Empty when no
    such set is small enough to be of use, and when the tree cannot match at all.
    """
    facts = fold(tree, _facts)
    return tuple(sorted(_best(facts)))


def cost(needles: Iterable[bytes]) -> float:
    """Return the nanoseconds per byte of source code that looking for `needles` may take.

    One pass for each; meant for comparing (an automaton over every byte takes about 2).
    """
    return sum(map(_cost_of_one, needles))


def rarest_pair(needle: bytes) -> tuple[int, int]:
    """Return the indices, rising, of the two bytes of `needle` that are rarest together.

    Neighbours are judged by how often they follow each other in source code, the two rarest
    bytes as if they had nothing to do with each other. A single byte is its own pair.
    """
    if len(needle) == 1:
        return 0, 0
    first, second = sorted(sorted(range(len(needle)), key=lambda at: -byte_rarity(needle[at]))[:2])
    pairs = [(_pair_rarity(needle, at, at + 1), at, at + 1) for at in range(len(needle) - 1)]
    _, left, right = max([*pairs, (_pair_rarity(needle, first, second), first, second)])
    return left, right


def _pair_rarity(needle: bytes, left: int, right: int) -> float:
    if right == left + 1:
        return rarity(needle[left : right + 1])
    return byte_rarity(needle[left]) + byte_rarity(needle[right])


def _cost_of_one(needle: bytes) -> float:
    candidates = probability(_pair_rarity(needle, *rarest_pair(needle)))
    return PASS_NS + candidates * CANDIDATE_NS + probability(rarity(needle)) * LINE_NS


# What is known of the strings a node matches.


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of every string a node matches."""

    exact: Strings | None
    """All of them, when they are few; then the two edges do not count."""
    prefixes: Strings = frozenset([b""])
    """Each begins with one of these."""
    suffixes: Strings = frozenset([b""])
    """Each ends with one of these."""
    best: Strings = frozenset()
    """Each contains one of these; empty when nothing better than `exact` is known."""


NOTHING = _Facts(frozenset())
EMPTY = _Facts(frozenset([b""]))
UNKNOWN = _Facts(None)
NO_EDGE: Strings = frozenset([b""])
UNROLL_MAX = 8
"""Copies of a repeated part that are looked at."""


def _facts(node: Node, parts: list[_Facts]) -> _Facts:
    match node:
        case Empty() | Look():
            return EMPTY
        case Chars(ranges):
            return _of_class(spelled(ranges, ALTERNATIVES_MAX))
        case Bytes(ranges):
            return _of_class(bytes_in(ranges, ALTERNATIVES_MAX))
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


def _best(facts: _Facts) -> Strings:
    return facts.best or _needles(facts.exact or frozenset())


def _needles(strings: Strings) -> Strings:
    """Return what to look for when one of `strings` must be there; empty when that is no use."""
    if any(len(string) < LENGTH_MIN for string in strings):
        return frozenset()
    if not any(b"\n" in string for string in strings):
        return _apart(strings)
    pieces = frozenset(min(string.split(b"\n"), key=_cost_of_piece) for string in strings)
    return frozenset() if any(len(piece) < LENGTH_MIN for piece in pieces) else _apart(pieces)


def _apart(pieces: Strings) -> Strings:
    """Drop every string that has another in it: whoever finds it has found the other."""
    if len(set(map(len, pieces))) == 1:
        return pieces
    return frozenset(
        piece for piece in pieces if not any(other in piece for other in pieces if other != piece)
    )


def _cost_of_piece(piece: bytes) -> float:
    return _cost_of_one(piece) if len(piece) >= LENGTH_MIN else float("inf")


def _cheapest(candidates: Iterable[Strings]) -> Strings:
    usable = [candidate for candidate in candidates if candidate]
    return min(usable, key=lambda needles: (cost(needles), sorted(needles)), default=frozenset())


def _concat(parts: list[_Facts]) -> _Facts:
    if NOTHING in parts:
        return NOTHING
    stretches = _stretches(parts)
    windows = chain.from_iterable(map(_windows, stretches))
    candidates = chain(map(_needles, windows), (part.best for part in parts))
    best = _cheapest(islice(candidates, CANDIDATES_MAX))
    if len(stretches) == 1 and (exact := _all_of(stretches[0])) is not None:
        return _Facts(exact, best=best)
    return _Facts(None, _product(stretches[0]), _product(stretches[-1], from_end=True), best)


def _stretches(parts: list[_Facts]) -> list[list[Strings]]:
    """Return runs of sets that follow each other without a gap; an inexact part is the gap.

    Neighbouring single strings are joined already, so a plain literal is one set.
    """
    stretches: list[list[Strings]] = [[]]
    for part in parts:
        if part.exact is not None:
            _append(stretches[-1], part.exact)
        else:
            _append(stretches[-1], part.prefixes)
            stretches.append([])
            _append(stretches[-1], part.suffixes)
    return stretches


def _append(stretch: list[Strings], strings: Strings) -> None:
    if stretch and len(strings) == len(stretch[-1]) == 1 and _fits(stretch[-1], strings):
        stretch[-1] = _cross(stretch[-1], strings)
    else:
        stretch.append(strings)


def _fits(left: Strings, right: Strings) -> bool:
    within = max(map(len, left)) + max(map(len, right)) <= LENGTH_MAX
    return within and len(left) * len(right) <= ALTERNATIVES_MAX


def _cross(left: Strings, right: Strings) -> Strings:
    return frozenset(a + b for a in left for b in right)


def _windows(stretch: list[Strings]) -> Iterator[Strings]:
    """Yield the product of every run of neighbours that is small enough."""
    for first, window in enumerate(stretch):
        yield window
        for strings in islice(stretch, first + 1, None):
            if not _fits(window, strings):
                break
            window = _cross(window, strings)
            yield window


def _all_of(stretch: list[Strings]) -> Strings | None:
    """Return the product of the whole stretch, or None when it does not fit."""
    product = NO_EDGE
    for strings in stretch:
        if not _fits(product, strings):
            return None
        product = _cross(product, strings)
    return product


def _product(stretch: list[Strings], *, from_end: bool = False) -> Strings:
    """Return the product of as many neighbours as fit, from one end of the stretch."""
    product = NO_EDGE
    for strings in reversed(stretch) if from_end else stretch:
        if not _fits(product, strings):
            break
        product = _cross(strings, product) if from_end else _cross(product, strings)
    return product


def _alternate(parts: list[_Facts]) -> _Facts:
    choices = [part for part in parts if part != NOTHING]
    exact = frozenset(chain.from_iterable(part.exact or () for part in choices))
    if len(exact) <= ALTERNATIVES_MAX and all(part.exact is not None for part in choices):
        return _Facts(exact)
    bests = [_best(part) for part in choices]
    return _Facts(
        None,
        _few(part.prefixes if part.exact is None else part.exact for part in choices),
        _few(part.suffixes if part.exact is None else part.exact for part in choices),
        _united(bests),
    )


def _few(sets: Iterable[Strings]) -> Strings:
    union = frozenset(chain.from_iterable(sets))
    return union if len(union) <= ALTERNATIVES_MAX else NO_EDGE


def _united(bests: list[Strings]) -> Strings:
    """Return the union, unless a branch asks for nothing or there are too many."""
    union = frozenset(chain.from_iterable(bests))
    if not all(bests) or len(union) > 4 * ALTERNATIVES_MAX:
        return frozenset()
    needles = _needles(union)
    return needles if len(needles) <= ALTERNATIVES_MAX else frozenset()


def _repeat(part: _Facts, low: int, high: int | None) -> _Facts:
    if high == 0 or part == EMPTY:
        return EMPTY
    if part == NOTHING:
        return NOTHING if low else EMPTY
    least = _concat(list(repeat(part, min(low, UNROLL_MAX))))
    if low == high and low <= UNROLL_MAX:
        return least
    if low == 0 and high == 1:
        return _alternate([part, EMPTY])
    return _inexact(least)


def _inexact(facts: _Facts) -> _Facts:
    """Return what holds of every string that begins with such a string and ends with one."""
    if facts.exact is None:
        return facts
    return _Facts(None, facts.exact, facts.exact, _needles(facts.exact))
