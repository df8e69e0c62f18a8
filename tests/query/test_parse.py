"""What patterns mean, and what is refused; `test_pattern_rg.py` asks ripgrep the same."""

import contextlib
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.parse import parse
from triseek.query.syntax import Alternate, Bytes, Chars, Concat, Empty, Look, Repeat


def tree(*patterns, **options):
    return parse(PatternSpec(patterns=patterns, **options)).tree


def char(first, last=None):
    return Chars(((ord(first), ord(last or first)),))


A, B, C = char("a"), char("b"), char("c")

SHAPES = {
    "": Empty(),
    "a": A,
    "ab": Concat((A, B)),
    "a|bc": Alternate((A, Concat((B, C)))),
    "a|b|c": char("a", "c"),
    "(?:a|bc)b": Concat((Alternate((A, Concat((B, C)))), B)),
    "(a)(b)": Concat((A, B)),
    "a*": Repeat(A, 0, None),
    "a+?": Repeat(A, 1, None, greedy=False),
    "(?U)a+": Repeat(A, 1, None, greedy=False),
    "(?U)a+?": Repeat(A, 1, None),
    "a?": Repeat(A, 0, 1),
    "a{2}": Repeat(A, 2, 2),
    "a{2,}?": Repeat(A, 2, None, greedy=False),
    "a{ 2 , 3 }": Repeat(A, 2, 3),
    "a{0}": Empty(),
    "a{1}": A,
    "ab{2}": Concat((A, Repeat(B, 2, 2))),
    "^a$": Concat((Look("line_start"), A, Look("line_end"))),
    r"\Aa\z": Concat((Look("text_start"), A, Look("text_end"))),
    "(?-m)^a$": Concat((Look("text_start"), A, Look("text_end"))),
    "(?R)^a$": Concat((Look("line_start_crlf"), A, Look("line_end_crlf"))),
    r"\ba\B": Concat((Look("word"), A, Look("not_word"))),
    r"\<a\>": Concat((Look("word_start"), A, Look("word_end"))),
    r"\b{start}a\b{end}": Concat((Look("word_start"), A, Look("word_end"))),
    r"\b{start-half}a\b{end-half}": Concat((Look("word_start_half"), A, Look("word_end_half"))),
    r"(?-u:\b)": Look("word", unicode=False),
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
    r"\x61": A,
    r"\x{61}": A,
    r"\u0061": A,
    r"\U00000061": A,
    r"\a\f\t\r\v": Concat(tuple(char(c) for c in "\a\f\t\r\v")),
    r"\%\"\'\/\ ": Concat(tuple(char(c) for c in "%\"'/ ")),
    "}": char("}"),
    "]": char("]"),
    "(?i)a": Chars(((65, 65), (97, 97))),
    "(?i)k": Chars(((75, 75), (107, 107), (0x212A, 0x212A))),
    "(?i-u:k)": Chars(((75, 75), (107, 107))),
    "(?i)[^k]": Chars(
        ((0, 9), (11, 74), (76, 106), (108, 0x2129), (0x212B, 0xD7FF), (0xE000, 0x10FFFF))
    ),
    "(?i:a)b": Concat((Chars(((65, 65), (97, 97))), B)),
    "a(?i)b|c": Alternate((Concat((A, Chars(((66, 66), (98, 98))))), Chars(((67, 67), (99, 99))))),
    r"(?-u:\xFF)": Bytes(((255, 255),)),
    r"(?-u)\xC3\xA9": char("é"),
    r"(?-u:[^a])": Bytes(((0, 9), (11, 96), (98, 255))),
    "(?-u:é)": char("é"),
    ".": Chars(((0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF))),
    "(?s).": Chars(((0, 9), (11, 0xD7FF), (0xE000, 0x10FFFF))),
    "(?-u:.)": Bytes(((0, 9), (11, 255))),
    "(?x) a b # c": Concat((A, B)),
    "(?<n>a)(?P<m.x>b)": Concat((A, B)),
    "a)|(b": char("a", "b"),
}


