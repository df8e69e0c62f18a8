"""Kinds of queries."""

from __future__ import annotations

import pytest

from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern
from triseek.query.plan import plan
from triseek.query.trigrams.formula import ALL


@pytest.mark.parametrize(
    ("pattern", "shape", "selectivity"),
    [
        ("ab", "short_literal", "low"),
        ("abc", "literal", "medium"),
        ("abcdef", "literal", "high"),
        ("abcdef|ab", "short_literal", "low"),
        (r"\w+", "regex_weak", "low"),
        ("", "regex_weak", "low"),
        ("(?i)abc", "regex_anchored", "medium"),
        (r"abcdef\w", "regex_anchored", "high"),
        (r"(abcdefgh|xyz)\w", "regex_anchored", "medium"),
        (r"abcdef|\w", "regex_weak", "low"),
        ("[a&&b]", "nothing", "high"),
    ],
)
def test_a_plan_says_how_much_is_left_to_read(pattern, shape, selectivity):
    found = plan(compile_pattern(PatternSpec(patterns=(pattern,))))

    assert (found.shape, found.selectivity) == (shape, selectivity)


def test_a_formula_that_is_known_is_not_computed_again():
    assert plan(compile_pattern(PatternSpec(patterns=("a+bcdef",))), ALL).shape == "regex_weak"
