"""Pages of results: no longer than an agent can afford, and none left out between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from triseek.service.envelopes import cost

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.model.results import SearchResult

Answer = TypeVar("Answer", bound="Mapping[str, object]")

BUDGET = 8_000
"""Tokens of an answer where none were asked for; clients warn at 10,000."""
BUDGET_MIN = 200
BUDGET_MAX = 20_000
"""Some clients refuse answers of 25,000."""


def fit(page: Callable[[int], Answer], count: int, budget: int) -> Answer:
    """The longest page that takes no more than a budget of tokens.

    Args:
        page: The envelope with the first so many of its results.
        count: How many there are.
        budget: In tokens; 0 or less: as many as are usual. One result is left whatever it costs.
    """
    most = min(max(budget, BUDGET_MIN), BUDGET_MAX) if budget > 0 else BUDGET
    whole = page(count)
    if count <= 1 or cost(whole) <= most:
        return whole
    # A page of `low` results fits or is the shortest there is; one of `high` is too long.
    low, high = 1, count
    while high - low > 1:
        middle = (low + high) // 2
        if cost(page(middle)) <= most:
            low = middle
        else:
            high = middle
    return page(low)


def listed(results: Sequence[SearchResult]) -> int:
    """How many results count towards a limit: matching lines, or files where none are shown."""
    return sum(
        sum("context" not in match for match in result["matches"]) if "matches" in result else 1
        for result in results
    )
