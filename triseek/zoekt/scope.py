"""Narrows a query to some of the repositories that a host holds."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.errors import InvalidQuery
from triseek.query.zoekt.go_text import escaped
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import And, Const, Not, Or, Repo, Symbol, Type
from triseek.query.zoekt.text import path_name, repo_name, text_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.query.zoekt.syntax import Node


class _Possible(NamedTuple):
    """What the names of repositories tell of a query."""

    may_match: frozenset[str]
    may_fail: frozenset[str]


@lru_cache(maxsize=64)
def parsed(query: str) -> Node | None:
    """Return the tree of a query; None if this parser does not understand it, as a host may."""
    try:
        return parse(query)
    except InvalidQuery:
        return None


def lists_repositories(query: str) -> bool:
    """Return whether a query asks for repositories instead of files."""
    node = parsed(query)
    return isinstance(node, Type) and node.kind == "repo"


def names_symbols(query: str) -> bool:
    """Return whether a query has `sym:`."""
    node = parsed(query)
    return node is not None and _has_symbol(node)


def relevant(query: str, repositories: Collection[str]) -> frozenset[str]:
    """Return the repositories in which a query can match, by their names; in doubt all."""
    node = parsed(query)
    if node is None or not _names_repositories(node):
        return frozenset(repositories)
    return _possible(node, frozenset(repositories)).may_match


def without(query: str, repositories: Collection[str]) -> str:
    """Return a query that matches what `query` does, but not in some repositories.

    A query that this parser does not understand stays as it is.
    """
    node = parsed(query)
    return query if node is None else text_of(And((node, Not(_any_of(repositories)))))


def only(query: str, repositories: Collection[str]) -> str:
    """Return a query that matches what `query` does in some repositories.

    A query that this parser does not understand stays as it is.
    """
    node = parsed(query)
    return query if node is None else text_of(And((node, _any_of(repositories))))


def of_file(repository: str, path: bytes) -> str:
    """Return the query that matches one file."""
    return f"{repo_name(repository)} {path_name(path)}"


def _any_of(repositories: Collection[str]) -> Repo:
    return Repo("|".join(f"^{escaped(name)}$" for name in sorted(repositories)))


def _names_repositories(node: Node) -> bool:
    match node:
        case Repo() | Const():
            return True
        case Type(_, child) | Not(child):
            return _names_repositories(child)
        case And(children) | Or(children):
            return any(map(_names_repositories, children))
        case _:
            return False


def _has_symbol(node: Node) -> bool:
    match node:
        case Symbol():
            return True
        case Type(_, child) | Not(child):
            return _has_symbol(child)
        case And(children) | Or(children):
            return any(map(_has_symbol, children))
        case _:
            return False


def _possible(node: Node, names: frozenset[str]) -> _Possible:
    """Return in which of some repositories a query can match, and in which it can fail to."""
    match node:
        case Const(value):
            return _Possible(names, frozenset()) if value else _Possible(frozenset(), names)
        case Repo(pattern):
            compiled = _compiled(pattern)
            if compiled is None:
                return _Possible(names, names)
            matching = frozenset(name for name in names if compiled.search(name) is not None)
            return _Possible(matching, names - matching)
        case Type(_, child):
            return _possible(child, names)
        case Not(child):
            inner = _possible(child, names)
            return _Possible(inner.may_fail, inner.may_match)
        case And(children):
            parts = [_possible(child, names) for child in children]
            return _Possible(
                names.intersection(*(part.may_match for part in parts)),
                frozenset().union(*(part.may_fail for part in parts)),
            )
        case Or(children):
            parts = [_possible(child, names) for child in children]
            return _Possible(
                frozenset().union(*(part.may_match for part in parts)),
                names.intersection(*(part.may_fail for part in parts)),
            )
        case _:
            return _Possible(names, names)


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> Any:  # noqa: ANN401 - re2 has no types
    """Return a compiled pattern; None if this library does not understand it as Go does."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None
