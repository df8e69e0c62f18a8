"""Escapes: characters, classes, properties and assertions; those of other dialects."""

import pytest

from tests.query.regex.trees import A, assert_refused, char, tree
from triseek.query.regex.syntax import Assertion, Bytes, Concat

SHAPES = {
    r"\Aa\z": Concat((Assertion("text_start"), A, Assertion("text_end"))),
    r"\ba\B": Concat((Assertion("word"), A, Assertion("not_word"))),
    r"\<a\>": Concat((Assertion("word_start"), A, Assertion("word_end"))),
    r"\b{start}a\b{end}": Concat((Assertion("word_start"), A, Assertion("word_end"))),
    r"\b{start-half}a\b{end-half}": Concat(
        (Assertion("word_start_half"), A, Assertion("word_end_half"))
    ),
    r"(?-u:\b)": Assertion("word", unicode=False),
    r"\x61": A,
    r"\x{61}": A,
    r"\u0061": A,
    r"\U00000061": A,
    r"\a\f\t\r\v": Concat(tuple(char(c) for c in "\a\f\t\r\v")),
    r"\%\"\'\/\ ": Concat(tuple(char(c) for c in "%\"'/ ")),
    r"(?-u:\xFF)": Bytes(((255, 255),)),
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_an_escape_becomes_the_tree_of_what_it_means(pattern, expected):
    assert tree(pattern) == expected


EQUAL = [
    (r"\pL", r"\p{Letter}"),
    (r"\p{Greek}", r"\p{sc=grek}"),
    (r"\P{Greek}", r"[^\p{Greek}]"),
    (r"\w", r"[\p{Alphabetic}\pM\p{Nd}\p{Pc}\p{Join_Control}]"),
    (r"\W", r"[^\w]"),
    (r"(?-u)\w", "(?-u)[0-9A-Za-z_]"),
    (r"\s", "[\t\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
]


@pytest.mark.parametrize(("pattern", "same"), EQUAL)
def test_two_ways_to_write_the_same_become_the_same_tree(pattern, same):
    assert tree(pattern) == tree(same)


REFUSED = {
    r"(a)\1": "column 4: back-references such as \\1",
    r"\0": "column 1: back-references such as \\0",
    r"\k<n>": "column 1: back-references",
    r"a\Z": "column 2: \\Z is not known here; write \\z",
    r"\G": "column 1: \\G",
    r"\C": "column 1: \\C",
    r"\Qa.b\E": "column 1: \\Q…\\E quoting",
    r"\i": "column 1: \\i means nothing",
    r"\é": "column 1: \\é means nothing",
    "a\\": "column 2: the pattern ends with a backslash",
    r"\p{Nonsense}": "column 1: there is no Unicode property or value 'Nonsense'",
    r"(?-u)\pL": "column 6: \\p needs Unicode",
    r"\x{110000}": "column 1: U+110000 is not a character",
    r"\uD800": "column 1: U+D800 is not a character",
    r"\xZ": "column 1: \\x takes 2 hex digits",
    r"\b{foo}": "column 1: \\b{foo} is unknown",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)
