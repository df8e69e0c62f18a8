"""Next steps name what the reader has: the first item, its test, the most telling word."""

from __future__ import annotations

import pytest

from triseek.engine.context_pack import terms
from triseek.engine.context_pack.next_steps import next_steps
from triseek.model.context_pack import PackItem

GOAL = terms.read("retry fails after a timeout")


def item(*reasons):
    return PackItem(path="src/retry.py", score=1.0, reasons=reasons, snippets=())


def steps(intent, items, *, goal=GOAL, strongest="retry", test=""):
    return " ".join(next_steps(intent, goal, items, strongest=strongest, test=test))


def test_a_fix_starts_with_the_first_file_and_its_test():
    text = steps("bugfix", [item()], test="tests/test_retry.py")

    assert "Start with the highest-ranked source file" in text
    assert "Read tests/test_retry.py for what src/retry.py is expected to do" in text
    assert "search_content for 'retry'" in text


def test_without_a_test_it_says_how_to_look_for_one():
    assert "No test of src/retry.py was found by its name" in steps("bugfix", [item()])


@pytest.mark.parametrize(
    ("reasons", "expected"),
    [(("changed_file",), "Read the changed_file items first"), ((), "No changed file is known")],
)
def test_a_review_starts_with_what_changed(reasons, expected):
    assert steps("review", [item(*reasons)]).startswith(expected)


def test_without_items_it_says_what_to_ask_for():
    assert "another spelling of 'retry'" in steps("bugfix", [])
    assert "The goal names nothing" in steps("bugfix", [], goal=terms.read("the"), strongest="")


def test_a_long_word_is_cut():
    assert "x" * 61 not in steps("bugfix", [item()], strongest="x" * 200)
