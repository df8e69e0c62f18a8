"""The expression for Go matches every text of which a line matches the pattern."""

from __future__ import annotations

import re
from random import Random

import pytest

from tests.fuzz.contents import make_content, text_of
from tests.fuzz.patterns import PatternMaker
from triseek.errors import InvalidQuery
from triseek.files.tree import text
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern
from triseek.query.regex.go import SIZE_MAX, in_any_case, literal, wider

CASES = 600


def _wider(*patterns, **options):
    return wider(compile_pattern(PatternSpec(patterns=patterns, **options)).tree)


def _lower(char):
    """A character as Go's `unicode.ToLower` has it."""
    return char.lower() if len(char.lower()) == 1 else char


def _as_python(expression):
    """The same expression in Python's words, for text in which broken bytes are U+FFFD."""
    return re.compile(
        re.sub(r"\\x\{([0-9A-F]+)\}", lambda m: re.escape(chr(int(m[1], 16))), expression)
    )


@pytest.mark.parametrize(
    ("pattern", "options", "expression"),
    [
        ("foo", {}, "foo"),
        ("foo.bar", {"fixed": True}, r"foo\x{2E}bar"),
        ("é", {}, r"\x{E9}"),
        (r"\bfoo\b", {}, "foo"),
        ("x*", {}, ""),
        ("", {}, ""),
        (r"(?-u:\xff)", {}, ""),
        ("Oo", {"case": "insensitive"}, r"[Oo][Oo]\x{0}?"),
        ("^a$", {}, r"(?m:^)\x{FEFF}?a(?m:$)"),
        ("a$", {"crlf": True}, "a"),
        ("(?:ab|c){2,3}", {}, "(?:(?:ab|c)){2,3}"),
        ("(?:a{40}){40}", {}, "(?:(?:a){40,40})+"),
    ],
)
def test_what_go_says_otherwise_is_left_out_or_widened(pattern, options, expression):
    assert _wider(pattern, **options) == expression


def test_a_large_expression_stands_for_every_file():
    assert _wider(*(f"word{n}" * 10 for n in range(SIZE_MAX // 40)), fixed=True) == ""


@pytest.mark.parametrize(
    ("pattern", "options", "texts"),
    [
        ("Main", {}, ("main",)),
        ("task", {}, ("task", "ta\u017fk")),
        ("task", {"unicode": False}, ("task",)),
        ("main|int", {"word": True}, ("main", "int")),
        ("ma", {}, ()),
        ("straße", {}, ()),
        ("ma[ix]n", {}, ()),
        ("main+", {}, ()),
        ("ssssssss", {}, ()),
    ],
)
def test_texts_in_any_case(pattern, options, texts):
    spec = PatternSpec(patterns=(pattern,), case="insensitive", **options)
    assert in_any_case(compile_pattern(spec).tree) == texts


def test_a_literal_has_no_character_that_a_query_reads():
    assert not set(' "()') & set(literal('a b("x") é'))
    assert _as_python(literal('a.b("x") -é')).fullmatch('a.b("x") -é')


def test_a_text_with_a_matching_line_matches_whole():
    random, matched = Random(20), 0
    for _ in range(CASES):
        content = make_content(random)
        maker = PatternMaker(random, [text_of(content)])
        multiline = random.random() < 0.2
        spec = PatternSpec(
            patterns=(maker.make(multiline=multiline),),
            multiline=multiline,
            case=random.choice(["sensitive", "insensitive"]),
            crlf=random.random() < 0.2,
            word=random.random() < 0.2,
            line=random.random() < 0.1,
        )
        try:
            pattern = compile_pattern(spec)
        except InvalidQuery:
            continue
        decoded = text.decode_all(content)
        if b"\0" in content or decoded.encoding.startswith("utf-16"):
            continue  # Zoekt does not search these
        lines = [decoded.data] if multiline else decoded.data.split(b"\n")
        if not any(pattern.matches(line) for line in lines):
            continue
        matched += 1
        shown = content.decode("utf-8", "replace")
        assert _as_python(wider(pattern.tree)).search(shown), (spec, content)
        texts, lowered = in_any_case(pattern.tree), "".join(map(_lower, shown))
        assert not texts or any("".join(map(_lower, each)) in lowered for each in texts)
    assert matched > CASES // 5