@pytest.mark.parametrize(("pattern", "expected"), SHAPES.items())
def test_a_pattern_becomes_the_tree_of_what_it_means(pattern, expected):
    comment_ends = "\n" if "#" in pattern else ""

    got = tree(pattern + comment_ends)

    if pattern == "a)|(b":  # captures keep the two from becoming one class
        expected = Alternate((A, B))
    assert got == expected


EQUAL = [
    (r"\pL", r"\p{Letter}"),
    (r"\p{Greek}", r"\p{sc=grek}"),
    (r"\P{Greek}", r"[^\p{Greek}]"),
    (r"\w", r"[\p{Alphabetic}\pM\p{Nd}\p{Pc}\p{Join_Control}]"),
    (r"\W", r"[^\w]"),
    (r"(?-u)\w", "(?-u)[0-9A-Za-z_]"),
    ("(?i)[A-C]", "[A-Ca-c]"),
    ("(?i)σ", "[Σσς]"),
    (r"[\w--\d]", r"[\w&&[^\d]]"),
    (r"\s", "[\t\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"),
    ("[[:alpha:]]x", "[A-Za-z]x"),
    ("(?:foo)bar", "foobar"),
    ("(?P<n>abc)def", "abcdef"),
    (r"\x41bcd", "Abcd"),
]


@pytest.mark.parametrize(("pattern", "same"), EQUAL)
def test_two_ways_to_write_the_same_become_the_same_tree(pattern, same):
    assert tree(pattern) == tree(same)


