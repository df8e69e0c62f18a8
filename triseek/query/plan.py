"""Classification of a query, and an estimate of how selective its trigrams are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.query.trigrams.formula import All, And, Gram, Never, Or

if TYPE_CHECKING:
    from triseek.query.pattern import Pattern
    from triseek.query.trigrams.formula import Formula

Shape: TypeAlias = Literal["literal", "short_literal", "regex_anchored", "regex_weak", "nothing"]
Selectivity: TypeAlias = Literal["high", "medium", "low"]

GRAM_BYTES = 3
SELECTIVE_BYTES = 6
"""Length from which a literal is rare in nearly every tree; the original's bound."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Facts about a query that are known before anything is read."""

    shape: Shape
    """`nothing`: the pattern cannot match."""
    selectivity: Selectivity
    formula: Formula
    """The formula that the trigrams of a matching block (multiline: file) satisfy."""


def plan(pattern: Pattern, formula: Formula | None = None) -> Plan:
    """Return the plan of a pattern; its formula is computed unless given."""
    query_formula = pattern.formula if formula is None else formula
    shape, needle_bytes = _shape(pattern, query_formula)
    return Plan(shape, _selectivity(needle_bytes), query_formula)


def _shape(pattern: Pattern, query_formula: Formula) -> tuple[Shape, int]:
    """Return the shape, and the length of a literal that would be as selective."""
    if isinstance(query_formula, Never):
        return "nothing", SELECTIVE_BYTES
    if pattern.literals:
        shortest = min(map(len, pattern.literals))
        return "short_literal" if shortest < GRAM_BYTES else "literal", shortest
    least = least_grams(query_formula)
    return ("regex_anchored", least + GRAM_BYTES - 1) if least else ("regex_weak", 0)


def least_grams(formula: Formula) -> int:
    """Return the minimum number of trigrams that hold where the formula holds."""
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
