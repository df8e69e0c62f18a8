"""Go's own regexp, asked the same patterns: what it refuses, and where it matches."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.zoekt_parity import go_matches
from triseek.engine.repositories.atoms import Atom
from triseek.errors import InvalidQuery
from triseek.query.zoekt import go_regexp
from triseek.query.zoekt.syntax import Regexp, Repo

pytestmark = pytest.mark.long

TEXTS = [
    *(
        b"",
        b"a",
        b"aa",
        b"abc",
        b"ABC abc",
        b"foo bar\nfoo_bar\n",
        b"\n\n",
        b"x1 -2.5\r\n y\tz\v\f",
    ),
    *("é É σ ς Σ ſ K k S".encode(), "日本語 ß ẞ ǅ ǆ".encode(), b"(a) [b] {c} \\ | ^ $ . * + ?"),
    *(b"a.b(x)\0y", b"aab\nbba\nab", "\u00a0\u2028\u0301x".encode(), b"_ab_ 9ab9 ab"),
    *(b"a\xffb\n\xe9\xe9 a", b"\xc3\xa9\xc3 a\xe2\x82b", b"\x80a\xed\xa0\x80"),
]
PIECES = (
    *("a", "b", "B", "ab", ".", "^", "$", "|", "(", ")", "(?:", "(?i)", "(?i:", "(?s)", "(?s:.)"),
    *("(?-m)", "(?m:^)", "(?U)", "*", "+", "?", "*?", "{2}", "{1,2}", "{0}", "{,2}", "{2,1}", "x"),
    *(r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", r"\A", r"\z", r"\n", r"\x61", r"\0"),
    *(r"\x{e9}", r"\pL", r"\PL", r"\p{Greek}", r"\p{^Lu}", r"\p{Ll}", r"\Qa.\E", r"\.", r"\-"),
    *("[ab]", "[^a]", "[a-c]", r"[^\n]", r"[\w-]", "[[:alpha:]]", "[[:^space:]]", "[]a]", "[^]a]"),
    *("[k-s]", r"[^\x00-\x{10FFFF}]", r"[\s\S]", "[A-Z]", "k", "σ", "é", "ß", r"[\pL\d]", "]", "{"),
    *(r"\12", r"\8", r"\pX", r"\C", "[b-a]", "[", "(?P<n>", "(?<m>", "(?x)", r"\E", " ", "_", "-"),
)
KINDS = ((False, False), (False, False), (True, False), (True, False), (False, True))
"""Whether case is ignored, and whether `^` is the text's start: names of repositories."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Any:
    built = go_matches.build(tmp_path_factory.mktemp("go"))
    if built is None:
        pytest.skip("Go is not installed; this test compares with its package regexp")
    return built


@pytest.mark.parametrize("count", [500, pytest.param(8000, marks=pytest.mark.slow)])
def test_random_patterns_mean_what_go_says(program: Any, count: int) -> None:
    random = Random(count)
    asks = [
        ("".join(random.choices(PIECES, k=random.randint(1, 6))), *random.choice(KINDS))
        for _ in range(count)
    ]
    refused = 0
    for (pattern, ignore_case, one_line), expected in zip(
        asks, go_matches.ask(program, asks, TEXTS), strict=True
    ):
        actual = _matches(pattern, ignore_case, one_line)
        assert actual == _full(expected), (pattern, ignore_case, one_line)
        refused += isinstance(expected, str)
    assert count // 10 < refused < count


def _full(answer: Any) -> Any:
    """Return, for each text, whether it matches at all, and the matches that are not empty."""
    if isinstance(answer, str):
        return answer
    return [(bool(spans), [span for span in spans if span[0] < span[1]]) for spans in answer]


def _matches(pattern: str, ignore_case: bool, one_line: bool) -> Any:
    try:
        go_regexp.parse(pattern, one_line=one_line)
    except InvalidQuery as error:
        return error.message
    node = Repo(pattern) if one_line else Regexp(pattern, case_sensitive=not ignore_case)
    atom = Atom(node)
    for text in TEXTS:  # so that no search of the engine leaves the file out
        assert not atom.holds(text) or any(atom.pattern.finditer(text)), (pattern, text)
    return [(atom.holds(text), atom.spans(text)) for text in TEXTS]