REFUSED = {
    "(?=a)": "column 1: look-ahead `(?=…)` is not supported",
    "(?!a)": "column 1: negative look-ahead",
    "x(?<=a)": "column 2: look-behind",
    "(?<!a)": "column 1: negative look-behind",
    "(?>a)": "column 1: atomic groups",
    r"(a)\1": "column 4: back-references such as \\1",
    r"\0": "column 1: back-references such as \\0",
    r"\k<n>": "column 1: back-references",
    "(?P=n)": "column 1: back-references `(?P=…)`",
    r"a\Z": "column 2: \\Z is not known here; write \\z",
    r"\G": "column 1: \\G",
    r"\C": "column 1: \\C",
    r"\Qa.b\E": "column 1: \\Q…\\E quoting",
    r"\i": "column 1: \\i means nothing",
    r"\é": "column 1: \\é means nothing",
    "a\\": "column 2: the pattern ends with a backslash",
    "(a": "column 1: this group does not end",
    "a)": "column 2: `)` closes nothing",
    "[a": "column 1: this class does not end",
    "a[^]": "column 2: this class does not end",
    "[z-a]": "column 2: this range is empty",
    r"[\d-z]": "column 2: a range goes from one character",
    r"[\b]": "column 2: an assertion means nothing inside a class",
    "*a": "column 1: there is nothing to repeat before `*`",
    "a|*": "column 3: there is nothing to repeat before `*`",
    "(?i)*": "column 5: there is nothing to repeat before `*`",
    "{2}": "column 1: there is nothing to repeat before `{`",
    "a{3,2}": "column 2: a repetition from 3 to 2 is empty",
    "a{99999999999}": "column 3: this count is too large",
    "(?z)": "column 3: unknown flag 'z'",
    "(?ii)": "column 4: `i` stands twice",
    "(?i-)": "column 4: `-` turns off nothing",
    "(?)": "column 2: there is nothing to repeat before `?`",
    "(?<>a)": "column 4: this name is empty",
    "(?<n>a)(?<n>b)": "column 11: the name n stands twice",
    "(?<1>a)": "column 4: '1' cannot stand in a group's name",
    r"\p{Nonsense}": "column 1: there is no Unicode property or value 'Nonsense'",
    r"(?-u)\pL": "column 6: \\p needs Unicode",
    r"\x{110000}": "column 1: U+110000 is not a character",
    r"\uD800": "column 1: U+D800 is not a character",
    r"\xZ": "column 1: \\x takes 2 hex digits",
    r"\b{foo}": "column 1: \\b{foo} is unknown",
    "a\\n": 'the literal "\\n" is not allowed',
    "a\nb": 'the literal "\\n" is not allowed',
    r"[\n]": 'the literal "\\n" is not allowed',
    r"(a)|(\n)": 'the literal "\\n" is not allowed',
    "a\0": "NUL",
    "a\udc80": "not valid UTF-8",
    "(?:a{1000}){1000}": "too large",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    with pytest.raises(InvalidQuery) as caught:
        tree(pattern)

    assert message in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.next_step


def test_the_place_names_the_pattern_among_several():
    with pytest.raises(InvalidQuery, match="column 2 of pattern 3: "):
        tree("ab", "cd", "e(f")


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


@pytest.mark.parametrize(
    ("pattern", "insensitive"),
    [
        ("foo", True),
        ("Foo", False),
        (r"foo\S\W\p{Lu}", True),
        (r"\w", False),
        (r"foo\x41", False),
        ("[a-z]", True),
        ("[A-Z]x", False),
        ("é", True),
        ("É", False),
        ("[[:upper:]]x", True),
    ],
)
def test_smart_case_looks_at_the_characters_a_pattern_spells(pattern, insensitive):
    case = "insensitive" if insensitive else "sensitive"

    assert tree(pattern, case="smart") == tree(pattern, case=case)


def test_patterns_are_alternatives_with_flags_of_their_own():
    assert tree("(?i)ab", "cd") == tree("(?i:ab)|cd")


def test_fixed_patterns_are_text():
    assert tree("a.b(", "c|d", fixed=True) == tree(r"a\.b\(|c\|d")


def test_no_pattern_matches_nothing():
    assert tree() == Chars(())


def test_word_mode_asks_for_half_boundaries_and_line_mode_for_line_ends():
    inner = tree("ab")

    assert tree("ab", word=True) == Concat(
        (Look("word_start_half"), *inner.parts, Look("word_end_half"))
    )
    assert tree("ab", word=True, line=True) == tree("^ab$")
    assert tree("a|bc", line=True) == tree("^(?:a|bc)$")
    assert tree("ab", line=True, crlf=True) == tree("(?R)^ab$")


def test_across_lines_nothing_loses_its_line_ends():
    assert tree("[^a]", multiline=True) == Chars(((0, 96), (98, 0xD7FF), (0xE000, 0x10FFFF)))
    assert tree("a\\nb", multiline=True) == Concat((A, char("\n"), B))
    assert tree(".", multiline=True) == tree(".")
    assert tree(".", multiline=True, dotall=True) == tree("(?s).", multiline=True)
    assert tree(r"\Aa\z", multiline=True) == Concat((Look("text_start"), A, Look("text_end")))


def test_a_line_end_among_single_characters_is_taken_out_as_ripgrep_does():
    assert tree(r"a|\n") == A
    assert tree(r"[ab]c|[ab]\n") == tree("[ab]c")


def test_crlf_takes_the_carriage_return_out_too():
    assert tree(r"\s", crlf=True) == tree(r"[\s--\r]")
    with pytest.raises(InvalidQuery, match=r"\\r"):
        tree(r"a\r", crlf=True)


def test_a_literal_nul_is_reported_to_the_caller():
    assert parse(PatternSpec(patterns=(r"a\x00",))).needs_nul
    assert not parse(PatternSpec(patterns=("[^a]",))).needs_nul


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


def test_the_deepest_pattern_can_be_lowered_with_a_small_stack():
    deepest = "(?:a|b" * 82 + "c" + ")" * 82

    limit = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(900)
        assert isinstance(tree(deepest), Alternate)
    finally:
        sys.setrecursionlimit(limit)


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab(){}[]|*+?.^$\\-&~:<>=!ipPLxu{}0129,#\n é"), max_size=30))
def test_any_text_is_understood_or_refused(pattern):
    try:
        result = parse(PatternSpec(patterns=(pattern,)))
    except InvalidQuery:
        return
    assert hash(result.tree) == hash(result.tree)
