"""What the tree of a regular expression of Go says: whether it is a literal, and respects case."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.query.regex import unicode
from triseek.query.regex.syntax import Chars, Concat, Empty, Repeat, fold
from triseek.query.zoekt.go_text import escaped

if TYPE_CHECKING:
    from triseek.query.regex.syntax import Node

_UPPER_A, _UPPER_Z = ord("A"), ord("Z")


def simplified(tree: Node) -> Node:
    """Return the tree without a repetition around it that repeats nothing."""
    while isinstance(tree, Repeat):
        inner = simplified(tree.node) if isinstance(tree.node, Repeat) else tree.node
        if (tree.low, tree.high) == (0, 0) or isinstance(inner, Empty):
            return Empty()
        if (tree.low, tree.high) != (1, 1):
            return tree
        tree = inner
    return tree


def literal_text(tree: Node) -> str | None:
    """Return the text that a tree matches, if it is a single one."""
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    codes = [part.ranges[0][0] for part in parts if _is_one_character(part)]  # type: ignore[union-attr]
    if len(codes) < len(parts):
        return None
    return "".join(chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd" for code in codes)


def folded_literal(tree: Node) -> str | None:
    """Return a pattern for a text some of whose letters ignore case; None for any other tree.

    Its empty group keeps Zoekt from reading it as a literal text of capitals.
    """
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    out: list[str] = []
    for part in parts:
        if not isinstance(part, Chars) or not part.ranges:
            return None
        code = part.ranges[0][0]
        if unicode.fold(((code, code),)) != part.ranges and not _is_one_character(part):
            return None
        sign = escaped(chr(code))
        out.append(sign if _is_one_character(part) else f"(?i:{sign})")
    return "".join(out).replace(")(?i:", "") + "(?:)"


def _is_one_character(part: Node) -> bool:
    return isinstance(part, Chars) and len(part.ranges) == 1 and len(set(part.ranges[0])) == 1


def names_upper_case(tree: Node) -> bool:
    r"""Return whether a character or an end of a range is one of A to Z.

    A class such as `\w` has such ends, although the pattern has no capital letter.
    """
    return fold(tree, lambda node, below: any(below) or _has_upper_end(node))


def _has_upper_end(node: Node) -> bool:
    return isinstance(node, Chars) and any(
        _UPPER_A <= end <= _UPPER_Z for ends in node.ranges for end in ends
    )
