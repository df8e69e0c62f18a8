"""How the options of a search change what its patterns mean; `test_pattern_rg.py` asks ripgrep."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.query.regex.trees import A, B, assert_refused, char, tree
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.regex.parse import parse
from triseek.query.regex.syntax import Assertion, Chars, Concat

REFUSED = {
    "a\0": "NUL",
    "a\udc80": "not valid UTF-8",
    "(?:a{1000}){1000}": "too large",
}


@pytest.mark.parametrize(("pattern", "message"), REFUSED.items())
def test_what_cannot_be_understood_is_refused_with_its_place(pattern, message):
    assert_refused(pattern, message)


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
        (Assertion("word_start_half"), *inner.parts, Assertion("word_end_half"))
    )
    assert tree("ab", word=True, line=True) == tree("^ab$")
    assert tree("a|bc", line=True) == tree("^(?:a|bc)$")
    assert tree("ab", line=True, crlf=True) == tree("(?R)^ab$")


def test_across_lines_nothing_loses_its_line_ends():
    assert tree("[^a]", multiline=True) == Chars(((0, 96), (98, 0xD7FF), (0xE000, 0x10FFFF)))
    assert tree("a\\nb", multiline=True) == Concat((A, char("\n"), B))
    assert tree(".", multiline=True) == tree(".")
    assert tree(".", multiline=True, dotall=True) == tree("(?s).", multiline=True)
    assert tree(r"\Aa\z", multiline=True) == Concat(
        (Assertion("text_start"), A, Assertion("text_end"))
    )


def test_crlf_takes_the_carriage_return_out_too():
    assert tree(r"\s", crlf=True) == tree(r"[\s--\r]")
    with pytest.raises(InvalidQuery, match=r"\\r"):
        tree(r"a\r", crlf=True)


def test_a_literal_nul_is_reported_to_the_caller():
    assert parse(PatternSpec(patterns=(r"a\x00",))).needs_nul
    assert not parse(PatternSpec(patterns=("[^a]",))).needs_nul


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab(){}[]|*+?.^$\\-&~:<>=!ipPLxu{}0129,#\n é"), max_size=30))
def test_any_text_is_understood_or_refused(pattern):
    try:
        result = parse(PatternSpec(patterns=(pattern,)))
    except InvalidQuery:
        return
    assert hash(result.tree) == hash(result.tree)
