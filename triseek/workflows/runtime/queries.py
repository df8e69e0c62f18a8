"""Changes of queries in Zoekt's language, made on their syntax trees."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.query.zoekt.parse import parse
from triseek.query.zoekt.syntax import (
    And,
    Const,
    Not,
    Or,
    Regexp,
    Repo,
    Substring,
    Symbol,
    Type,
)
from triseek.query.zoekt.text import literal, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.query.zoekt.syntax import Node

__all__ = [
    "in_repository", "lists_repositories", "literal", "of_folder", "of_mentions", "of_symbols",
    "of_word", "symbol_sought",
]  # fmt: skip


def in_repository(query: str, name: str) -> str:
    """Return a query for one repository; the same query if `name` is "".

    Raises:
        InvalidQuery: The query cannot be understood.
    """
    return text_of(_within(parse(query), name)) if name else query


def of_symbols(query: str, name: str = "") -> str:
    """Return a query whose first bare term, of each alternative, is the name of a definition.

    A query with `sym:` is not changed. `name` is as `in_repository` has it.

    Raises:
        InvalidQuery: The query cannot be understood.
        InvalidRequest: It has no bare term.
    """
    node = parse(query)
    if not any(isinstance(each, Symbol) for each in _all(node)):
        named = _named(node)
        if named is None:
            raise InvalidRequest(
                "the query names no symbol: it has no bare word",
                next_step="Add the name, as in `ProcessOrder lang:go`.",
            )
        node = named
    return text_of(_within(node, name))


def of_word(word: str, name: str, filters: str = "") -> str:
    """Return a query for a whole word in contents, with its case.

    Args:
        word: Taken literally.
        name: As `in_repository` has it.
        filters: A query that the files match, too; "" for none.

    Raises:
        InvalidQuery: The filters cannot be understood.
    """
    before = r"\b" if re.match(r"\w", word) else ""
    after = r"\b" if re.search(r"\w$", word) else ""
    node: Node = Regexp(f"{before}{escaped(word)}{after}", True, "content")
    if filters.strip():
        node = And((node, parse(filters)))
    return text_of(_within(node, name))


def of_mentions(query: str) -> str:
    """Return a query with `sym:` taken as a text in contents."""
    return text_of(_mentions(parse(query)))


def _mentions(node: Node) -> Node:
    if isinstance(node, Symbol):
        return replace(node.name, where="content")
    if isinstance(node, (And, Or)):
        return type(node)(tuple(map(_mentions, node.children)))
    return replace(node, child=_mentions(node.child)) if isinstance(node, (Not, Type)) else node


def symbol_sought(query: str) -> str:
    """Return the name in the first `sym:` of a query; "" if it is a pattern, or there is none."""
    names = [each.name for each in _all(parse(query)) if isinstance(each, Symbol)]
    return names[0].pattern if names and isinstance(names[0], Substring) else ""


def of_folder(folder: str, name: str) -> str:
    """Return a query that lists the files of a repository below a folder, or all of them."""
    below: Node = Const(True)
    if folder:
        below = Regexp(f"^{escaped(folder)}/", True, "file")
    return text_of(Type("filename", And((Repo(f"^{escaped(name)}$"), below))))


def lists_repositories(query: str) -> bool:
    """Whether a query lists repositories: it is about their names alone, or has `type:repo`.

    Raises:
        InvalidQuery: The query cannot be understood.
    """
    node = parse(query)
    if isinstance(node, Type):
        return node.kind == "repo"
    plain = [each for each in _all(node) if not isinstance(each, (And, Or, Not))]
    return bool(plain) and all(isinstance(each, Repo) for each in plain)


def escaped(text: str) -> str:
    """Return a regular expression of Go for a literal text."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)


def _within(node: Node, name: str) -> Node:
    if not name:
        return node
    if isinstance(node, Type):
        return Type(node.kind, _within(node.child, name))
    return And((Repo(f"^{escaped(name)}$"), node))


def _named(node: Node) -> Node | None:
    """Return a tree whose first bare term is a symbol; None if there is none."""
    if isinstance(node, (Substring, Regexp)):
        return Symbol(node) if node.where == "any" else None
    if isinstance(node, Type):
        child = _named(node.child)
        return None if child is None else Type(node.kind, child)
    if isinstance(node, Or):
        children = [_named(child) for child in node.children]
        changed = [child for child in children if child is not None]
        return Or(tuple(changed)) if len(changed) == len(children) else None
    if isinstance(node, And):
        for number, child in enumerate(node.children):
            named = _named(child)
            if named is not None:
                return And((*node.children[:number], named, *node.children[number + 1 :]))
    return None


def _all(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it."""
    yield node
    if isinstance(node, (And, Or)):
        for child in node.children:
            yield from _all(child)
    elif isinstance(node, (Not, Type)):
        yield from _all(node.child)
