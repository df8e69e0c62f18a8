"""Pages: as long as an agent can afford, and put together the whole answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.model import token_estimate
from triseek.search.envelopes import BUDGET, BUDGET_MAX, BUDGET_MIN, count_listed, fit_page


def pages_of(results):
    """How `fit` is called for such results."""

    def page(most):
        return {"results": results[:most], "truncated": most < len(results)}

    return page


@given(st.lists(st.text(max_size=400), max_size=60), st.integers(1, 4_000))
def test_the_longest_page_that_fits_is_taken(results, budget):
    page = pages_of(results)
    found = fit_page(page, len(results), budget)
    count, most = len(found["results"]), max(budget, BUDGET_MIN)

    assert found == page(count)
    assert token_estimate.of_json(found) <= most or count <= 1
    assert count == len(results) or token_estimate.of_json(page(count + 1)) > most


def test_what_is_found_is_never_cut_to_nothing():
    assert fit_page(pages_of(["x" * 10_000, "y"]), 2, 1)["results"] == ["x" * 10_000]


@pytest.mark.parametrize(
    ("asked", "given_tokens"), [(0, BUDGET), (-5, BUDGET), (10**9, BUDGET_MAX), (1_000, 1_000)]
)
def test_no_answer_is_longer_than_clients_take(asked, given_tokens):
    found = fit_page(pages_of(["x" * 396] * 1_000), 1_000, asked)

    assert given_tokens - 200 < token_estimate.of_json(found) <= given_tokens


def test_lines_count_and_their_context_does_not():
    lines = {"path": "a", "matches": [{"line": 1, "context": True}, {"line": 2, "column": 1}]}

    assert count_listed([lines, {"path": "b", "reason": "path_only"}]) == 2
