import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.query.strategies_patterns import PORTABLE, ascii_lines, lines, patterns
from triseek.model.search import PatternSpec
from triseek.query.regex import exact
from triseek.query.regex.exact import Barren, ExactMatcher
from triseek.query.regex.parse import parse

SIMPLE_REPEATS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}")


def matcher(pattern, **options):
    return ExactMatcher(parse(PatternSpec(patterns=(pattern,), **options)).tree)


def may_be_empty(pattern: str) -> bool:
    """Whether a pattern matches nothing anywhere: at an end, or between letters and others."""
    return any(
        re.fullmatch(f"{before}(?:{pattern}){after}".encode(), f"{before}{after}".encode())
        for before, after in itertools.product(("", "a", "-"), repeat=2)
    )


def test_a_pattern_may_be_empty_where_only_a_letter_is_on_either_side():
    assert [text for text in ("a", r"\B|a", r"\b", "$", "a?", "[ab]") if may_be_empty(text)] == [
        r"\B|a", r"\b", "$", "a?",
    ]  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(patterns(tuple(PORTABLE), SIMPLE_REPEATS), ascii_lines)
def test_the_first_match_is_that_of_pythons_re(pattern, line):
    compiled = re.compile(pattern.encode())
    if not line:
        return  # Python's \B does not match the empty string before 3.14
    # Python's $ also matches before a last newline, and it ranks empty rounds of a loop in its
    # own way; neither is the same question, so only loops over what is never empty are asked.
    loops = re.findall(r"\(\?:((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)[*+{]", pattern)
    if any(map(may_be_empty, loops)):
        return
    expected = compiled.search(line)

    assert matcher(pattern).find(line) == (expected.span() if expected else None)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("a|ab", "ab", (0, 1)),
        ("ab|a", "ab", (0, 2)),
        ("a*?", "aa", (0, 0)),
        ("(?:|a)+", "aaa", (0, 0)),
        ("(?:a|)+", "aaa", (0, 3)),
        ("(?:(?:|b))*b", "bb", (0, 1)),
        (r"\b\w+\b", "-éa-", (1, 4)),
        ("[^a]", "aé", (1, 3)),
        (r"\B", "é", None),
        ("é+", "aééb", (1, 5)),
        ("x{3,5}", "xxxxxxx", (0, 5)),
        ("x{3,5}?", "xxxxxxx", (0, 3)),
        ("a$", "a\nb", (0, 1)),
    ],
)
def test_the_leftmost_first_match_is_found(pattern, text, expected):
    assert matcher(pattern, multiline=True).find(text.encode()) == expected


def test_a_character_never_matches_invalid_utf8_and_a_byte_does():
    assert matcher(".").find(b"\xff\xc3") is None
    assert matcher("(?-u:.)").find(b"\xff\xc3") == (0, 1)
    assert matcher("(?-u:[\\x80-\\xFF]+)").find("aé日".encode()) == (1, 6)


def test_what_stands_before_the_offset_is_seen_but_not_matched():
    boundary = matcher(r"\bb")

    assert boundary.find(b"ab b", 1) == (3, 4)
    assert matcher("^b").find(b"ab", 1) is None
    assert matcher("a*").find(b"aaa", 1) == (1, 3)


@pytest.mark.parametrize("pattern", ["(?:a|a)*b", "(?:a*)*b", "(?:a|aa)+$b", "(?:a?){30}a{30}b"])
def test_no_pattern_makes_it_blow_up(pattern):
    started = time.perf_counter()

    assert matcher(pattern).find(b"a" * 5000) is None
    assert time.perf_counter() - started < 20  # backtracking would not end this year


def test_states_that_were_dropped_are_built_again(monkeypatch):
    line = ("ab" * 40 + "é").encode()
    expected = matcher(r"[ab]{10}\b|[^a]{3}|b.{8}é").find(line)
    monkeypatch.setattr(exact, "_STATES_MAX", 3)

    assert matcher(r"[ab]{10}\b|[^a]{3}|b.{8}é").find(line) == expected == (71, 82)


def every_match(find, text):
    """Return the matches of a text, found one by one."""
    at, found = 0, []
    while at <= len(text) and (match := find(text, at)):
        found.append(match)
        at = max(match[1], match[0] + 1)
    return found


@pytest.fixture
def every_place_is_marked(monkeypatch):
    monkeypatch.setattr(exact, "_MARK_MASK", 0)


@pytest.mark.usefixtures("every_place_is_marked")
@settings(max_examples=400, deadline=None)
@given(patterns(), st.lists(lines, min_size=1, max_size=6).map(b"\n".join), st.booleans())
def test_what_earlier_searches_have_found_out_changes_no_match(pattern, text, few_states):
    node = parse(PatternSpec(patterns=(f"(?s:.*?)k{pattern}|{pattern}",), multiline=True)).tree
    matcher, barren = ExactMatcher(node), Barren()
    with pytest.MonkeyPatch.context() as patch:
        if few_states:
            patch.setattr(exact, "_STATES_MAX", 3)

        with_it = every_match(lambda text, at: matcher.find(text, at, (), barren), text)

        assert with_it == every_match(matcher.find, text)


class CountedReads(bytes):
    """A text that counts how often a byte of it is read."""

    reads = 0

    def __getitem__(self, key):
        self.reads += 1
        return super().__getitem__(key)


def test_searches_one_after_another_read_a_text_in_proportion_to_its_size():
    def reads(size):
        text = CountedReads(b"a\n" * size)
        pattern, barren = matcher("(?s:.*?)k|a"), Barren()
        found = every_match(lambda text, at: pattern.find(text, at, (), barren), text)
        assert len(found) == size
        return text.reads

    assert reads(4000) < 3 * reads(2000)
