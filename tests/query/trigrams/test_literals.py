import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import matcher, trees
from triseek.model.search import PatternSpec
from triseek.query.regex.parse import parse
from triseek.query.trigrams.literals import (
    ALTERNATIVES_MAX,
    LENGTH_MIN,
    cost,
    rarest_pair,
    required,
)

SOUND_PAIRS = 100_000
SHORT_TEXTS = trees.every_text(b"ab", 8)


def literals_of(pattern: str) -> tuple[bytes, ...]:
    return required(parse(PatternSpec(patterns=(pattern,), multiline="\\n" in pattern)).tree)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("kmalloc", (b"kmalloc",)),
        (r"\bkmalloc\b", (b"kmalloc",)),
        (r"static int \w+_probe\(", (b"_probe(",)),
        ("[A-Z]+_RESUME", (b"_RESUME",)),
        ("kmalloc|kzalloc|PM_RESUME", (b"PM_RESUME", b"kmalloc", b"kzalloc")),
        ("(foo)?barbaz", (b"barbaz",)),
        ("err(or)?x?", (b"err",)),
        ("foo|foobar", (b"foo",)),
        ("a{2,}zq", (b"aazq",)),
        ("x{3}", (b"xxx",)),
        ("[xy]{2}", (b"xx", b"xy", b"yx", b"yy")),
        ("foo.*quux_bar", (b"quux_bar",)),
        ("ab\\ncdef\\ng", (b"cdef",)),
        ("a\\nb", ()),
        ("α+β", ("αβ".encode(),)),
        ("foo|.", ()),
        ("foo|", ()),
        (r"\w+", ()),
        ("(foo)*", ()),
        ("zq(?:foo)*zj", (b"zj",)),
        ("z(?:foo)*q", ()),
        ("z(?:foo){0,2}q", ()),
        ("(?:zq)?(?:foo)+", (b"foo",)),
        ("", ()),
        ("a", ()),
        (r"[^\x00-\x{10FFFF}]", ()),
        ("foo|[^\\x00-\\x{10FFFF}]", (b"foo",)),
    ],
)
def test_a_pattern_must_contain_one_of(pattern, expected):
    assert literals_of(pattern) == expected


def test_a_common_part_is_preferred_to_many_wholes():
    assert literals_of("(?:read|write|open|close|ioctl)_lock") == (b"_lock",)
    assert literals_of("0x[0-9a-f]{4}") == (b"0x",)


def test_a_folded_word_is_asked_for_by_a_piece_with_few_spellings():
    found = literals_of("(?i)kmalloc_array")
    assert 0 < len(found) <= 4
    assert all(piece.lower() in b"kmalloc_array" for piece in found)


def test_a_long_literal_is_cut_and_a_long_pattern_is_quick():
    word = "".join(random.Random(3).choices("abcdefgh", k=5000))
    (found,) = literals_of(word)
    assert found.decode() in word
    assert len(found) > 100


@pytest.mark.parametrize(
    ("needle", "pair"),
    [(b"return 0;", (7, 8)), (b"EINVAL", (3, 5)), (b"x", (0, 0)), (b"static int", (5, 6))],
)
def test_the_rarest_two_bytes_are_where_a_search_begins(needle, pair):
    assert rarest_pair(needle) == pair


@given(st.binary(min_size=1, max_size=20))
def test_the_rarest_two_bytes_are_two_of_the_needle(needle):
    left, right = rarest_pair(needle)
    assert 0 <= left < right < len(needle) or left == right == 0 == len(needle) - 1


def test_looking_for_more_costs_more():
    assert cost([b"kmalloc"]) < cost([b"kmalloc", b"kzalloc"]) < cost([b"e", b"t"])
    assert cost([b"zq"]) < cost([b"  "])


def check_sound(rng, *, depth: int, wide: bool) -> int:
    """Hold one tree against four texts; return how many it matched with something to look for."""
    tree = trees.tree(rng, depth, wide=wide)
    needles = required(tree)
    assert len(needles) <= ALTERNATIVES_MAX
    assert all(len(needle) >= LENGTH_MIN and b"\n" not in needle for needle in needles)
    assert not any(a in b for a in needles for b in needles if a != b)
    texts = [trees.text(rng, tree) for _ in range(4 if needles else 1)]
    matched = [text for text in texts if needles and matcher.matches(tree, text)]
    for text in matched:
        assert any(needle in text for needle in needles), (tree, text, needles)
    return len(matched)


@given(trees.rngs, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=400)
def test_what_matches_has_a_required_literal_in_it(rng, depth, wide):
    check_sound(rng, depth=depth, wide=wide)


@given(trees.rngs, st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_every_short_text_that_matches_has_a_required_literal_in_it(rng, depth):
    tree = trees.tiny(rng, depth, looks=False)
    needles = required(tree)
    for text in SHORT_TEXTS if needles else []:
        held = any(needle in text for needle in needles)
        assert held or not matcher.matches(tree, text), (tree, text, needles)


@pytest.mark.slow
def test_what_matches_has_a_required_literal_in_it_a_hundred_thousand_times():
    rng = random.Random(20261121)
    checked = turn = 0
    while checked < SOUND_PAIRS:
        checked += check_sound(rng, depth=1 + turn % 4, wide=turn % 2 == 0)
        turn += 1
