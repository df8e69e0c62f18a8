"""Joins what the words of a query find with what its vector finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

WORDS_WEIGHT = 2.0
"""What the best by words counts where a drawer has all words of the query, and the nearest vector
there can be counts 1. Chosen on LoCoMo and docstrings: see docs/decisions/0043."""
NEAR_MIN = 0.2
"""The cosine of a drawer that is returned without a word of the query: the nearest to words without
meaning have less, and 98 % of those that answer a question have more."""


def fuse(
    words: Mapping[int, float], coverage: float, cosines: Mapping[int, float]
) -> dict[int, float]:
    """Return the drawers of both ways with joined scores from 0 to 1, best first.

    A score is a bounded sum, in which words count as much as the best of them cover the query:
    where no drawer has more than one of five words, which may be there by chance, vectors decide;
    where one has all, it stays in front. A sum of ranks (Cormack et al. 2009) cannot tell these
    apart.

    Args:
        words: Scores by words from 0 to 1, by drawer.
        coverage: The share of the query's terms, by their IDF, that one of these has at most.
        cosines: Cosines with the query's vector, of all drawers that have a vector.
    """
    near = {
        drawer: max(cosine, 0.0)
        for drawer, cosine in cosines.items()
        if cosine >= NEAR_MIN or drawer in words
    }
    # A drawer that has no vector yet is neither near nor far.
    middle = sum(near.values()) / len(near) if near else 0.0
    scores = {
        drawer: WORDS_WEIGHT * coverage * words.get(drawer, 0.0) + near.get(drawer, middle)
        for drawer in words.keys() | near.keys()
    }
    best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return {drawer: min(score / (WORDS_WEIGHT + 1), 1.0) for drawer, score in best}


def weights(terms: Iterable[str], idf: Mapping[str, float]) -> dict[str, float]:
    """Return what each term of a query weighs; one that no drawer has, as much as the rarest."""
    rarest = max(idf.values(), default=1.0)
    return {term: idf.get(term, rarest) for term in terms}


def coverage(terms: Mapping[str, float], spoken: Collection[str]) -> float:
    """Return the share of a query's terms that a text has, by their weights: 0 to 1.

    terms: The weight of each term of the query. spoken: The terms of the text.
    """
    total = sum(terms.values())
    if total <= 0:
        return 0.0
    return sum(weight for term, weight in terms.items() if term in spoken) / total
