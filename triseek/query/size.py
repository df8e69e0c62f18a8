"""How large a pattern is once its repetitions are written out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.query.fold import fold
from triseek.query.syntax import Bytes, Chars, Repeat

if TYPE_CHECKING:
    from triseek.query.syntax import Node

SIZE_LIMIT = 200_000
"""Parts a pattern may have, repetitions written out; ripgrep allows about ten times as many."""


RANGES_LIMIT = 1_000_000
"""Ranges of characters that its classes may have, repetitions written out: `\\p{L}` has 650. Close
to where ripgrep refuses a pattern (`--regex-size-limit`, 100 MiB)."""


def expanded_ranges(tree: Node) -> int:
    """Return how many ranges of characters the pattern has, written out."""
    return fold(tree, _ranges)


def _ranges(node: Node, below: list[int]) -> int:
    if isinstance(node, Chars | Bytes):
        return len(node.ranges)
    if isinstance(node, Repeat):
        return below[0] * max(node.low, node.high or node.low + 1, 1)
    return sum(below)


def expanded_size(tree: Node) -> int:
    """Return how many characters, assertions and branches the pattern has, written out."""
    return fold(tree, _size)


def _size(node: Node, below: list[int]) -> int:
    if isinstance(node, Repeat):
        return below[0] * max(node.low, node.high or node.low + 1, 1) + 1
    return sum(below) + 1
