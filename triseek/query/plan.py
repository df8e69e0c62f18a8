"""What kind of query this is, and how much its trigrams leave to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.query.grams import All, And, Gram, Never, Or

if TYPE_CHECKING:
    from triseek.query.grams import Formula
    from triseek.query.pattern import Pattern

Shape: TypeAlias = Literal["literal", "short_literal", "regex_anchored", "regex_weak", "nothing"]
Selectivity: TypeAlias = Literal["high", "medium", "low"]

GRAM_BYTES = 3
SELECTIVE_BYTES = 6
"""A literal this long is rare in nearly every tree; the original's bound."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What can be said of a query before anything is read."""

    shape: Shape
    """`nothing`: the pattern cannot match."""
    selectivity: Selectivity
    formula: Formula
    """What the trigrams of a matching block (multiline: file) satisfy."""
    grams_min: int
    """Trigrams that must all be there whichever way the pattern matches; 0 for none."""


def plan(pattern: Pattern, formula: Formula | None = None) -> Plan:
    """Return the plan of a pattern; its formula is computed unless given."""
    known = pattern.formula if formula is None else formula
    least = least_grams(known)
    if isinstance(known, Never):
        return Plan("nothing", "high", known, least)
    if pattern.literals:
        shortest = min(map(len, pattern.literals))
        return Plan(
            "short_literal" if shortest < GRAM_BYTES else "literal",
            _selectivity(shortest),
            known,
            least,
        )
    if least == 0:
        return Plan("regex_weak", "low", known, least)
    return Plan("regex_anchored", _selectivity(least + GRAM_BYTES - 1), known, least)


def least_grams(formula: Formula) -> int:
    """Return how many trigrams hold at the least where the formula does."""
    match formula:
        case Gram():
            return 1
        case And(parts):
            return sum(map(least_grams, parts))
        case Or(parts):
            return min(map(least_grams, parts))
        case All() | Never():
            return 0


def _selectivity(needle_bytes: int) -> Selectivity:
    if needle_bytes < GRAM_BYTES:
        return "low"
    return "high" if needle_bytes >= SELECTIVE_BYTES else "medium"
