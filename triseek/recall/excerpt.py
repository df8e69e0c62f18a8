"""Finds the part of a message to show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.recall import words

if TYPE_CHECKING:
    from collections.abc import Mapping

EXCERPT = 240
"""Characters."""
_BEFORE = 40
"""Characters shown before the first term."""
_TEXT_MAX = 100_000
"""Characters in which the excerpt is looked for."""


def span(text: str, weights: Mapping[str, float]) -> tuple[int, int]:
    """Return begin and end of the excerpt whose different terms weigh most.

    weights: IDF by term.
    """
    hits = words.spans(text[:_TEXT_MAX], weights)
    most = sum(weights[term] for term in {term for term, _, _ in hits})
    best, start = 0.0, 0
    for at, (_, begin, _) in enumerate(hits):
        if best >= most - 1e-9:  # nothing can be better
            break
        seen: set[str] = set()
        for term, _, end in hits[at : at + 50]:
            if end - begin > EXCERPT - _BEFORE:
                break
            seen.add(term)
        weight = sum(weights[term] for term in seen)
        if weight > best:
            best, start = weight, begin
    start = max(0, min(start - _BEFORE, len(text) - EXCERPT))
    while start and start < len(text) and text[start - 1].isalnum():
        start -= 1  # not in the middle of a word
        if start % EXCERPT == 0:
            break
    return start, min(start + EXCERPT, len(text))
