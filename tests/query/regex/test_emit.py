import pytest

from triseek.model.search import PatternSpec
from triseek.query.regex.emit import UnsayableError, pattern_text, re2_find
from triseek.query.regex.parse import parse


def tree(pattern, **options):
    return parse(PatternSpec(patterns=(pattern,), **options)).tree


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("ab", rb"\x61\x62"),
        ("a|bc", rb"(?:\x61|\x62\x63)"),
        ("[a-c]+?", rb"(?:[\x61-\x63])+?"),
        ("a{2,3}", rb"(?:\x61){2,3}"),
        ("é", None),
        ("aé|b", rb"\x62"),
        ("a(?:é)?", rb"\x61(?:)"),
        (r"\bab", rb"\b\x61\x62"),
        (r"\<ab\>", rb"\b\x61\x62\b"),
        (r"\<-", None),
        (r"-\<a", rb"\x2d\b\x61"),
        (r"a\b{end-half}-", rb"\x61\b\x2d"),
        ("^a$", rb"(?m:^)\x61(?m:$)"),
    ],
)
def test_for_ascii_texts_boundaries_become_plain_ones_and_the_rest_falls_away(pattern, expected):
    assert pattern_text(tree(pattern), "ascii") == expected


def test_words_between_half_boundaries_are_sayable_where_their_ends_are_of_one_kind():
    assert pattern_text(tree("ab", word=True), "ascii") == rb"\b\x61\x62\b"
    assert pattern_text(tree("-b", word=True), "ascii") == rb"\B\x2d\x62\b"
    with pytest.raises(UnsayableError):
        pattern_text(tree(".b", word=True), "ascii")


def test_a_character_is_spelled_in_utf8_for_other_texts():
    assert pattern_text(tree("é"), "exact") == rb"\xc3\xa9"
    assert pattern_text(tree("[é-Ā]"), "exact") == rb"(?:\xc3[\xa9-\xbf]|\xc4\x80)"


@pytest.mark.parametrize("pattern", [r"\bab", r"(?R)a$", r"\b{start-half}."])
def test_what_re2_cannot_say_of_all_texts_is_left_to_the_exact_backend(pattern):
    assert re2_find(tree(pattern), "exact") is None
    assert re2_find(tree(pattern), "superset") is not None


def test_long_repetitions_are_said_in_thousands():
    find = re2_find(tree("a{1500,2500}"), "ascii")

    assert find(b"a" * 1499, 0) is None
    assert find(b"a" * 3000, 0) == (0, 2500)
    assert re2_find(tree("a{1500,}?"), "ascii")(b"a" * 3000, 0) == (0, 1500)
    assert re2_find(tree("(?:a{40}b){40}"), "ascii") is None
