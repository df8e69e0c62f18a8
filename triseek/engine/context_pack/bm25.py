"""BM25F scores of documents with several fields for a query of several terms.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), §3.6: term
frequencies are weighted and normalised per field, summed, and saturated once, so that a term in
both a file's name and its text does not count twice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SATURATION = 1.2
"""k1: how quickly further occurrences of a term stop counting."""


class Field(NamedTuple):
    """Parameters of one field that every document has."""

    weight: float
    """Weight of an occurrence in this field."""
    length_share: float
    """b. 0: the field's length has no effect; 1: twice the length halves an occurrence."""


def idf(documents: int, containing: int) -> float:
    """Return the inverse document frequency of a term; never below 0."""
    return math.log1p((documents - containing + 0.5) / (containing + 0.5))


def normalised(field: Field, occurrences: float, length: float, length_mean: float) -> float:
    """Return the length-normalised, weighted term frequency in one field of one document."""
    if not occurrences:
        return 0.0
    ratio = length / length_mean if length_mean > 0 else 1.0
    return field.weight * occurrences / (1 - field.length_share + field.length_share * ratio)


def saturated(worth: float) -> float:
    """Return the share of its idf that a term scores, in [0, 1).

    worth: sum of the term's `normalised` values over all fields.
    """
    return worth / (SATURATION + worth)


def score(worths: Sequence[Sequence[float]], weights: Sequence[float]) -> float:
    """Return a document's score.

    worths: Per term, for each field, the result of `normalised`.
    weights: Per term, its idf times its weight in the query.
    """
    return sum(
        weight * saturated(sum(fields)) for fields, weight in zip(worths, weights, strict=True)
    )
