import os
import random
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import matcher, trees
from tests.oracle.formula import grams, holds
from triseek.errors import InvalidQuery
from triseek.model.search import PatternSpec
from triseek.query.regex.parse import parse
from triseek.query.regex.syntax import Alternate, Assertion, Bytes, Chars, Concat, Empty, Repeat
from triseek.query.trigrams.formula import (
    ALL,
    DEPTH_MAX,
    GRAMS_MAX,
    NEVER,
    Gram,
    all_of,
    any_of,
    formula,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "grams.txt"
ANY = Repeat(Chars(((0, 9), (11, 0x10FFFF))), 0, None)
SOUND_PAIRS = 120_000
SHORT_TEXTS = {text: grams(text) for text in trees.every_text(b"ab", 8)}


def in_words(pattern: str) -> str:
    """The formula of a pattern as the golden file shows it."""
    try:
        return str(formula(parse(PatternSpec(patterns=(pattern,))).tree))
    except InvalidQuery:
        return "refused"


def is_pattern(line: str) -> bool:
    return bool(line) and not line.startswith(("#", " "))


def test_golden_formulas_are_what_patterns_say():
    written = GOLDEN.read_text(encoding="utf-8")
    lines = [line for line in written.splitlines() if not line.startswith(" ")]
    said = [f"{line}\n    {in_words(line)}" if is_pattern(line) else line for line in lines]
    now = "\n".join(said) + "\n"
    if os.environ.get("TRISEEK_GOLDEN") == "update":
        GOLDEN.write_text(now, encoding="utf-8")
    else:
        assert now == written
    assert sum(map(is_pattern, lines)) >= 150


def word(text: str):
    return trees.literal(text)


def folded(text: str):
    pairs = ((ord(char.upper()), ord(char)) for char in text)
    return Concat(tuple(Chars(((upper, upper), (lower, lower))) for upper, lower in pairs))


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (word("ab"), "all"),
        (word("abcd"), '"abc" "bcd"'),
        (word("ab\ncde\nf"), '"cde"'),
        (Alternate((word("foo"), word("ba"))), "all"),
        (Alternate((word("foo"), word("bar"))), '"bar"|"foo"'),
        (Alternate((word("foo"), word("foobar"))), '"foo"'),
        (Concat((word("foo"), ANY, word("bar"))), '"foo" "bar"'),
        (Concat((Repeat(word("foo"), 0, 1), word("bar"))), '"bar"'),
        (Concat((Repeat(word("a"), 1, None), word("bc"))), '"abc"'),
        (Concat((word("fo"), Assertion("word"), word("o"))), '"foo"'),
        (Repeat(word("x"), 3, 3), '"xxx"'),
        (Concat((word("abc"), Chars(()))), "never"),
        (Alternate(()), "never"),
        (Repeat(Chars(()), 0, None), "all"),
        (Chars(((0, 0x10FFFF),)), "all"),
        (Concat((word("ab"), Bytes(((0xFF, 0xFF),)))), '"ab\\xff"'),
        (Concat((word("a"), Chars(((0xD7FF, 0xE000),)))),
         r'("a\xed\x9f" "\xed\x9f\xbf")|("a\xee\x80" "\xee\x80\x80")'),
        (folded("abcd"), "(" + "|".join(f'"{a}{b}{c}"' for a in "Aa" for b in "Bb" for c in "Cc")
         + ") (" + "|".join(f'"{a}{b}{c}"' for a in "Bb" for b in "Cc" for c in "Dd") + ")"),
    ],
)  # fmt: skip
def test_a_tree_asks_for_what_it_must_contain(tree, expected):
    assert str(formula(tree)) == expected


def test_known_grams_are_not_asked_for_twice():
    abc, bcd, cde = (Gram(int.from_bytes(gram, "big")) for gram in (b"abc", b"bcd", b"cde"))
    assert all_of([abc, any_of([abc, bcd])]) == abc
    assert any_of([all_of([abc, bcd]), all_of([abc, cde])]) == all_of([abc, any_of([bcd, cde])])
    assert any_of([]) == NEVER
    assert all_of([]) == ALL
    assert any_of([abc, ALL]) == ALL
    assert all_of([abc, NEVER]) == NEVER


