"""Compilation of a pattern to instructions, for the exact matcher, captures and the automaton.

Thompson's construction with priorities: of the branches of a `Split` earlier ones are preferred.
A character is a single instruction, however many byte sequences encode it. Jumps are relative, so
a repeated part is compiled once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TypeAlias

from triseek.query.regex import syntax


@dataclass(slots=True)
class Split:
    """Continue at several places, given relative to this one, in order of preference."""

    jumps: tuple[int, ...]


@dataclass(slots=True)
class Save:
    """Record this position: group `slot // 2` begins (even slots) or ends (odd slots) here."""

    slot: int


@dataclass(slots=True)
class Match:
    """A match ends here."""


Instruction: TypeAlias = Split | Save | Match | syntax.Chars | syntax.Bytes | syntax.Assertion
"""All but `Split` and `Match` continue at the next one: `Chars` and `Bytes` after reading one of
their members, `Assertion` if it holds."""
Program: TypeAlias = tuple[Instruction, ...]


class TooLargeError(Exception):
    """The pattern needs too many instructions, or states."""


def compile_program(
    tree: syntax.Node, *, backwards: bool = False, limit: int | None = None
) -> Program:
    """Return the program for `tree`, which ends in its only `Match`.

    Args:
        tree: Syntax tree.
        backwards: Whether the program reads from the end of a match to its start.
        limit: Maximum number of instructions; None: no maximum.

    Raises:
        TooLargeError: The program exceeds the limit.
    """
    return (*syntax.fold(tree, partial(_compile, backwards, limit)), Match())


def looks_of(program: Program) -> tuple[syntax.Assertion, ...]:
    """Return the distinct assertions of a program."""
    looks = (step for step in program if isinstance(step, syntax.Assertion))
    return tuple(dict.fromkeys(looks))


def _compile(
    backwards: bool, limit: int | None, node: syntax.Node, parts: list[Program]
) -> Program:
    match node:
        case syntax.Empty():
            return ()
        case syntax.Chars() | syntax.Bytes() | syntax.Assertion():
            return (node,)
        case syntax.Concat():
            _check(sum(map(len, parts)), limit)
            return tuple(chain.from_iterable(reversed(parts) if backwards else parts))
        case syntax.Alternate():
            return _alternate(parts, limit)
        case syntax.Repeat():
            return _repeat(node, parts[0], limit)
        case syntax.Capture(_, number):
            return (Save(2 * number), *parts[0], Save(2 * number + 1))


def _check(size: int, limit: int | None) -> None:
    if limit is not None and size > limit:
        raise TooLargeError


def _alternate(parts: list[Program], limit: int | None) -> Program:
    if not parts:
        return (syntax.Chars(()),)  # never continues
    size = sum(map(len, parts)) + len(parts)
    _check(size, limit)
    jumps: list[int] = []
    body: list[Instruction] = []
    for part in parts:
        jumps.append(len(body) + 1)
        body += part
        body.append(Split((size - len(body),)))
    return (Split(tuple(jumps)), *body)


def _repeat(node: syntax.Repeat[syntax.Node], part: Program, limit: int | None) -> Program:
    """Return `low` copies, the last in a loop, or followed by the optional copies.

    `x*` is `(x+)?`: a loop around an `x` that can be empty would rank the empty match too low. RE2
    and Rust do the same (golang/go#46123).
    """
    size = len(part) + 1
    optional = 0 if node.high is None else node.high - node.low
    _check(size * max(node.low + optional, 1), limit)
    if node.high is None:
        loop = (*part, _split(1 - size, 1, greedy=node.greedy))
        if node.low:
            return part * (node.low - 1) + loop
        return (_split(1, size + 1, greedy=node.greedy), *loop)
    splits = (_split(1, left * size, greedy=node.greedy) for left in range(optional, 0, -1))
    return part * node.low + tuple(chain.from_iterable((split, *part) for split in splits))


def _split(again: int, leave: int, *, greedy: bool) -> Split:
    return Split((again, leave) if greedy else (leave, again))


def can_be_empty(tree: syntax.Node) -> bool:
    """Return whether the tree can match the empty string, if its assertions hold."""
    return syntax.fold(tree, _can_be_empty)


def _can_be_empty(node: syntax.Node, below: list[bool]) -> bool:
    if isinstance(node, syntax.Alternate):
        return any(below)
    if isinstance(node, syntax.Repeat):
        return node.low == 0 or below[0]
    return not isinstance(node, syntax.Chars | syntax.Bytes) and all(below)


def matches_every_line(tree: syntax.Node) -> bool:
    """Return whether there is an empty match at the beginning, or at the end, of every line."""
    return any(syntax.fold(tree, partial(_is_empty_where, kinds)) for kinds in _LINE_EDGES)


_LINE_EDGES: tuple[tuple[syntax.LookKind, ...], ...] = (
    ("line_start", "line_start_crlf"),
    ("line_end",),
    ("line_end_crlf",),
)
"""Sets of assertions that hold together at some position of every line. The two kinds of line end
do not hold together in CR LF."""


def _is_empty_where(
    holds: tuple[syntax.LookKind, ...], node: syntax.Node, below: list[bool]
) -> bool:
    """Return whether a node can match the empty string where only these assertions hold."""
    if isinstance(node, syntax.Assertion):
        return node.kind in holds
    return _can_be_empty(node, below)
