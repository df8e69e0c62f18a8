"""Items of a pack: lines as they are shown, and a budget that is kept, whatever the items are."""

from __future__ import annotations

import json
import os
from dataclasses import asdict

from hypothesis import given
from hypothesis import strategies as st

from triseek.engine.context_pack import candidates, terms
from triseek.engine.context_pack.snippets import fit, preview, snippets, tokens
from triseek.model.context_pack import PREVIEW_CHARACTERS, REASONS, PackItem, Snippet


@given(st.binary(max_size=900), st.integers(0, 900))
def test_any_line_fits_and_obeys_nobody(line, at):
    shown = preview(line, min(at, len(line)))

    assert len(shown) <= PREVIEW_CHARACTERS
    assert all(char.isprintable() or char in "\t " or ord(char) >= 0xA0 for char in shown)


def test_a_cut_line_shows_its_match():
    assert "needle" in preview(b"x" * 5_000 + b" needle " + b"y" * 5_000, 5_001)


def shown(repo, text: str, goal: str, line: int = 0):
    root, read = repo({"a.py": text}), terms.read(goal)
    weights = [term.weight for term in read.terms]
    (found,) = candidates.read(os.fsencode(root), [b"a.py"], read, weights, lambda: False)
    found.line = line
    return [(each.line, each.column, each.preview) for each in snippets(found, [1.0] * 16)]


def test_imports_come_after_what_is_done_with_them(repo):
    text = "import alpha\n\n\nx = alpha\n"

    assert shown(repo, text, "alpha") == [(4, 5, "x = alpha"), (1, 8, "import alpha")]


def test_the_same_line_is_shown_once_and_at_most_three_are(repo):
    text = "alpha = 1\n" * 5 + "".join(f"alpha = {n}\n" for n in range(2, 9))

    assert [number for number, _, _ in shown(repo, text, "alpha")] == [1, 6, 7]


def test_a_line_that_the_goal_names_comes_first(repo):
    assert shown(repo, "alpha\n\n    beta\n", "alpha", line=3)[0] == (3, 5, "beta")
    assert shown(repo, "alpha\n", "alpha", line=99) == [(1, 1, "alpha")]


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
