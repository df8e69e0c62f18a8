"""Queries written as text: what is written is read as the same tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triseek.errors import InvalidQuery
from triseek.query.pattern import compile as compile_pattern
from triseek.query.zoekt.dialect import pattern_spec
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.simplify import simplify
from triseek.query.zoekt.syntax import (
    And,
    Branch,
    Const,
    Language,
    Meta,
    Node,
    Not,
    Or,
    Regexp,
    Repo,
    RepoFlag,
    Substring,
    Symbol,
    Type,
)
from triseek.query.zoekt.text import literal, path_name, repo_name, text_of

TEXTS = st.text(alphabet='abZ.("x)\\-| :\n\té$', min_size=1, max_size=8)
REGEXPS = st.sampled_from(
    [r"a.b", r"\w+", "[^a]", "x|yz", "a b*", '"?', r"\bfoo\b", "(?s)a.", "()x"]
)
WHERE = st.sampled_from(["any", "file", "content"])
ATOMS = st.one_of(
    st.builds(Substring, TEXTS, st.booleans(), WHERE),
    st.builds(Regexp, REGEXPS, st.booleans(), WHERE),
    st.builds(Symbol, st.builds(Substring, TEXTS, st.booleans(), st.just("any"))),
    st.builds(Repo, REGEXPS),
    st.builds(Branch, TEXTS),
    st.builds(Language, st.sampled_from(["C++", "Emacs Lisp", "Go"])),
    st.builds(RepoFlag, st.sampled_from(["archived", "fork", "public"]), st.booleans()),
    st.builds(Meta, st.sampled_from(["a", "x y", 'q"']), REGEXPS),
)
TREES: st.SearchStrategy[Node] = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, max_size=3).map(tuple)),
        st.builds(Not, inner),
        st.builds(Type, st.sampled_from(["filematch", "filename", "repo"]), inner),
    ),
    max_leaves=8,
)


@given(TREES)
def test_tree_survives_being_written(tree: Node) -> None:
    tree = simplify(tree)
    assert parse(text_of(tree)) == tree


@pytest.mark.parametrize("value", [True, False])
def test_constants_are_written(value: bool) -> None:
    assert parse(text_of(Const(value))) == Const(value)


@pytest.mark.parametrize(
    "text",
    ['a.b("x")', "-x", "or", "meta.json", "f:x", "\n", "é", "(", ")", "a b", "\\", "x{2}", "\0"],
)
def test_literal_finds_the_text_itself(text: str) -> None:
    for field, where in (("content", "content"), ("file", "file"), ("regex", "any")):
        assert parse(literal(text, field)) == Substring(text, case_sensitive=False, where=where)  # type: ignore[arg-type]
    assert parse(literal(text, "sym")) == Symbol(Substring(text, case_sensitive=False))


def test_empty_literal_matches_everything() -> None:
    assert parse(literal("")) == Const(value=True)
    with pytest.raises(InvalidQuery, match="must have an argument"):
        literal("", "sym")


def test_example_of_the_contract() -> None:
    assert literal('a.b("x")') == r'content:"a\\.b\\(\"x\"\\)"'


@given(st.text(max_size=20).filter(lambda text: text.isprintable()))
def test_literal_survives_beside_other_terms(text: str) -> None:
    tree = parse(f"x {literal(text)} y")
    assert not text or (isinstance(tree, And) and tree.children[1].pattern == text)  # type: ignore[union-attr]


def test_name_matches_the_one_repository() -> None:
    tree = parse(repo_name("github.com/a/b+c"))
    assert isinstance(tree, Repo)
    pattern = compile_pattern(pattern_spec(tree))
    names = [b"github.com/a/b+c", b"xgithub.com/a/b+c", b"github.com/a/b+cd", b"githubXcom/a/b+c"]
    assert [bool(list(pattern.spans(name))) for name in names] == [True, False, False, False]


def test_path_matches_the_one_file() -> None:
    tree = parse(path_name(b"src/a.c"))
    assert isinstance(tree, Regexp)
    assert (tree.case_sensitive, tree.where) == (True, "file")
    pattern = compile_pattern(pattern_spec(tree))
    names = [b"src/a.c", b"src/A.c", b"src/a.cc", b"x/src/a.c", b"x\nsrc/a.c"]
    assert [bool(list(pattern.spans(name))) for name in names] == [True, False, False, False, False]


@pytest.mark.parametrize("path", [b"a\xff", "a\udcff"])
def test_path_that_no_query_can_name_is_refused(path: bytes | str) -> None:
    with pytest.raises(InvalidQuery, match="not valid UTF-8"):
        path_name(path)
