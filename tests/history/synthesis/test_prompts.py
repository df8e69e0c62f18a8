"""What words of a prompt ask for."""

from __future__ import annotations

import pytest

from triseek.history.synthesis.prompts import asks_commit, asks_rework, reports_problem
from triseek.history.synthesis.session_events import Said, SessionView


def view(text: str) -> SessionView:
    return SessionView(1, "codex", "s", "shop", "/work/shop", (Said("p", 1, text, 0),))


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("the total is wrong", reports_problem), ("simplify the cart", asks_rework),
        ("answer the review comments", asks_rework), ("do meaningful commits", asks_commit),
        ("# Fix the total\n" + "We count. " * 300, reports_problem),
    ],
)  # fmt: skip
def test_words_tell_what_is_asked(text, ask):
    assert ask(view(text), 1)
    assert not ask(view("add a discount"), 1)
    assert not ask(view(text), 2)


def test_of_a_plan_only_the_title_counts():
    assert not reports_problem(view("# Discounts\n" + "Count them. " * 300 + "Errors!"), 1)