def test_the_deepest_pattern_is_no_trouble():
    tree = word("abc")
    for level in range(300):
        inner = (Concat((tree, word("xyz"))), word(f"w{level}ord"))
        tree = Repeat(Alternate(inner), 1, 1)
    assert depth_of(formula(tree)) <= DEPTH_MAX


def depth_of(found) -> int:
    return 1 + max(map(depth_of, found.parts)) if hasattr(found, "parts") else 0


def test_formulas_keep_within_bounds():
    letters = "abcdefghij"
    words = tuple(word(a + b + c + d) for a in letters for b in letters for c in "ab" for d in "cd")
    cases = [
        Alternate(words * 2),
        Repeat(Alternate(words), 8, 8),
        Concat(tuple(Concat((Alternate(words), ANY)) for _ in range(8))),
        folded(letters * 40),
        word(letters * 400),
        Repeat(Repeat(Repeat(word("abc"), 9, 9), 9, 9), 1000, 1000),
    ]
    assert all(formula(case).size <= GRAMS_MAX for case in cases)


def test_a_long_word_in_any_case_is_asked_for_place_by_place():
    found = formula(folded("abcdefghij" * 4))
    assert len(set(found.parts)) == 10  # of 38 places, those that repeat are the same formula
    assert all(part.size == 8 for part in found.parts)


def check_sound(rng, *, depth: int, wide: bool) -> int:
    """Hold one tree against four texts; return how many of them it matched."""
    tree = trees.tree(rng, depth, wide=wide)
    asked = formula(tree)
    texts = [trees.text(rng, tree) for _ in range(4)]
    matched = [text for text in texts if matcher.matches(tree, text)]
    assert all(holds(asked, grams(text)) for text in matched), (tree, matched, str(asked))
    return len(matched)


@given(trees.rngs, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=400)
def test_what_matches_has_the_grams_asked_for(rng, depth, wide):
    check_sound(rng, depth=depth, wide=wide)


@given(trees.rngs, st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_every_short_text_that_matches_has_the_grams_asked_for(rng, depth):
    tree = trees.tiny(rng, depth, looks=False)
    asked = formula(tree)
    for text, found in SHORT_TEXTS.items() if asked != ALL else []:
        assert holds(asked, found) or not matcher.matches(tree, text), (tree, text, str(asked))


@pytest.mark.slow
def test_what_matches_has_the_grams_asked_for_a_hundred_thousand_times():
    rng = random.Random(20261121)
    matched = sum(
        check_sound(rng, depth=1 + turn % 4, wide=turn % 2 == 0) for turn in range(SOUND_PAIRS // 4)
    )
    assert matched > SOUND_PAIRS // 2


def test_what_is_asked_for_excludes_most_texts_without_a_match():
    """Guards the strength of formulas: `all` everywhere would be sound, and useless."""
    rng = random.Random(1)
    words = ["kmalloc", "probe", "return", "static int", "file_operations", "(ret)"]
    excluded = 0
    for _ in range(200):
        first, second, third = rng.sample(words, 3)
        tree = Concat((word(first), ANY, Repeat(Empty(), 0, 3), folded(second)))
        excluded += not holds(formula(tree), grams(f"{first} {third}".encode()))
    assert excluded == 200


def test_formulas_do_not_depend_on_hashing():
    """Sets of byte strings are iterated in hash order, which differs from process to process."""
    tree = Concat((Alternate(tuple(word(w) for w in ("abc", "xbc", "ybd"))), ANY, folded("mno")))
    spellings = str(formula(tree)).split()
    assert spellings == sorted(spellings, key=spellings.index)
    choices = [part.strip("()").split("|") for part in str(formula(tree)).split(" ")]
    assert all(left < right for choice in choices for left, right in pairwise(choice))
