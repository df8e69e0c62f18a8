"""BM25F: the properties the formula is chosen for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack import bm25
from triseek.engine.context_pack.bm25 import Field

FIELD = Field(weight=2.0, length_share=0.75)


def test_a_rare_term_tells_more_and_none_tells_less_than_nothing():
    values = [bm25.idf(1_000, containing) for containing in (0, 1, 10, 500, 1_000)]

    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0


def test_it_is_bm25_where_there_is_one_field():
    """Robertson & Zaragoza, equation 3.15, less the constant k1 + 1."""
    occurrences, length, mean = 3, 200.0, 100.0
    by_hand = occurrences / (bm25.SATURATION * (0.25 + 0.75 * length / mean) + occurrences)

    worth = bm25.normalised(Field(1.0, 0.75), occurrences, length, mean)

    assert bm25.saturated(worth) == pytest.approx(by_hand)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_occurrences_never_count_less_and_a_term_never_more_than_its_idf(few, more):
    few, more = sorted((few, more))

    assert 0 <= bm25.saturated(few) <= bm25.saturated(more) <= 1


def test_an_occurrence_in_a_longer_field_is_worth_less():
    assert bm25.normalised(FIELD, 1, 10, 100) > bm25.normalised(FIELD, 1, 1_000, 100)
    assert bm25.normalised(FIELD, 0, 10, 100) == 0
    assert bm25.normalised(FIELD, 1, 0, 0) == FIELD.weight


def test_two_fields_saturate_together():
    together = bm25.score([(2.0, 2.0)], [1.0])
    apart = bm25.score([(2.0,), (2.0,)], [1.0, 1.0])

    assert bm25.score([(2.0,)], [1.0]) < together < apart
