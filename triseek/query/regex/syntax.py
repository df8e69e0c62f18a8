"""Syntax tree of a pattern.

`query.regex.parse` resolves everything a user can specify (case modes, `-w`, `-x`, `-F`, several
`-e`, Perl classes, Unicode properties, flags inside the pattern) into these few node types; case
folding is already part of the classes. Consumers of the tree (formulas, automata, RE2, the slow
exact matcher) need nothing else. Capturing groups are left out, except for replacements, which use
a separate tree (`parse.parse_groups`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
N = TypeVar("N")
"""Type of the children: `Node`, or `hir.Hir` while a pattern is being parsed."""

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Sorted, disjoint, non-adjacent inclusive ranges."""

LookKind: TypeAlias = Literal[
    "line_start",  # (?m:^)
    "line_end",  # (?m:$)
    "line_start_crlf",  # (?mR:^): CR LF, LF and a lone CR all end lines
    "line_end_crlf",  # (?mR:$)
    "text_start",  # \A
    "text_end",  # \z
    "word",  # \b
    "not_word",  # \B
    "word_start",  # \b{start} and \<
    "word_end",  # \b{end} and \>
    "word_start_half",  # \b{start-half}: no word character before
    "word_end_half",  # \b{end-half}: no word character after
]


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches the empty string."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One Unicode scalar value in `ranges`, encoded as UTF-8; without ranges it never matches."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Bytes:
    """One byte in `ranges`: what `(?-u:…)` can express and `Chars` cannot (0x80 to 0xFF)."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Assertion:
    """A zero-width assertion."""

    kind: LookKind
    unicode: bool = True
    """Whether word characters are Unicode's (`\\w`) or ASCII's; has no effect on anchors."""


@dataclass(frozen=True, slots=True)
class Concat(Generic[N]):
    """All parts in sequence."""

    parts: tuple[N, ...]


@dataclass(frozen=True, slots=True)
class Alternate(Generic[N]):
    """One of the parts; the leftmost that leads to a match is preferred."""

    parts: tuple[N, ...]


@dataclass(frozen=True, slots=True)
class Repeat(Generic[N]):
    """`node` at least `low` times, at most `high` times (`None`: no bound)."""

    node: N
    low: int
    high: int | None
    greedy: bool = True


@dataclass(frozen=True, slots=True)
class Capture(Generic[N]):
    """The capturing group with this number, which matches `node`."""

    node: N
    number: int


Node: TypeAlias = (
    "Empty | Chars | Bytes | Assertion"
    " | Concat[Node] | Alternate[Node] | Repeat[Node] | Capture[Node]"
)


def any_node(tree: N, test: Callable[[N], bool]) -> bool:
    """Return whether the test is true for any node of the tree."""
    return fold(tree, lambda node, below: any(below) or test(node))


def fold(tree: N, combine: Callable[[N, list[T]], T]) -> T:
    """Return `combine(tree, values)`, where `values` are the children folded in the same way.

    Each node is visited once; children are in pattern order. The stack is explicit, because
    patterns nest as deep as the parser allows, and each level of parentheses may be three nodes:
    recursion would reach the interpreter's limit before the parser's.
    """
    waiting: list[tuple[N, bool]] = [(tree, False)]
    values: list[T] = []
    visits = 0
    while waiting:
        visits += 1
        if not visits & 0xFF:
            budget.check()
        node, children_done = waiting.pop()
        below = children(node)
        if not below:
            values.append(combine(node, []))
        elif children_done:
            first = len(values) - len(below)
            values[first:] = [combine(node, values[first:])]
        else:
            waiting.append((node, True))
            waiting.extend((child, False) for child in reversed(below))
    return values[0]


def children(node: object) -> tuple[Any, ...]:
    """Return the children of a node, in pattern order."""
    if isinstance(node, (Concat, Alternate)):
        return node.parts
    return (node.node,) if isinstance(node, (Repeat, Capture)) else ()
