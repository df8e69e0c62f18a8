"""The real Zoekt, asked the same queries: what it refuses and why, and how it reads the others."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from tests.query.zoekt.test_parse import ACCEPTED, REFUSED
from tests.zoekt_parity import queries, server
from tests.zoekt_parity.form import form_of, without_regexps
from triseek.errors import InvalidQuery
from triseek.query.pattern import compile as compile_pattern
from triseek.query.zoekt.dialect import pattern_spec
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import Regexp
from triseek.query.zoekt.text import text_of

if TYPE_CHECKING:
    from tests.zoekt_parity.conftest import Served
    from triseek.query.zoekt.syntax import Node

pytestmark = pytest.mark.long

SAMPLE = [
    *(
        b"alpha Alpha ALPHA",
        b"foo bar Foo BAR",
        b"a",
        b"aa bb B",
        b"",
        b"x1 _y-2.5",
        b"(a) [b] {c}",
    ),
    *(
        "é É σ ς Σ ǅ".encode(),
        b"\\ | ^ $ . * + ?",
        b"\xff\xfe",
        b"line one\nline two\n\n three\r\n",
    ),
]
NOBODYS = "applies to a whole list and cannot be negated"
"""What we refuse and Zoekt does not, though its search then fails."""


def test_vectors_are_zoekts(served: Served) -> None:
    """The expectations of the fast tests hold for the real server."""
    for query, expected in ACCEPTED.items():
        form = server.form(served.url, query) if query else None
        if form is not None:
            assert without_regexps(form)[0] == without_regexps(expected)[0], query
    for query, message in REFUSED.items():
        assert _refusal(served.url, query) == message, query


@pytest.mark.parametrize("count", [90, pytest.param(2000, marks=pytest.mark.slow)])
def test_scraps_are_read_alike(served: Served, count: int) -> None:
    random = Random(count)
    texts = queries.scraps(random, count) + queries.searches(random, count // 3)
    refused = sum(_read_alike(served.url, text) for text in texts)
    assert count // 4 < refused < count


def _read_alike(url: str, query: str) -> bool:
    """Compare one query; return whether it is refused."""
    if not query.strip(" \t"):
        return False
    tree = _parsed(query)
    if isinstance(tree, InvalidQuery):
        assert NOBODYS in tree.message or tree.message == _refusal(url, query), query
        return True
    form = server.form(url, query)
    if form is not None:
        _equal(form_of(tree), form, query)
        _equal(form_of(tree), server.form(url, text_of(tree)) or "", query, written=True)
    return False


def _parsed(query: str) -> Node | InvalidQuery:
    try:
        return parse(query)
    except InvalidQuery as refused:
        return refused


def _refusal(url: str, query: str) -> str:
    """Return why the server refuses a query, as one line; "accepted" if it does not."""
    try:
        server.form(url, query)
    except server.Refused as refused:
        return str(refused).replace("\n", r"\n")
    return "accepted"


def _equal(ours: str, theirs: str, query: str, *, written: bool = False) -> None:
    our_form, our_patterns = without_regexps(ours)
    their_form, their_patterns = without_regexps(theirs)
    if our_form != their_form and not written and any("(?:)" in text for text in our_patterns):
        return  # a text that ignores case by itself, which Zoekt reads as capitals
    assert our_form == their_form, query
    for ours, theirs in zip(our_patterns, their_patterns, strict=True):
        assert _matches(ours) == _matches(theirs), query


def _matches(pattern: str) -> list[list[tuple[int, int]]]:
    spec = pattern_spec(Regexp(pattern, case_sensitive=True))
    compiled = compile_pattern(spec)
    return [list(compiled.finditer(text)) for text in SAMPLE]
