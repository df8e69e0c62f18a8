import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle import automaton as oracle
from tests.oracle import trees
from triseek.kernels import automaton
from triseek.kernels.formats import LineHits
from triseek.query.regex.automaton import build

WORD = trees.Chars(((48, 57), (65, 90), (95, 95), (97, 122)))
EDGE = trees.Assertion("word")
START, END = trees.Assertion("line_start"), trees.Assertion("line_end")
PATTERNS = {
    "word": (trees.Concat((EDGE, trees.literal("ab"), EDGE)), rb"\bab\b"),
    "run": (trees.Repeat(WORD, 5, None), rb"[0-9A-Z_a-z]{5,}"),
    "ends": (trees.Concat((trees.literal("b"), END)), rb"b\Z"),
    "begins": (trees.Concat((START, trees.literal("a"))), rb"\Aa"),
    "empty line": (trees.Concat((START, END)), rb"\A\Z"),
    "every line": (trees.Repeat(trees.literal("a"), 0, None), rb"a*"),
    "never": (trees.Chars(()), rb"(?!)"),
}  # fmt: skip


def scanned(dfa, text: bytes, *, begin=0, room=None):
    """All rows of `match_lines`, in calls of `room` rows."""
    room = room or len(text) + 1
    column = np.frombuffer(text, np.uint8)
    hits = LineHits(np.empty(room, np.uint64), np.empty(room, np.uint64), np.empty(room, np.uint8))
    cursor = np.array([begin], np.uint64)
    rows = []
    while True:
        count = automaton.match_lines(column, int(cursor[0]), len(text), dfa, hits, cursor)
        found = zip(*(values[:count] for values in hits), strict=True)
        rows += [tuple(map(int, row)) for row in found]
        if int(cursor[0]) == len(text):
            return rows
        assert count == room


def random_text(rng, size: int, *, line: int, alphabet: bytes) -> bytes:
    """Lines of up to `line` bytes, at least `size` in all, the last one now and then unended."""
    lines, missing = [], size
    while missing > 0:
        lines.append(bytes(rng.choices(alphabet, k=rng.randrange(line))))
        missing -= len(lines[-1]) + 1
    return b"\n".join(lines) + b"\n" * rng.randrange(2)


SIZES = st.sampled_from([0, 1, 20, 300, 1030, 2100, 5000])
ALPHABETS = st.sampled_from([b"ab_ ", b"ab    -", b"ab\xc3 ", b"aaaaaaaab ", b" -.;"])


@pytest.mark.parametrize("name", PATTERNS)
@given(trees.rngs, SIZES, st.sampled_from([2, 9, 40, 700]), ALPHABETS)
@settings(deadline=None, max_examples=25)
def test_lines_are_found_as_the_oracle_and_re_find_them(name, rng, size, line, alphabet):
    tree, pattern = PATTERNS[name]
    dfa = build(tree)
    text = random_text(rng, size, line=line, alphabet=alphabet)

    rows = scanned(dfa, text)

    assert rows == oracle.match_lines(dfa, text)
    if text.isascii() or name != "word":  # a pattern of ASCII alone is never in doubt
        found = re.compile(pattern, re.ASCII)
        lines = (match.span() for match in re.finditer(rb"[^\n]*\n|[^\n]+", text))
        wanted = [(a, b, 1) for a, b in lines if found.search(text[a:b].removesuffix(b"\n"))]
        assert rows == wanted


@given(trees.rngs, st.integers(1, 4), st.integers(1, 40), ALPHABETS)
@settings(deadline=None, max_examples=60)
def test_a_full_output_goes_on_where_it_stopped(rng, depth, room, alphabet):
    dfa = build(trees.tree(rng, depth))
    text = random_text(rng, 1500, line=30, alphabet=alphabet)
    if dfa is not None:
        assert scanned(dfa, text, room=room) == oracle.match_lines(dfa, text)


@given(trees.rngs, st.integers(1, 3))
@settings(deadline=None, max_examples=60)
def test_a_line_alone_gets_the_same_verdict(rng, depth):
    tree = trees.tree(rng, depth, wide=True)
    dfa = build(tree)
    if dfa is None:
        return
    line = trees.text(rng, tree).replace(b"\n", b" ")
    text = np.frombuffer(b"ab\n" + line + b"\nab", np.uint8)
    wanted = oracle.verdict(dfa, line)
    assert automaton.line_matches(text, 3, 3 + len(line), dfa) == wanted
    assert automaton.line_matches(text, 3, 4 + len(line), dfa) == wanted


def test_scanning_begins_where_it_is_told_to():
    dfa = build(PATTERNS["run"][0])
    text = b"first_line\nsecond_line\nno\n"
    assert scanned(dfa, text, begin=11) == [(11, 23, 1)]


def test_lanes_of_uneven_lines_lose_nothing():
    """One very long line among short ones makes lanes of very different lengths."""
    rng = random.Random(5)
    dfa = build(PATTERNS["word"][0])
    for _ in range(20):
        parts = [random_text(rng, rng.randrange(3000), line=30, alphabet=b"ab  ") for _ in range(3)]
        parts.insert(rng.randrange(3), b"-" * rng.randrange(6000) + b" ab\n")
        text = b"".join(parts)
        assert scanned(dfa, text) == oracle.match_lines(dfa, text)


@pytest.mark.parametrize("name", PATTERNS)
def test_many_chunks_of_lanes_lose_nothing(name):
    """Long lines beside empty ones: lanes drift apart, and have a hit at nearly every byte."""
    rng = random.Random(7)
    dfa = build(PATTERNS[name][0])
    for line in (2, 60, 3000):
        text = random_text(rng, 70_000, line=line, alphabet=b"ab -")
        text += b"\n" * 9000 + b"a" * 3000 + b"\n" * 30_000
        assert scanned(dfa, text) == oracle.match_lines(dfa, text)


def test_a_last_line_without_newline_is_decided_once():
    """A bug found by Hypothesis: its end was taken for the end of an empty line as well."""
    dfa = build(PATTERNS["empty line"][0])
    assert scanned(dfa, b"ab\xc3b") == []
    assert scanned(build(PATTERNS["word"][0]), b"ab\xc3b") == [(0, 4, 2)]
    assert scanned(build(PATTERNS["ends"][0]), b"b\nab") == [(0, 2, 1), (2, 4, 1)]


def test_read_only_text_is_taken():
    text = np.frombuffer(b"abcde\n", np.uint8)
    assert not text.flags.writeable
    assert scanned(build(PATTERNS["run"][0]), text.tobytes()) == [(0, 6, 1)]
