import re

import pytest
from hypothesis import given, settings

from tests.query.strategies_patterns import PORTABLE, ascii_lines, lines, patterns
from triseek.model.search import PatternSpec
from triseek.query.pattern import Pattern
from triseek.query.regex.captures import Captures

SIMPLE_REPEATS = ("?", "??", "{2}", "{1,2}", "{0}")


def captures(pattern, **options):
    return Captures(PatternSpec(patterns=(pattern,), **options))


def simulated(found, text, begin, end):
    """What is found without RE2."""
    found.__dict__["_re2_ascii"] = found.__dict__["_re2_any"] = None
    return found.groups(text, begin, end)


def capturing(pattern):
    """The pattern with its groups capturing."""
    return pattern.replace("(?:", "(")


@settings(max_examples=400, deadline=None)
@given(patterns(tuple(PORTABLE), SIMPLE_REPEATS).map(capturing), ascii_lines)
def test_groups_are_those_of_pythons_re(pattern, line):
    found = re.compile(pattern.encode()).search(line) if line else None
    if found is None:
        return
    begin, end = found.span()
    expected = [found.span(number) for number in range(found.re.groups + 1)]

    groups = simulated(captures(pattern), line, begin, end)
    missing = [(-1, -1)] * (len(expected) - len(groups))  # groups of what is repeated 0 times
    assert groups + missing == expected


@settings(max_examples=400, deadline=None)
@given(patterns().map(capturing), lines)
def test_both_ways_find_the_same_groups(pattern, line):
    spec = PatternSpec(patterns=(pattern,))
    for begin, end in Pattern(spec).finditer(line):
        found = Captures(spec).groups(line, begin, end)
        assert found[0] == (begin, end)
        assert found == simulated(Captures(spec), line, begin, end)


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("(?:(a)|b)*", "ab", [(0, 2), (0, 1)]),
        ("(a*)*", "aa", [(0, 2), (0, 2)]),
        ("(a|ab)(c|bcd)?", "abcd", [(0, 4), (0, 1), (1, 4)]),
        (r"(\w)(\W)?", "é", [(0, 2), (0, 2), (-1, -1)]),
        (r"\b(é)\b", "é", [(0, 2), (0, 2)]),
    ],
)
def test_groups_of_the_preferred_match_are_found(pattern, text, expected):
    line = text.encode()
    for find in (Captures.groups, simulated):
        assert find(captures(pattern), line, *expected[0]) == expected


def test_names_and_numbers_count_through_all_patterns():
    found = Captures(PatternSpec(patterns=("(?P<one>a)(b)?", "(c)(?<last>d)")))
    assert found.names == {"one": 1, "last": 4}
    assert found.groups(b"cd", 0, 2) == [(0, 2), (-1, -1), (-1, -1), (0, 1), (1, 2)]


def test_a_long_match_takes_time_in_its_length():
    found = captures(r"((\w|é)*)é")
    text = "wé".encode() * 500
    assert simulated(found, text, 0, len(text))[1] == (0, len(text) - 2)
