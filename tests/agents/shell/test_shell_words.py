"""Words of a shell command, as far as they can be known."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.agents.shell.shell_words import COMMAND_MAX, Redirect, Step, steps


@pytest.mark.parametrize(
    ("command", "parsed"),
    [
        ("a b", [Step("", ("a", "b"), ())]),
        ("a 'b c' \"d\" e\\ f", [Step("", ("a", "b c", "d", "e f"), ())]),
        ("a && b | c; d", [
            Step("", ("a",), ()), Step("&&", ("b",), ()), Step("|", ("c",), ()),
            Step(";", ("d",), ()),
        ]),
        ("a 2>/dev/null > out 2>&1", [
            Step("", ("a",), (Redirect("2", "/dev/null"), Redirect("1", "out"),
                              Redirect("2", "&1"))),
        ]),
        ("a $x *.c ~/b '$y' # end", [Step("", ("a", None, None, None, "$y"), ())]),
        ("a \\\n b", [Step("", ("a", "b"), ())]),
    ],
)  # fmt: skip
def test_words_and_redirections_are_split(command, parsed):
    assert steps(command) == tuple(parsed)


@pytest.mark.parametrize(
    "command",
    ["a $(b)", "a `b`", "(a)", "a <<x", "a &", "a |", "a && ", "a 'b", "a;; b", "a >", "a\0", "",
     "a " * COMMAND_MAX],
)  # fmt: skip
def test_what_only_a_shell_can_tell_is_unknown(command):
    assert steps(command) is None


@settings(derandomize=True, max_examples=100)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r")), min_size=1))
def test_quoted_words_are_themselves(words):
    assert steps(shlex.join(words)) == (Step("", tuple(words), ()),)
