"""Simplification of a query: constants are evaluated, nested lists of one kind become one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.query.regex.syntax import Empty
from triseek.query.zoekt import go_regexp, go_tree
from triseek.query.zoekt.syntax import And, Branch, Const, Not, Or, Regexp, Substring, Type

if TYPE_CHECKING:
    from triseek.query.zoekt.syntax import Node


def simplify(node: Node) -> Node:
    """Return an equal query in the form in which Zoekt evaluates it.

    A constant is left only where it is the whole query. `type:` around a constant is dropped, as in
    Zoekt: the query then lists matches in files.
    """
    match node:
        case And(children):
            return _list(And, [simplify(child) for child in children])
        case Or(children):
            return _list(Or, [simplify(child) for child in children])
        case Not(child):
            inner = simplify(child)
            return Const(not inner.value) if isinstance(inner, Const) else Not(inner)
        case Type(kind, child):
            inner = simplify(child)
            return inner if isinstance(inner, Const) else Type(kind, inner)
        case _:
            return Const(value=True) if _matches_all(node) else node


def _list(kind: type[And | Or], children: list[Node]) -> Node:
    neutral = kind is And
    if any(isinstance(child, Const) and child.value != neutral for child in children):
        return Const(not neutral)
    flat: list[Node] = []
    for child in children:
        if isinstance(child, kind):
            flat.extend(child.children)
        elif not isinstance(child, Const):
            flat.append(child)
    if not flat:
        return Const(neutral)
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def _matches_all(node: Node) -> bool:
    if isinstance(node, Substring | Branch):
        return not node.pattern
    if isinstance(node, Regexp):
        return isinstance(go_tree.simplified(go_regexp.parse(node.pattern)), Empty)
    return False
