"""Bottom-up over a pattern tree, on a stack of its own.

Patterns nest as deep as the parser allows, and each level of parentheses may be three nodes;
recursion would meet the interpreter's limit before the parser's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from triseek.model import budget
from triseek.query.syntax import Alternate, Capture, Concat, Repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.query.syntax import Node

T = TypeVar("T")


def fold(tree: Node, combine: Callable[[Node, list[T]], T]) -> T:
    """Return `combine(tree, values of its children)`, every child having been folded the same way.

    Each node is visited once; children come in the order they stand in the pattern.
    """
    waiting: list[tuple[Node, bool]] = [(tree, False)]
    values: list[T] = []
    visits = 0
    while waiting:
        visits += 1
        if not visits & 0xFF:
            budget.check()
        node, children_done = waiting.pop()
        below = children(node)
        if below and not children_done:
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(below))
            continue
        first = len(values) - len(below)
        values[first:] = [combine(node, values[first:])]
    return values[0]


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below, in pattern order."""
    if isinstance(node, Concat | Alternate):
        return node.parts
    return (node.node,) if isinstance(node, Repeat | Capture) else ()
