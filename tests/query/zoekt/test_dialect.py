"""Texts of queries as patterns of the engine: they match what they match in Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from triseek.query.pattern import compile as compile_pattern
from triseek.query.zoekt.dialect import file_spec, pattern_spec, reads_wrong_bytes
from triseek.query.zoekt.syntax import Meta, Regexp, Repo, Substring

if TYPE_CHECKING:
    from triseek.model.search import PatternSpec

MATCHES = {
    r"\w+": ("aé1 b", ["a", "1", "b"]),
    r"\d+": ("1٣2", ["1", "2"]),
    r"a\sb": ("a\u00a0b a\nb a\vb", ["a\nb"]),
    r"\bx\b": ("éxé xy x", ["x", "x"]),
    r"^a$": ("a\na\nb", ["a", "a"]),
    r"\Aa": ("a\na", ["a"]),
    r"a\z": ("a\na", ["a"]),
    r"[^a]": ("a\nb", ["\n", "b"]),
    "a.b": ("a\nb axb", ["axb"]),
    "(?s)a.b": ("a\nb axb", ["a\nb", "axb"]),
    "(?U)a+": ("aa", ["a", "a"]),
    "(?-m)^a": ("a\na", ["a"]),
    r"\Qa.b\E+": ("a.bb axb", ["a.bb"]),
    r"\x61\x{e9}\101": ("aéA", ["aéA"]),
    r"[[:word:]]+": ("a_1-é", ["a_1"]),
    r"\pL+": ("aéσ1", ["aéσ"]),
    r"\p{^L}": ("a1", ["1"]),
    r"[^\x00-\x{10FFFF}]": ("a", []),
    r"\P{Cs}": ("a", ["a"]),
    r"\p{Cs}": ("a", []),
    "a{2}?|b{1,}": ("aaabb", ["aa", "bb"]),
    "(?i)k": ("kK\u212a", ["k", "K", "\u212a"]),
    "a{,2}": ("a{,2}", ["a{,2}"]),
    "(?P<n>a)(b)": ("ab", ["ab"]),
}


def _found(spec: PatternSpec, text: str) -> list[str]:
    data = text.encode()
    return [
        data[begin:end].decode()
        for begin, end in compile_pattern(spec).finditer(data)
        if begin < end
    ]


@pytest.mark.parametrize("pattern", MATCHES)
def test_expression_matches_as_in_go(pattern: str) -> None:
    text, expected = MATCHES[pattern]
    assert _found(pattern_spec(Regexp(pattern, case_sensitive=True)), text) == expected


def test_case_is_ignored_after_classes_are_read() -> None:
    """`[^a]` without case is neither `a` nor `A`; nor does `[^a]` become a class with `A`."""
    assert _found(pattern_spec(Regexp("[^a]", case_sensitive=False)), "aAb") == ["b"]
    assert _found(pattern_spec(Regexp(r"\W", case_sensitive=False)), "aK\u212aſ-") == ["-"]
    assert _found(pattern_spec(Regexp("[k-l]", case_sensitive=False)), "kLm") == ["k", "L"]


def test_literal_is_searched_as_such() -> None:
    spec = pattern_spec(Substring("a.b", case_sensitive=False))
    assert (spec.fixed, spec.case, spec.multiline) == (True, "insensitive", False)
    assert _found(spec, "A.b axb") == ["A.b"]
    assert _found(pattern_spec(Substring("a\0b", case_sensitive=True)), "a\0b") == ["a\0b"]
    assert _found(pattern_spec(Substring("a\nb", case_sensitive=True)), "a\nb") == ["a\nb"]


@pytest.mark.parametrize("pattern", ["a.b", "^a$", r"\bx", r"[a-z]+", r"a|b", r"(?m:$)x"])
def test_pattern_within_a_line_stays_there(pattern: str) -> None:
    assert not pattern_spec(Regexp(pattern, case_sensitive=True)).multiline


@pytest.mark.parametrize("pattern", ["[^a]", r"\s", r"a\nb", r"\Aa", r"a\z", "(?s).", r"\W", r"\D"])
def test_pattern_that_may_span_lines_is_said_to(pattern: str) -> None:
    assert pattern_spec(Regexp(pattern, case_sensitive=True)).multiline


@pytest.mark.parametrize("node", [Repo("^b$"), Meta("team", "^b$")])
def test_names_are_matched_as_one_line_with_case(node: Repo | Meta) -> None:
    spec = pattern_spec(node)
    assert spec.case == "sensitive"
    assert [bool(_found(spec, text)) for text in ("b", "B", "a\nb\nc")] == [True, False, False]


@pytest.mark.parametrize(
    "pattern", ["bad.*byte", "a.b", "a[^x]b", r"a\Wb", r"a\x{FFFD}b", "(?s)a.b"]
)
def test_wrong_bytes_are_matched_in_files(pattern: str) -> None:
    node = Regexp(pattern, case_sensitive=True)
    assert reads_wrong_bytes(node)
    texts = (b"bad \xff byte a\xe9b", b"bad\xfe\xff\xc3byte a\xffb")
    assert all(any(compile_pattern(file_spec(node)).finditer(text)) for text in texts)


@pytest.mark.parametrize("pattern", [r"\w+", "[a-z]b", "é", r"\pL"])
def test_patterns_without_wrong_bytes_stay_as_they_are(pattern: str) -> None:
    node = Regexp(pattern, case_sensitive=True)
    assert not reads_wrong_bytes(node)
    assert file_spec(node) == pattern_spec(node)
