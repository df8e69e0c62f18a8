import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import automaton as oracle
from tests.oracle import matcher, trees
from triseek.model.search import PatternSpec
from triseek.query.regex.automaton import MATCH, STATES_MAX, build
from triseek.query.regex.parse import parse
from triseek.query.regex.syntax import Alternate, Assertion, Bytes, Chars, Concat, Empty, Repeat

WORD = Chars(((48, 57), (65, 90), (95, 95), (97, 122)))
LETTER = Chars(((65, 90), (95, 95), (97, 122)))
SOUND_PAIRS = 100_000


def dfa_of(pattern: str):
    return build(parse(PatternSpec(patterns=(pattern,))).tree)


SHORT_LINES = [trees.every_text(b"ab", 6), trees.every_text(b"ab ", 4)]

PATTERNS = [
    "foo", "a*", "^$", "^foo", "foo$", "^foo$", r"\bfoo\b", r"\Bfoo", r"foo\B", r"\bo",
    r"\<foo\>", r"\b{start-half}foo\b{end-half}", "(?i)foo", "fo+", "f.o", "foo|bar", "[^a-z]foo",
    r"\w{3}", r"\d+\.\d+", r"^\s*foo", r"foo\s*$", r"(?:foo|ba)\b", r"\bfoo|bar\b", "o{2,3}",
    r"\b", r"\B", r"^\b", r"\b$", "(?:^|x)foo", "foo(?:$|x)", r"[A-Za-z_][A-Za-z0-9_]{5,}",
    r"(?:\d{1,3}\.){3}\d{1,3}", "(?:)", r"(?:fo\b|foo\B)", "x{0}", r"f(?:\b|o)o",
]  # fmt: skip
LINES = [
    "", "f", "fo", "foo", " foo", "foo ", "xfoo", "foox", "a foo b", "bar", "xbar", "fo.o", "FOO",
    "127.0.0.1", "1.5", "   ", "\t foo \r", "identifier_1", "1identifier", "short", "foo.bar",
    "f\x00o", "_foo_", "fooooo", "ffoo", "fofoo",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_line_of_ascii_gets_the_answer_re_gives(pattern):
    spelled = pattern.replace(r"\<", r"\b(?=\w)").replace(r"\>", r"\b(?<=\w)")
    spelled = spelled.replace(r"\b{start-half}", r"(?<!\w)").replace(r"\b{end-half}", r"(?!\w)")
    spelled = spelled.replace(r"\B", r"(?:(?<=\w)(?=\w)|(?<!\w)(?!\w))").replace("$", r"\Z")
    dfa = dfa_of(pattern)
    said = {line: oracle.verdict(dfa, line.encode()) for line in LINES}
    assert said == {line: int(bool(re.search(spelled, line, re.ASCII))) for line in LINES}


def test_a_byte_beyond_ascii_makes_a_line_uncertain_unless_it_matched_before():
    dfa = dfa_of(r"foo\b")
    assert oracle.verdict(dfa, "é foo".encode()) == 2
    assert oracle.verdict(dfa, "fooé".encode()) == 2  # é is a word character
    assert oracle.verdict(dfa, "foo é".encode()) == 1
    assert oracle.verdict(dfa, b"foo \xff") == 1


def test_what_only_bytes_beyond_ascii_can_match_is_uncertain_there_and_absent_elsewhere():
    dfa = build(Concat((Bytes(((0x61, 0x61),)), Chars(((0xE9, 0xE9),)))))
    assert oracle.verdict(dfa, b"aaa") == 0
    assert oracle.verdict(dfa, "aé".encode()) == 2


ASCII_ALONE = [
    "foo", "^$", "^foo", "foo$", "^foo$", "fo+", "foo|bar", "o{2,3}", "[a-f]{2}o", "(?:^|x)foo",
    "foo(?:$|x)", r"[A-Za-z_][A-Za-z0-9_]{5,}", r"(?-u:\d)+[.](?-u:\d)+", "x{0}y?z",
]  # fmt: skip


@pytest.mark.parametrize("pattern", ASCII_ALONE)
@given(st.lists(st.sampled_from([*LINES, "é", "\xad", "日本", "fo", "ob"]), max_size=5), st.data())
@settings(deadline=None, max_examples=40)
def test_a_pattern_of_ascii_alone_is_certain_on_any_line(pattern, pieces, data):
    line = "".join(pieces).encode()
    if line and data.draw(st.booleans()):
        line = line[: data.draw(st.integers(0, len(line)))]  # may cut a character
    spelled = pattern.replace("(?-u:", "(?:").replace("$", r"\Z").encode()
    assert oracle.verdict(dfa_of(pattern), line) == int(bool(re.search(spelled, line)))


@pytest.mark.parametrize("kind", ["text_start", "text_end"])
def test_the_ends_of_the_text_are_not_a_lines_business(kind):
    assert build(Alternate((Assertion(kind), trees.literal("foo")))) is None


def test_a_pattern_that_matches_emptily_matches_every_line():
    assert dfa_of("a*").start == MATCH


def test_a_pattern_that_cannot_match_does_not():
    for tree in (Chars(()), Alternate(()), Repeat(Alternate(()), 1, None)):
        assert oracle.verdict(build(tree), b"anything") == 0


def test_an_assertion_behind_another_knows_what_stands_before():
    """A bug the long run found: the state at the line's beginning forgot that it was there."""
    ends_begins = Concat((Assertion("line_end"), Assertion("line_start")))
    assert oracle.verdict(build(ends_begins), b"") == 1
    assert oracle.verdict(build(ends_begins), b"a") == 0
    after_word = Concat((Assertion("line_end"), Assertion("word_end")))
    assert [oracle.verdict(build(after_word), line) for line in (b"", b"a", b"-")] == [0, 1, 0]


def test_automata_keep_within_bounds():
    ab, a, c = Chars(((97, 98),)), Chars(((97, 97),)), Chars(((99, 99),))
    large = [Concat((Repeat(ab, 0, None), a, Repeat(ab, n, n), c)) for n in (14, 40, 1900)]
    large += [Repeat(a, 3000, 3000), Repeat(Repeat(Repeat(a, 0, 99), 0, 99), 0, 99)]
    large += [Alternate(tuple(trees.literal(f"w{n:04}d") for n in range(2000)))]
    assert [build(tree) for tree in large] == [None] * len(large)


def test_a_long_identifier_needs_few_states():
    """Without domination each subset of the ten places would be a state."""
    dfa = build(Concat((LETTER, Repeat(WORD, 10, None))))
    assert len(dfa.eol_accept) < 20
    assert oracle.verdict(dfa, b"1 2abcdefghij") == 0
    assert oracle.verdict(dfa, b"1 2abcdefghijk") == 1


def test_usual_patterns_have_small_tables():
    for pattern in PATTERNS:
        dfa = dfa_of(pattern)
        assert len(dfa.eol_accept) <= min(60, STATES_MAX)
        assert dfa.table.size == len(dfa.eol_accept) * len(set(dfa.offsets.tolist()))


def test_the_deepest_pattern_is_no_trouble():
    tree = trees.literal("abc")
    for _ in range(1000):
        tree = Repeat(Alternate((Concat((tree, Empty())), Empty())), 1, 1)
    dfa = build(tree)
    assert dfa is None or oracle.verdict(dfa, b"") == 1


def check_exact(rng, *, depth: int, wide: bool, with_re: bool = True) -> int:
    """Hold one tree against lines; return how many were decided."""
    tree = trees.tree(rng, depth, wide=wide)
    dfa = build(tree)
    if dfa is None:
        return 0
    lines = [line for _ in range(3) for line in trees.text(rng, tree).split(b"\n")]
    decided = 0
    for line in lines:
        said = oracle.verdict(dfa, line)
        if said == 2:
            assert not line.isascii()
            continue
        decided += 1
        assert said == matcher.matches(tree, line), (tree, line)
        if with_re and line.isascii() and trees.is_backtrackable(tree):
            found = re.search(trees.to_python(tree).encode(), line)
            assert said == bool(found), (tree, line)
    return decided


@given(trees.rngs, st.integers(1, 4), st.booleans())
@settings(deadline=None, max_examples=400)
def test_any_line_gets_the_answer_of_the_matcher_and_of_re(rng, depth, wide):
    check_exact(rng, depth=depth, wide=wide)


@given(trees.rngs, st.integers(1, 3), st.booleans())
@settings(deadline=None, max_examples=100)
def test_every_short_line_gets_the_answer_of_the_matcher(rng, depth, looks):
    tree = trees.tiny(rng, depth, looks=looks)
    dfa = build(tree)
    for line in SHORT_LINES[looks]:
        assert oracle.verdict(dfa, line) == matcher.matches(tree, line), (tree, line)


@pytest.mark.slow
def test_any_line_gets_the_answer_of_the_matcher_a_hundred_thousand_times():
    rng = random.Random(20261121)
    decided = turn = 0
    while decided < SOUND_PAIRS:
        decided += check_exact(rng, depth=1 + turn % 4, wide=turn % 4 == 0, with_re=False)
        turn += 1
