"""What a query means in one repository: conditions on repositories become constants there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.engine.repositories.atoms import atom
from triseek.engine.repositories.evaluate import cost
from triseek.query.zoekt import syntax

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.repositories.roots import Root
    from triseek.query.zoekt.syntax import Node

ALL, NONE = syntax.Const(True), syntax.Const(False)


def terms(node: Node, root: Root, has_match: Callable[[Node], bool]) -> Node:
    """Return an equal query for the files of one repository, with its cheap parts first.

    `any` becomes file name or content. Nodes about repositories become constants.

    has_match: Returns whether any file of the repository matches a query (`type:repo`).

    Raises:
        InvalidQuery: A pattern is too large, or has no meaning in our dialect.
    """
    match node:
        case syntax.Substring() | syntax.Regexp():
            return _expanded(node)
        case syntax.And():
            parts = [terms(child, root, has_match) for child in node.children]
            return joined(syntax.And, parts)
        case syntax.Or():
            parts = [terms(child, root, has_match) for child in node.children]
            return joined(syntax.Or, parts)
        case syntax.Not():
            child = terms(node.child, root, has_match)
            return _opposite(child) if isinstance(child, syntax.Const) else syntax.Not(child)
        case syntax.Type():
            child = terms(node.child, root, has_match)
            if isinstance(child, syntax.Const):
                return child
            if node.kind == "repo":
                return syntax.Const(has_match(child))
            return syntax.Type(node.kind, child)
        case syntax.Language() | syntax.Symbol() | syntax.Const():
            return node
        case _:
            return syntax.Const(is_true(node, root))


def is_true(node: syntax.Repo | syntax.Branch | syntax.RepoFlag | syntax.Meta, root: Root) -> bool:
    """Return whether a condition on repositories holds for a root."""
    match node:
        case syntax.Repo():
            return atom(node).holds(root.name.encode("utf-8", "surrogateescape"))
        case syntax.Branch():
            return node.pattern == "HEAD" or (bool(root.branch) and node.pattern in root.branch)
        case syntax.RepoFlag():
            return (node.flag in root.flags) is node.value
        case syntax.Meta():
            return False  # a folder has no metadata


def joined(kind: type[syntax.And | syntax.Or], parts: list[Node]) -> Node:
    """Return the conjunction or disjunction, without constants and nested ones of its kind."""
    neutral, decisive = (ALL, NONE) if kind is syntax.And else (NONE, ALL)
    kept: dict[Node, None] = {}
    for part in parts:
        if part == decisive:
            return decisive
        if isinstance(part, kind):
            kept.update(dict.fromkeys(part.children))
        elif part != neutral:
            kept[part] = None
    if not kept:
        return neutral
    first, *others = kept
    return kind(tuple(sorted(kept, key=cost))) if others else first


def _expanded(text: syntax.Text) -> Node:
    if text.where != "any":
        return text
    kind = type(text)
    name, content = (kind(text.pattern, text.case_sensitive, where) for where in _BOTH)
    return syntax.Or((name, content))


_BOTH: tuple[syntax.Where, syntax.Where] = ("file", "content")


def _opposite(constant: syntax.Const) -> syntax.Const:
    return NONE if constant.value else ALL
