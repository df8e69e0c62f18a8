import pytest

from triseek.model.search import PatternSpec
from triseek.query.dialect import zero_hit_advice
from triseek.query.parse import parse


def readings(pattern, **options):
    advice = zero_hit_advice(PatternSpec(patterns=(pattern,), **options))
    return [one.alternative for one in advice]


@pytest.mark.parametrize(
    ("pattern", "other"),
    [
        (r"foo\|bar", "foo|bar"),
        (r"\(foo\|bar\)(x)", r"(foo|bar)\(x\)"),
        (r"x\{2,3\}", "x{2,3}"),
        (r"\s\+=", r"\s+="),
        (r"\<div\>", "<div>"),
        (r"foo\\.bar\\(", r"foo\.bar\("),
        (r"\\w+\\s", r"\w+\s"),
        ("[:alpha:]+", "[[:alpha:]]+"),
    ],
)
def test_a_habit_of_another_dialect_gets_its_own_reading_first(pattern, other):
    assert readings(pattern)[0] == PatternSpec(patterns=(other,))


@pytest.mark.parametrize("pattern", ["foo(bar)", "arr[0]", "a.b", "i++", "a|b", "x{1}"])
def test_what_may_be_plain_text_is_offered_as_text(pattern):
    assert PatternSpec(patterns=(pattern,), fixed=True) in readings(pattern)


@pytest.mark.parametrize("pattern", ["foo", r"\w+", "foo.*bar", r"\bfoo\b"])
def test_a_pattern_without_habits_gets_no_advice(pattern):
    assert readings(pattern) == []


def test_other_modes_are_offered_where_they_would_matter():
    assert readings("(?s)a.*b") == [PatternSpec(patterns=("(?s)a.*b",), multiline=True)]
    assert PatternSpec(patterns=(r"\w+;$",), crlf=True) in readings(r"\w+;$")
    assert readings("a.*b", fixed=True) == [PatternSpec(patterns=("a.*b",))]
    assert readings("foo", fixed=True) == []


def test_every_alternative_can_be_parsed_and_means_something_else():
    for pattern in (r"a\|", r"\(", r"a\{x\}", r"\<\|", "[[:alpha:]]", r"\\\\."):
        spec = PatternSpec(patterns=(pattern,))
        for advice in zero_hit_advice(spec):
            assert parse(advice.alternative).tree != parse(spec).tree
            assert "\n" not in advice.text
