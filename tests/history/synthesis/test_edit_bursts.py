"""Edits that belong together, by what they define."""

from __future__ import annotations

import pytest

from tests.history import outputs
from tests.history.recorded import MINUTE, Recorded
from tests.history.synthesis.derived import kinds

TOTAL = "def total(items):\n    return sum(items)\n"


def test_a_new_file_with_names_is_a_feature(database):
    session = (
        Recorded(database)
        .prompt("x")
        .write("shop/tax.py", "def tax():\n    pass\n\ndef vat():\n    pass\n")
    )
    assert kinds(session) == [("feature", "Added shop/tax.py (2 symbols)")]


TAX = "\n\ndef tax(items):\n" + "    count(items)\n" * 8
BEHIND = TOTAL + TAX


def edited(database, prompt: str, before: str, after: str) -> list[tuple[str, str]]:
    return kinds(Recorded(database, prompt).prompt(prompt).read("a.py").edit("a.py", before, after))


def test_a_new_function_is_a_feature(database):
    title = "Edited total, tax in a.py (+11/−0)"
    assert edited(database, "count the tax", TOTAL, BEHIND) == [("feature", title)]


def test_a_helper_is_none_if_it_replaces_lines_or_is_short(database):
    replaced = BEHIND.replace("sum(items)", "tax(items)")
    assert edited(database, "delete what is double", TOTAL, replaced)[0][0] == "change"
    assert edited(database, "name it", TOTAL, "LIMIT = 5\n" + TOTAL)[0][0] == "change"


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("the tax isn't counted", "change"),
        ("fix the total", "change"),
        ("this crashes with a KeyError: error in cart.py", "change"),
        ("Implement the plan: errors have been discussed. " + "We count. " * 50, "feature"),
    ],
)
def test_what_mends_a_problem_is_no_feature(database, prompt, kind):
    assert edited(database, prompt, TOTAL, BEHIND)[0][0] == kind


def test_the_title_names_the_code_and_not_a_plan_elsewhere(database):
    session = Recorded(database).prompt("x").write("/home/ann/plan.md", "a\n" * 90)
    session.write("shop/tax.py", "def tax():\n    pass\n")
    assert kinds(session) == [("feature", "Added shop/tax.py and 1 more")]


def test_a_renamed_function_is_a_refactoring(database):
    session = Recorded(database).prompt("x").edit("a.py", TOTAL, TOTAL.replace("total", "sum_up"))
    session.edit("b.py", "x = total(y)\n", "x = sum_up(y)\n")
    assert kinds(session) == [("refactor", "Renamed total → sum_up in 2 files")]


def test_a_moved_function_is_a_refactoring_unless_a_test_fails(database):
    for key, output, status, kind in (
        ("green", outputs.PYTEST_PASSED, 0, "refactor"), ("red", outputs.PYTEST_FAILED, 1, "change"),  # noqa: E501
    ):  # fmt: skip
        session = Recorded(database, key).prompt("x").edit("a.py", TOTAL, "").write("b.py", TOTAL)
        session.run("pytest", output, status)
        assert kinds(session)[0][0] == kind


def test_other_edits_are_changes_with_their_counts(database):
    session = Recorded(database).prompt("x").edit("README.md", "a\n", "a\nb\n")
    assert kinds(session) == [("change", "Edited README.md (+1/−0)")]


def test_a_pause_and_a_prompt_begin_another_burst(database):
    session = Recorded(database).prompt("x").edit("a.md", "a", "b")
    session.now += 20 * MINUTE
    session.edit("b.md", "a", "b").prompt("y").edit("c.md", "a", "b")
    assert len(kinds(session)) == 3


@pytest.mark.parametrize("prompt", ["simplify the totals", "address the review comments"])
def test_rework_is_no_feature(database, prompt):
    assert edited(database, prompt, TOTAL, BEHIND)[0][0] == "change"


def test_new_files_with_code_from_others_are_no_feature(database):
    session = Recorded(database).prompt("x").edit("a.py", BEHIND, "def count():\n    pass\n")
    session.write("b.py", TAX.replace("tax", "taxes"))
    assert kinds(session)[0][0] == "change"


def test_what_is_written_outside_the_repository_is_no_feature(database):
    session = Recorded(database).prompt("x").write("/tmp/preview.py", BEHIND)
    assert kinds(session)[0][0] == "change"
