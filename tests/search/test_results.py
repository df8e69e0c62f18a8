"""Results of the search tools: what the reference says of their fields."""

from __future__ import annotations

from typing import get_type_hints

from triseek.search import results


def test_every_answer_begins_with_its_version_and_root() -> None:
    for answer in (
        results.SearchAnswer, results.HydratedAnswer, results.ReusedAnswer,
        results.IndexStatusAnswer, results.ReindexAnswer,
    ):  # fmt: skip
        assert list(get_type_hints(answer))[:2] == ["version", "repo_root"]
