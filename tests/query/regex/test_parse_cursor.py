"""Flags inside patterns, white space and comments, and the places that errors name."""

import pytest

from tests.query.regex.trees import A, B, assert_refused, tree
from triseek.errors import InvalidQuery
from triseek.query.regex.syntax import Alternate, Assertion, Chars, Concat, Repeat

SHAPES = {
    "(?U)a+": Repeat(A, 1, None, greedy=False),
    "(?U)a+?": Repeat(A, 1, None),
    "(?-m)^a$": Concat((Assertion("text_start"), A, Assertion("text_end"))),
    "(?R)^a$": Concat((Assertion("line_start_crlf"), A, Assertion("line_end_crlf"))),
    "(?i)a": Chars(((65, 65), (97, 97))),
    "(?i)k": Chars(((75, 75), (107, 107), (0x212A, 0x212A))),
    "(?i-u:k)": Chars(((75, 75), (107, 107))),
    "(?i:a)b": Concat((Chars(((65, 65), (97, 97))), B)),
    "a(?i)b|c": Alternate((Concat((A, Chars(((66, 66), (98, 98))))), Chars(((67, 67), (99, 99))))),
    "(?x) a b # c\n": Concat((A, B)),
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_a_flag_becomes_the_tree_of_what_it_means(pattern, expected):
    assert tree(pattern) == expected


EQUAL = [
    ("(?i)σ", "[Σσς]"),
]


@pytest.mark.parametrize(("pattern", "same"), EQUAL)
def test_two_ways_to_write_the_same_become_the_same_tree(pattern, same):
    assert tree(pattern) == tree(same)


REFUSED = {
    "(?z)": "column 3: unknown flag 'z'",
    "(?ii)": "column 4: `i` stands twice",
    "(?i-)": "column 4: `-` turns off nothing",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)


def test_the_place_names_the_pattern_among_several():
    with pytest.raises(InvalidQuery, match="column 2 of pattern 3: "):
        tree("ab", "cd", "e(f")
