"""A request is resolved once: its mistakes are found, its paths sorted by kind."""

from __future__ import annotations

import pytest

from triseek.engine.search.query import Query, Selection
from triseek.errors import InvalidQuery, InvalidRequest
from triseek.model.search import PatternSpec, ScopeSpec, SearchRequest


def query(root="/", pattern="needle", **fields):
    spec = PatternSpec(patterns=(pattern,), multiline=fields.pop("multiline", False))
    return Query.of(root, SearchRequest(pattern=spec, **fields))


def test_paths_are_sorted_by_kind_in_path_order_each_once(repo):
    root = repo({"a": "", "b/c": "", "b.d/e": "", "f": ""})
    paths = ("f", "./a", "b.d", "b", "b/", "gone", "b/../a", ".")

    scope, folders, files, missing = Selection.of(root, ScopeSpec(globs=("*.c",)), paths)

    assert (folders, files, missing) == ([b"", b"b", b"b.d"], [b"a", b"f"], [b"gone"])
    assert scope.spec.globs == ("*.c",)


def test_a_path_is_included_if_it_is_below_a_named_folder_or_none_is_named(repo):
    root = repo({"b/c": "", "bb/c": ""})
    named = Selection.of(root, ScopeSpec(), ("b",))

    assert [named.includes(path) for path in (b"b/c", b"bb/c", b"b")] == [True, False, False]
    assert Selection.of(root, ScopeSpec()).includes(b"bb/c")
    assert Selection.of(root, ScopeSpec(), (".",)).includes(b"bb/c")


@pytest.mark.parametrize("path", ["..", "../x", "/etc", "b/../.."])
def test_a_path_that_leads_out_of_the_root_is_refused(repo, path):
    with pytest.raises(InvalidRequest, match="outside"):
        query(repo({"b/c": ""}), paths=(path,))


@pytest.mark.parametrize(
    "fields", [{"pattern": "("}, {"pattern": r"a\x00"}, {"scope": ScopeSpec(globs=("[",))}]
)
def test_what_cannot_be_understood_is_refused_before_anything_is_read(fields):
    with pytest.raises(InvalidQuery):
        query(**fields)


def test_a_nul_can_be_asked_for_where_all_is_text():
    assert query(pattern=r"a\x00", scope=ScopeSpec(text=True)).pattern.needs_nul


@pytest.mark.parametrize(
    ("pattern", "multiline", "spans"),
    [("a", True, False), (r"a\n", True, True), ("^a", True, True), ("^a", False, False)],
)
def test_only_a_pattern_that_sees_a_newline_spans_lines(pattern, multiline, spans):
    assert query(pattern=pattern, multiline=multiline).spans_lines is spans


def test_the_plan_is_that_of_the_pattern():
    assert query(pattern="ab").plan.shape == "short_literal"


@pytest.mark.parametrize(
    "fields", [{"invert": True}, {"passthru": True}, {"mode": "files_without_match"}]
)
def test_some_searches_list_what_does_not_match(fields):
    assert query(**fields).lists_misses
    assert not query().lists_misses
