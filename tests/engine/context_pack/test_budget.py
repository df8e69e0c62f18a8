"""A budget is kept, whatever the items are."""

from __future__ import annotations

import json
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack.budget import fit, tokens
from triseek.model.context_pack import REASONS, PackItem, Snippet

SNIPPETS = st.builds(
    Snippet, line=st.integers(1, 10**9), column=st.integers(1, 10**6), preview=st.text(max_size=180)
)
ITEMS = st.lists(
    st.builds(
        PackItem,
        path=st.text(min_size=1, max_size=400),
        score=st.floats(0, 1e9).map(lambda score: round(score, 1)),
        reasons=st.lists(st.sampled_from(REASONS), max_size=3).map(tuple),
        snippets=st.lists(SNIPPETS, max_size=3).map(tuple),
    ),
    max_size=12,
)


def item(path: str, *previews: str) -> PackItem:
    lines = tuple(Snippet(line=1, column=1, preview=preview) for preview in previews)
    return PackItem(path=path, score=1.0, reasons=("content_match",), snippets=lines)


@given(ITEMS, st.integers(1, 4000))
def test_what_is_sent_never_costs_more_than_the_budget(items, budget):
    fitted = fit(items, budget)

    sent = json.dumps(
        [asdict(each) for each in fitted.items], ensure_ascii=False, separators=(",", ":")
    )
    assert fitted.tokens == sum(map(tokens, fitted.items)) <= budget
    assert (len(sent) - 2) / 4 <= fitted.tokens


@given(ITEMS, st.integers(1, 4000))
def test_it_says_exactly_whether_something_was_left_out(items, budget):
    fitted = fit(items, budget)

    assert fitted.cut == (list(fitted.items) != items)
    assert [each.path for each in fitted.items] == [each.path for each in items][
        : len(fitted.items)
    ]
    for kept, whole in zip(fitted.items, items, strict=False):
        assert kept.snippets == whole.snippets[: len(kept.snippets)]


def test_a_second_file_comes_before_a_second_line():
    items = [item("a", "x" * 100, "y" * 100), item("b", "z" * 100)]

    fitted = fit(items, tokens(item("a", "x" * 100)) + tokens(item("b", "z" * 100)))

    assert [len(each.snippets) for each in fitted.items] == [1, 1]


def test_not_even_the_first_file_breaks_the_budget():
    assert fit([item("p" * 1000, "x")], 20) == ((), 0, True)


def test_a_file_whose_line_does_not_fit_is_named_without():
    fitted = fit([item("a", "x" * 180)], tokens(item("a")))

    assert fitted.items == (item("a"),)
    assert fitted.cut
