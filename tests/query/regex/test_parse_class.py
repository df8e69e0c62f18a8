"""Bracketed classes: the sets they become, and those that are refused."""

import pytest

from tests.query.regex.trees import A, assert_refused, char, tree
from triseek.query.regex.syntax import Bytes, Chars

SHAPES = {
    "[a]": A,
    "[abc]": char("a", "c"),
    "[a-c&&[^b]]": Chars(((97, 97), (99, 99))),
    "[a-c--b]": Chars(((97, 97), (99, 99))),
    "[a-b~~b-c]": Chars(((97, 97), (99, 99))),
    "[]a]": Chars(((93, 93), (97, 97))),
    "[-a]": Chars(((45, 45), (97, 97))),
    "[a-]": Chars(((45, 45), (97, 97))),
    "[[:digit:]]": char("0", "9"),
    "[[:^ascii:]]": Chars(((0x80, 0xD7FF), (0xE000, 0x10FFFF))),
    "[:ab]": Chars(((58, 58), (97, 98))),
    "[a&&b]": Chars(()),
    "[a && b]": Chars(((32, 32),)),
    "(?x)[a && b]": Chars(()),
    r"[\x61-\u{63}]": char("a", "c"),
    r"[\d&&[1-3]]": char("1", "3"),
    "(?i)[^k]": Chars(
        ((0, 9), (11, 74), (76, 106), (108, 0x2129), (0x212B, 0xD7FF), (0xE000, 0x10FFFF))
    ),
    r"(?-u:[^a])": Bytes(((0, 9), (11, 96), (98, 255))),
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_a_class_becomes_the_tree_of_what_it_means(pattern, expected):
    assert tree(pattern) == expected


EQUAL = [
    ("(?i)[A-C]", "[A-Ca-c]"),
    (r"[\w--\d]", r"[\w&&[^\d]]"),
    ("[[:alpha:]]x", "[A-Za-z]x"),
]


@pytest.mark.parametrize(("pattern", "same"), EQUAL)
def test_two_ways_to_write_the_same_become_the_same_tree(pattern, same):
    assert tree(pattern) == tree(same)


REFUSED = {
    "[a": "column 1: this class does not end",
    "a[^]": "column 2: this class does not end",
    "[z-a]": "column 2: this range is empty",
    r"[\d-z]": "column 2: a range goes from one character",
    r"[\b]": "column 2: an assertion means nothing inside a class",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)
