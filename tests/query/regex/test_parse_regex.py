"""The grammar: groups, branches, repetitions, braces, and how deep they may nest."""

import contextlib

import pytest

from tests.query.regex.trees import A, B, assert_refused, char, tree
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.regex.parse import parse
from triseek.query.regex.syntax import Assertion, Bytes, Chars, Concat, Repeat

SHAPES = {
    "a": A,
    "ab": Concat((A, B)),
    "a*": Repeat(A, 0, None),
    "a+?": Repeat(A, 1, None, greedy=False),
    "a?": Repeat(A, 0, 1),
    "a{2}": Repeat(A, 2, 2),
    "a{2,}?": Repeat(A, 2, None, greedy=False),
    "a{ 2 , 3 }": Repeat(A, 2, 3),
    "ab{2}": Concat((A, Repeat(B, 2, 2))),
    "^a$": Concat((Assertion("line_start"), A, Assertion("line_end"))),
    "}": char("}"),
    "]": char("]"),
    "(?-u:é)": char("é"),
    ".": Chars(((0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF))),
    "(?s).": Chars(((0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF))),
    "(?-u:.)": Bytes(((0, 9), (11, 255))),
    "(?<n>a)(?P<m.x>b)": Concat((A, B)),
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_a_construct_becomes_the_tree_of_what_it_means(pattern, expected):
    assert tree(pattern) == expected


REFUSED = {
    "(?=a)": "column 1: look-ahead `(?=…)` is not supported",
    "(?!a)": "column 1: negative look-ahead",
    "x(?<=a)": "column 2: look-behind",
    "(?<!a)": "column 1: negative look-behind",
    "(?>a)": "column 1: atomic groups",
    "(?P=n)": "column 1: back-references `(?P=…)`",
    "(a": "column 1: this group does not end",
    "a)": "column 2: `)` closes nothing",
    "*a": "column 1: there is nothing to repeat before `*`",
    "a|*": "column 3: there is nothing to repeat before `*`",
    "(?i)*": "column 5: there is nothing to repeat before `*`",
    "{2}": "column 1: there is nothing to repeat before `{`",
    "a{3,2}": "column 2: a repetition from 3 to 2 is empty",
    "a{99999999999}": "column 3: this count is too large",
    "(?)": "column 2: there is nothing to repeat before `?`",
    "(?<>a)": "column 4: this name is empty",
    "(?<n>a)(?<n>b)": "column 11: the name n stands twice",
    "(?<1>a)": "column 4: '1' cannot stand in a group's name",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)


@pytest.mark.parametrize(
    ("pattern", "same"),
    [
        ("interface{}", r"interface\{\}"),
        ("a{,3}", r"a\{,3\}"),
        ("{ x", r"\{ x"),
        ("a{", r"a\{"),
        ("a{2, }", r"a\{2, \}"),
        ("a|{b}", r"a|\{b\}"),
        ("({})", r"(\{\})"),
    ],
)
def test_a_brace_that_starts_no_repetition_is_text_and_a_note_says_so(pattern, same):
    got = parse(PatternSpec(patterns=(pattern,)))

    assert got.tree == tree(same)
    assert "starts no repetition" in got.notes[0]


def test_other_patterns_get_no_note():
    assert parse(PatternSpec(patterns=("a{2}",))).notes == ()


def test_nesting_is_refused_beyond_ripgreps_limit_and_not_before():
    assert tree("(" * 248 + "a" + ")" * 248) == A
    with pytest.raises(InvalidQuery, match="250 levels"):
        tree("(" * 250 + "a" + ")" * 250)


@pytest.mark.parametrize(
    "pattern",
    [
        "(" * 100_000,
        "[" * 100_000,
        "a" + "*" * 100_000,
        "(?:a|" * 100_000,
        "[a&&" * 100_000,
        "(?x)" + "{" * 20_000,
    ],
)
def test_no_pattern_reaches_the_recursion_limit(pattern):
    with contextlib.suppress(InvalidQuery):
        tree(pattern)
