"""full_text: every query has a meaning, and FTS5 takes what is made of it."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.history.full_text import expression
from triseek.recall.sub_tokens import sub_tokens

COLUMNS = ("title", "narrative")
ROWS = (
    ("error handling in the parser", "a bug"),
    ("error in a fix of it", "handling follows later"),
    ("authentication", "the exact phrase is here, and camelCaseName and 使用SQLite数据库"),
    ("exact title", "another phrase; login.ts and how-it-works in src/auth/login.ts"),
)


@pytest.fixture(scope="module")
def index():
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (title, narrative, sub)")
    for title, narrative in ROWS:
        row = (title, narrative, sub_tokens([title, narrative]))
        connection.execute("INSERT INTO t VALUES (?, ?, ?)", row)
    yield connection
    connection.close()


def found(index: sqlite3.Connection, query: str) -> set[int]:
    match = expression(query, COLUMNS).match
    rows = index.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)) if match else ()
    return {row[0] for row in rows}


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        # The contract's examples.
        ("error handling", {1, 2}),
        ('"error" AND "handling"', {1, 2}),
        ('"bug" OR "fix"', {1, 2}),
        ('"error" NOT "bug"', {2}),
        ("\"'exact phrase'\"", {3}),
        ("'exact phrase'", {3}),
        ('title:"authentication"', {3}),
        # The rest of FTS5's syntax.
        ("{title narrative}: fix", {2}),
        ("-title:handling", {2}),
        ("^error", {1, 2}),
        ("auth*", {3, 4}),
        ('"exact phr"*', {3}),
        ("NEAR(error handling, 3)", {1}),
        ("error (parser OR later)", {1, 2}),
        ("error AND (parser OR nothing)", {1}),
        ("title:(exact OR authentication)", {3, 4}),
        ("error bug OR exact phrase", {1, 3, 4}),
        # What FTS5 refuses.
        ("how-it-works", {4}),
        ("src/auth/login.ts", {4}),
        ("login.ts OR nothing", {4}),
        ("nosuch:abc", set()),
        ("http://a.b OR error", {1, 2}),
        ("error OR", {1, 2}),
        ('"error', {1, 2}),
        ("error )", {1, 2}),
        ("C++", set()),
        ("foo(bar)", set()),
        ("AND", {3, 4}),
        ("!!!", set()),
        ("don't", set()),
        # Parts of words.
        ("caseName", {3}),
        ("Name", {3}),
        ("camel_case_name", {3}),
        ("camelCase OR nothing", {3}),
        ("数据库", {3}),
        ("库", {3}),
        ("SQLite", {3}),
        ("数库", set()),
    ],
)
def test_a_query_finds_what_it_says(index, query: str, ids: set[int]) -> None:
    assert found(index, query) == ids


def test_a_list_of_words_can_be_searched_for_any_of_them() -> None:
    assert expression("error bug", COLUMNS).partial == '"error" OR "bug"'
    assert expression('"exact phrase"', COLUMNS).partial == '"exact" OR "phrase"'
    assert not expression("error NOT bug", COLUMNS).partial
    assert not expression("title:error", COLUMNS).partial


def test_it_is_said_how_a_query_was_understood_that_is_not_well_formed() -> None:
    assert not expression("build system", COLUMNS).interpreted
    assert not expression('"build" AND title:system', COLUMNS).interpreted
    assert expression("error OR", COLUMNS).interpreted == '"error"'
    assert expression("nosuch:abc OR b", COLUMNS).interpreted == '("nosuch abc" OR "b")'


_PIECES = st.sampled_from(
    ['"', "'", "(", ")", "AND", "OR", "NOT", "NEAR(", "NEAR(a b, 2)", "^", "*", "title:", "x:",
     "-", "{", "}", "+", "a", "bC", "数据", "C++", ",", "5", "\0",
     " ", ":", ";", "\\", "é", "\u0301",
     "{title narrative}:", "sub:", "rowid:", "\n"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=30), st.lists(_PIECES, max_size=12).map("".join)))
def test_no_query_is_an_error(index, query: str) -> None:
    made = expression(query, COLUMNS)

    for match in filter(None, (made.match, made.partial)):
        index.execute("SELECT rowid FROM t WHERE t MATCH ?", (match,)).fetchall()


@pytest.mark.parametrize(
    "query", ["(" * 500 + "a" + ")" * 500, " OR ".join("abcdefgh" * 500), "a*" * 9_999]
)
def test_a_huge_query_is_an_ordinary_one(index, query: str) -> None:
    assert found(index, query) is not None
