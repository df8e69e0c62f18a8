import pytest

from triseek.model.search import PatternSpec
from triseek.query.pattern import Pattern


def pattern(*texts, **options):
    return Pattern(PatternSpec(patterns=texts, **options))


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("foo",), (b"foo",)),
        (("foo", "b.r"), ()),
        (("foo|bar",), (b"foo", b"bar")),
        (("foo(?:aa|b)c",), (b"fooaac", b"foobc")),
        (("foo[ab]",), ()),
        (("é",), ("é".encode(),)),
        ((r"(?-u:\xFF)",), (b"\xff",)),
        (("",), ()),
        (("a|",), ()),
        (("^a",), ()),
        (("a?",), ()),
        (("(?i)1",), (b"1",)),
    ],
)
def test_literals_are_all_that_a_pattern_can_match(texts, expected):
    assert pattern(*texts).literals == expected


def test_word_literals_have_nothing_but_boundaries_around_them():
    assert pattern("foo", "bar", word=True).word_literals == (b"foo", b"bar")
    assert pattern(r"\bfoo\b").word_literals == (b"foo",)
    assert pattern(r"\<foo\>").word_literals == (b"foo",)
    assert pattern("->", word=True).word_literals == (b"->",)
    assert pattern(r"\b->\b").word_literals == ()  # these ask for a word on the other side
    assert pattern(r"\bfoo").word_literals == ()
    assert pattern("^foo$").word_literals == ()


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("Foo_1", {"case": "insensitive"}, b"foo_1"),
        ("task", {"case": "insensitive"}, b"task"),
        ("task", {"case": "insensitive", "unicode": False}, b"task"),
        ("foo", {"case": "smart"}, b"foo"),
        ("foo", {}, None),
        ("Foo", {"case": "smart"}, None),
        ("é", {"case": "insensitive"}, None),
        ("f.o", {"case": "insensitive"}, None),
        ("123", {"case": "insensitive"}, None),
        ("(?i)fo(?-i)o", {}, None),
    ],
)
def test_a_folded_literal_is_one_text_in_any_case(text, options, expected):
    assert pattern(text, **options).folded_literal == expected
