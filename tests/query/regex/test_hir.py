"""Simplifications that decide what is refused, as in regex-syntax."""

import sys

import pytest

from tests.query.regex.trees import A, B, C, assert_refused, char, tree
from triseek.query.regex.syntax import Alternate, Concat, Empty

SHAPES = {
    "": Empty(),
    "a|bc": Alternate((A, Concat((B, C)))),
    "a|b|c": char("a", "c"),
    "(?:a|bc)b": Concat((Alternate((A, Concat((B, C)))), B)),
    "(a)(b)": Concat((A, B)),
    "a{0}": Empty(),
    "a{1}": A,
    r"(?-u)\xC3\xA9": char("é"),
    "a)|(b": Alternate((A, B)),  # captures keep the two from becoming one class
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_a_simplified_pattern_becomes_the_tree_of_what_it_means(pattern, expected):
    assert tree(pattern) == expected


EQUAL = [
    ("(?:foo)bar", "foobar"),
    ("(?P<n>abc)def", "abcdef"),
    (r"\x41bcd", "Abcd"),
]


@pytest.mark.parametrize(("pattern", "same"), EQUAL)
def test_two_ways_to_write_the_same_become_the_same_tree(pattern, same):
    assert tree(pattern) == tree(same)


REFUSED = {
    "a\\n": 'the literal "\\n" is not allowed',
    "a\nb": 'the literal "\\n" is not allowed',
    r"[\n]": 'the literal "\\n" is not allowed',
    r"(a)|(\n)": 'the literal "\\n" is not allowed',
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)


def test_a_line_end_among_single_characters_is_taken_out_as_ripgrep_does():
    assert tree(r"a|\n") == A
    assert tree(r"[ab]c|[ab]\n") == tree("[ab]c")


def test_the_deepest_pattern_can_be_lowered_with_a_small_stack():
    deepest = "(?:a|b" * 82 + "c" + ")" * 82

    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(900)
        assert isinstance(tree(deepest), Alternate)
    finally:
        sys.setrecursionlimit(limit)
