"""BM25F: how well documents of several fields answer several terms.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.6: how
often a term occurs is weighted and normalised field by field, added up, and saturated once, so
that a term in a file's name and in its text is one good reason, not two.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SATURATION = 1.2
"""k1: how soon more of the same term stops to count."""


class Field(NamedTuple):
    """A part of every document."""

    weight: float
    """What an occurrence in it is worth."""
    length_share: float
    """b: 0: long fields are as good as short ones, 1: twice the length halves an occurrence."""


def idf(documents: int, containing: int) -> float:
    """Return how telling a term is that so many of the documents contain; never below 0."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def normalised(field: Field, occurrences: float, length: float, length_mean: float) -> float:
    """Return what occurrences in one field of one document are worth."""
    if not occurrences:
        return 0.0
    ratio = length / length_mean if length_mean > 0 else 1.0
    return field.weight * occurrences / (1 - field.length_share + field.length_share * ratio)


def saturated(worth: float) -> float:
    """Return a term's share of its idf, in [0, 1), given what its occurrences are worth in all."""
    return worth / (SATURATION + worth)


def score(worths: Sequence[Mapping[str, float]], weights: Sequence[float]) -> float:
    """Return a document's score.

    worths: per term, by field, what `normalised` said.
    weights: per term, its idf times what it is worth to the question.
    """
    return sum(
        weight * saturated(sum(fields.values()))
        for fields, weight in zip(worths, weights, strict=True)
    )
