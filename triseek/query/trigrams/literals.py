"""Sets of literals of which every match contains at least one, so that a search can jump to them.

A trigram formula selects blocks that may match; a literal selects positions in a block. Literals
are computed bottom-up like the formula, but strings are kept whole and the set is small: at most
`ALTERNATIVES_MAX` strings, those expected to be the cheapest to search for.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from triseek.query.regex import syntax
from triseek.query.trigrams.formula import NO_EDGE, Analysis, NodeFacts, Strings
from triseek.query.trigrams.frequency import byte_rarity, probability, rarity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ALTERNATIVES_MAX = 16
"""Strings in a set, case variants included."""
LENGTH_MIN = 2
"""Minimum length in bytes; a single byte occurs in every other line."""
LENGTH_MAX = 256
"""Maximum length in bytes; longer literals gain nothing, and building them must stay linear."""

PASS_NS = 0.1
"""Cost of searching for a pair of bytes, per byte of text."""
CANDIDATE_NS = 6.0
"""Cost of comparing a needle where its rarest two bytes were found."""
LINE_NS = 300.0
"""Cost of running an automaton on the line around a needle."""


CANDIDATES_MAX = 2_048
"""Candidate sets of a concatenation that are compared; further ones are ignored."""


def required(tree: syntax.Node) -> tuple[bytes, ...]:
    """Return strings of which every match of `tree` contains at least one within a single line.

    Sorted. No string is part of another, contains a newline or is shorter than two bytes. Empty if
    no such set is small enough to be useful, or if the tree cannot match at all.
    """
    facts = syntax.fold(tree, _ANALYSIS.facts)
    return tuple(sorted(_best(facts)))


def cost(needles: Iterable[bytes]) -> float:
    """Return the estimated cost of searching for `needles`, in ns per byte of source code.

    Each needle takes one pass. For comparison: an automaton over every byte takes about 2 ns.
    """
    return sum(map(_cost_of_one, needles))


def rarest_pair(needle: bytes) -> tuple[int, int]:
    """Return the indices, in ascending order, of the rarest pair of bytes of `needle`.

    Adjacent bytes are rated by the frequency of the pair in source code. The two rarest bytes are
    rated as if independent of each other. For a single byte, return (0, 0).
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


def _best(facts: NodeFacts[Strings]) -> Strings:
    return facts.required or _needles(facts.exact or frozenset())


def _needles(strings: Strings) -> Strings:
    """Return needles for a text that contains one of `strings`; empty if one is too short."""
    if any(len(string) < LENGTH_MIN for string in strings):
        return frozenset()
    if not any(b"\n" in string for string in strings):
        return _apart(strings)
    pieces = frozenset(min(string.split(b"\n"), key=_cost_of_piece) for string in strings)
    return frozenset() if any(len(piece) < LENGTH_MIN for piece in pieces) else _apart(pieces)


def _apart(pieces: Strings) -> Strings:
    """Drop every string that contains another: where it occurs, the other occurs."""
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


def _concat(parts: list[NodeFacts[Strings]]) -> NodeFacts[Strings]:
    stretches = _stretches(parts)
    windows = chain.from_iterable(map(_windows, stretches))
    candidates = chain(map(_needles, windows), (part.required for part in parts))
    best = _cheapest(islice(candidates, CANDIDATES_MAX))
    if len(stretches) == 1 and (exact := _all_of(stretches[0])) is not None:
        return NodeFacts(exact, best)
    return NodeFacts(None, best, _product(stretches[0]), _product(stretches[-1], from_end=True))


def _stretches(parts: list[NodeFacts[Strings]]) -> list[list[Strings]]:
    """Return runs of sets that follow each other without a gap; an inexact part makes a gap.

    Adjacent single strings are joined, so a plain literal is one set.
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
    """Yield the product of every run of adjacent sets that is small enough."""
    for first, window in enumerate(stretch):
        yield window
        for strings in islice(stretch, first + 1, None):
            if not _fits(window, strings):
                break
            window = _cross(window, strings)
            yield window


def _all_of(stretch: list[Strings]) -> Strings | None:
    """Return the product of the whole stretch, or None if it is too large."""
    product = NO_EDGE
    for strings in stretch:
        if not _fits(product, strings):
            return None
        product = _cross(product, strings)
    return product


def _product(stretch: list[Strings], *, from_end: bool = False) -> Strings:
    """Return the product of as many adjacent sets as fit, from one end of the stretch."""
    product = NO_EDGE
    for strings in reversed(stretch) if from_end else stretch:
        if not _fits(product, strings):
            break
        product = _cross(strings, product) if from_end else _cross(product, strings)
    return product


def _choice(_exact: Strings, parts: list[NodeFacts[Strings]]) -> NodeFacts[Strings]:
    return NodeFacts(
        None,
        _united(list(map(_best, parts))),
        _few(part.prefixes if part.exact is None else part.exact for part in parts),
        _few(part.suffixes if part.exact is None else part.exact for part in parts),
    )


def _few(sets: Iterable[Strings]) -> Strings:
    union = frozenset(chain.from_iterable(sets))
    return union if len(union) <= ALTERNATIVES_MAX else NO_EDGE


def _united(bests: list[Strings]) -> Strings:
    """Return the needles of the union; empty if a branch has none or the union is too large."""
    union = frozenset(chain.from_iterable(bests))
    if not all(bests) or len(union) > 4 * ALTERNATIVES_MAX:
        return frozenset()
    needles = _needles(union)
    return needles if len(needles) <= ALTERNATIVES_MAX else frozenset()


def _inexact(exact: Strings) -> NodeFacts[Strings]:
    return NodeFacts(None, _needles(exact), exact, exact)


_NOTHING: Strings = frozenset()
_ANALYSIS = Analysis(ALTERNATIVES_MAX, ALTERNATIVES_MAX, _NOTHING, _concat, _choice, _inexact)
