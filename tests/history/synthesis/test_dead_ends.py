"""Edits that were taken back for good."""

from __future__ import annotations

import pytest

from tests.history import outputs
from tests.history.recorded import Recorded
from tests.history.synthesis.derived import derived

BEFORE, AFTER = "def total():\n    return 1\n", "def total():\n    return 2\n"


def tried(database) -> Recorded:
    session = Recorded(database).prompt("x").edit("shop/cart.py", BEFORE, AFTER)
    return session.run("pytest", outputs.PYTEST_FAILED, 1)


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -- shop/cart.py", "git checkout shop/cart.py", "git restore shop/cart.py",
        "git restore .", "git reset --hard", "git reset --hard HEAD", "git stash",
        "cd /work/shop && git checkout HEAD -- shop/",
    ],
)  # fmt: skip
def test_git_takes_edits_back(database, command):
    (draft,) = derived(tried(database).run(command), "dead-end")
    assert draft.is_dead_end
    assert draft.type == "discovery"
    assert draft.title == "Dead end: reverted total in shop/cart.py"
    assert "error before: AssertionError: assert 30 == 15" in draft.facts


@pytest.mark.parametrize(
    "command",
    [
        "git checkout -b other", "git checkout main", "git restore --staged shop/cart.py",
        "git reset HEAD shop/cart.py", "git stash list", "git checkout -- shop/tax.py",
        "git stash && pytest; git stash pop", "git checkout shop/cart.py || echo 'no such file'",
    ],
)  # fmt: skip
def test_other_commands_do_not(database, command):
    assert derived(tried(database).run(command), "dead-end") == []


def test_an_edit_that_puts_the_old_text_back(database):
    session = tried(database).edit("shop/cart.py", AFTER, BEFORE)
    (draft,) = derived(session, "dead-end")
    assert draft.title == "Dead end: reverted total in shop/cart.py"
    assert derived(session, "edits") == []


def test_a_line_that_is_put_back_is_a_slip(database):
    session = Recorded(database).prompt("x").edit("a.py", "import re\nimport os\n", "import os\n")
    assert derived(session.edit("a.py", "import os\n", "import re\nimport os\n"), "dead-end") == []


def test_a_command_that_was_refused_takes_nothing_back(database):
    refused = "The user doesn't want to proceed with this tool use. The tool use was rejected."
    assert derived(tried(database).run("git stash", refused, 1), "dead-end") == []


def test_edits_made_again_are_no_dead_end(database):
    session = (
        tried(database).edit("shop/cart.py", AFTER, BEFORE).edit("shop/cart.py", BEFORE, AFTER)
    )
    assert derived(session, "dead-end") == []


def test_committed_edits_are_taken_back_by_revert_only(database):
    session = tried(database).run("git commit -qam 'x'").run("git checkout -- shop/cart.py")
    assert derived(session, "dead-end") == []
    session.run("git revert --no-edit HEAD", "[main 1a2b3c4] Revert\n")
    assert len(derived(session, "dead-end")) == 1


@pytest.mark.parametrize(
    ("prompt", "before", "after"),
    [
        ("do meaningful commits", BEFORE, AFTER),
        ("find out why", "x = 1\n", "x = 1\nprint('DEBUG', x)\nprint(y)\nprint(z)\n"),
        ("x", "total(1)\n", "total(1, 2)\n"),
    ],
    ids=["committed apart", "prints", "one line"],
)
def test_what_is_taken_back_for_another_reason_is_none(database, prompt, before, after):
    session = Recorded(database).prompt(prompt).edit("shop/cart.py", before, after)
    assert derived(session.run("git checkout shop/cart.py"), "dead-end") == []
