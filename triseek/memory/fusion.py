"""Joins what the words of a query find with what its vector finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

WORDS_WEIGHT = 1.2
"""What a drawer with all words of the query counts, where a vector like the query's counts 1.

Chosen on half of LoCoMo, and the same at 0.6 to 1.2 on other texts: see docs/decisions/0043.
"""


def fuse(
    words: Mapping[int, float], coverage: Mapping[int, float], cosines: Mapping[int, float]
) -> dict[int, float]:
    """Return the drawers of both ways with joined scores from 0 to 1, best first.

    A score is a bounded sum: that of the words counts as much as the drawer covers the query. One
    word that a drawer shares by chance cannot outweigh a vector near the query's, as it does where
    ranks are added (Cormack et al. 2009); a drawer with all words keeps its place.

    Args:
        words: Scores by words from 0 to 1, relative to the best, by drawer.
        coverage: The share of the query's terms that each of these has, by their IDF: 0 to 1.
        cosines: Cosines with the query's vector, of all drawers that have a vector.
    """
    known = [max(cosine, 0.0) for cosine in cosines.values()]
    # A drawer that has no vector yet is neither near nor far.
    middle = sum(known) / len(known) if known else 0.0
    scores = {}
    for drawer in words.keys() | cosines.keys():
        near = max(cosines.get(drawer, middle), 0.0)
        by_words = WORDS_WEIGHT * words.get(drawer, 0.0) * coverage.get(drawer, 0.0)
        scores[drawer] = min((by_words + near) / (WORDS_WEIGHT + 1), 1.0)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


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
