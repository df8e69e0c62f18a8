"""Pages of results: no longer than an agent can afford, and none left out between two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.service.envelopes import cost

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGET = 8_000
"""Tokens of an answer where none were asked for; clients warn at 10,000."""
BUDGET_MIN = 200


def fit(answer: dict[str, Any], offset: int, budget: int) -> dict[str, Any]:
    """Cut an answer's results to a budget of tokens; one is left whatever it costs.

    What is cut off is the next page: `truncated` and `next_offset` say so.
    """
    most = max(budget, BUDGET_MIN) if budget > 0 else BUDGET
    if cost(answer) <= most:
        return answer
    left = most - cost({**answer, "results": [], "truncated": True, "next_offset": 10**6})
    kept: list[dict[str, Any]] = []
    for piece in _pieces(answer["results"]):
        left -= cost(piece) + 1
        if left < 0 and kept:
            break
        _add(kept, piece)
    return {**answer, "results": kept, "truncated": True, "next_offset": offset + listed(kept)}


def listed(results: list[dict[str, Any]]) -> int:
    """How many results count towards a limit: matching lines, or files where none are shown."""
    return sum(
        sum("context" not in match for match in result["matches"]) if "matches" in result else 1
        for result in results
    )


def _pieces(results: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Results cut as small as they may be: one match with the lines around it."""
    for result in results:
        if "matches" not in result:
            yield result
            continue
        group: list[dict[str, Any]] = []
        for match in result["matches"]:
            group.append(match)
            if "context" not in match:
                yield {**result, "matches": group}
                group = []
        # Lines behind the last match.
        if group:
            yield {**result, "matches": group}


def _add(kept: list[dict[str, Any]], piece: dict[str, Any]) -> None:
    if kept and "matches" in piece and kept[-1]["path"] == piece["path"]:
        kept[-1] = {**kept[-1], "matches": [*kept[-1]["matches"], *piece["matches"]]}
    else:
        kept.append(piece)
