"""Compilation of a pattern to instructions for the exact matcher, forwards or backwards.

Thompson's construction with priorities: of the two branches of a `Split` the first is preferred.
A character is a single instruction, however many byte sequences encode it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from triseek.query.regex import syntax
from triseek.query.regex.charset import ByteSequence, utf8_sequences


@dataclass(slots=True)
class Split:
    """Continue at `first`, and with lower priority at `second`."""

    first: int
    second: int


@dataclass(slots=True)
class Assert:
    """Continue at the next instruction if assertion number `bit` of the program holds."""

    bit: int


@dataclass(slots=True)
class Spell:
    """Read the bytes of one of these sequences, then continue at the next instruction."""

    sequences: tuple[ByteSequence, ...]


@dataclass(slots=True)
class Jump:
    """Continue at `to`."""

    to: int


@dataclass(slots=True)
class Save:
    """Record this position: group `slot // 2` begins (even slots) or ends (odd slots) here."""

    slot: int


@dataclass(slots=True)
class Match:
    """A match ends here."""


Instruction: TypeAlias = Split | Assert | Spell | Jump | Save | Match


@dataclass(slots=True)
class Program:
    """A compiled pattern."""

    backwards: bool
    """Whether it reads from the end of a match to its start."""
    code: list[Instruction] = field(default_factory=list)
    looks: dict[syntax.Assertion, int] = field(default_factory=dict)
    """Assertion → its number."""


def compile_program(
    tree: syntax.Node, *, anywhere: bool = False, backwards: bool = False
) -> Program:
    """Return the program for `tree`; with `anywhere`, a match may start after any bytes."""
    program = Program(backwards)
    if anywhere:
        program.code += [Split(3, 1), Spell((((0, 0xFF),),)), Jump(0)]
    _emit(tree, program)
    program.code.append(Match())
    return program


def _emit(node: syntax.Node, program: Program) -> None:
    code = program.code
    match node:
        case syntax.Empty():
            pass
        case syntax.Chars(ranges):
            code.append(Spell(_spellings(utf8_sequences(ranges), backwards=program.backwards)))
        case syntax.Bytes(ranges):
            code.append(Spell(tuple((pair,) for pair in ranges)))
        case syntax.Assertion():
            code.append(Assert(program.looks.setdefault(node, len(program.looks))))
        case syntax.Concat(parts):
            for part in reversed(parts) if program.backwards else parts:
                _emit(part, program)
        case syntax.Alternate(parts):
            _emit_alternate(parts, program)
        case syntax.Repeat():
            _emit_repeat(node, program)
        case syntax.Capture(body, number):
            code.append(Save(2 * number))
            _emit(body, program)
            code.append(Save(2 * number + 1))


def _spellings(sequences: tuple[ByteSequence, ...], *, backwards: bool) -> tuple[ByteSequence, ...]:
    return tuple(sequence[::-1] for sequence in sequences) if backwards else sequences


def _emit_alternate(parts: tuple[syntax.Node, ...], program: Program) -> None:
    code, ends = program.code, []
    for part in parts[:-1]:
        split = Split(len(code) + 1, 0)
        code.append(split)
        _emit(part, program)
        ends.append(Jump(0))
        code.append(ends[-1])
        split.second = len(code)
    _emit(parts[-1], program)
    for end in ends:
        end.to = len(code)


def _emit_repeat(node: syntax.Repeat, program: Program) -> None:
    """Emit `low` copies, then a loop or the optional copies."""
    looped = node.high is None
    if looped and node.low == 0:
        _emit_star(node, program)
        return
    for _ in range(node.low - 1 if looped else node.low):
        _emit(node.node, program)
    if looped:
        _emit_plus(node, program)
        return
    splits = []
    for _ in range((node.high or 0) - node.low):
        splits.append(_split(program, greedy=node.greedy))
        _emit(node.node, program)
    for split in splits:
        _leave(split, len(program.code), greedy=node.greedy)


def _emit_star(node: syntax.Repeat, program: Program) -> None:
    """Emit a loop, or `(x+)?` for an `x` that can be empty, which a loop would rank too low.

    RE2 and Rust use the same two forms (golang/go#46123).
    """
    start = len(program.code)
    split = _split(program, greedy=node.greedy)
    if can_be_empty(node.node):
        _emit_plus(node, program)
    else:
        _emit(node.node, program)
        program.code.append(Jump(start))
    _leave(split, len(program.code), greedy=node.greedy)


def _emit_plus(node: syntax.Repeat, program: Program) -> None:
    start = len(program.code)
    _emit(node.node, program)
    after = len(program.code) + 1
    program.code.append(Split(start, after) if node.greedy else Split(after, start))


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


def _split(program: Program, *, greedy: bool) -> Split:
    """Emit a `Split` with one branch to the next instruction."""
    here = len(program.code) + 1
    split = Split(here, 0) if greedy else Split(0, here)
    program.code.append(split)
    return split


def _leave(split: Split, to: int, *, greedy: bool) -> None:
    """Set the other branch of the `Split`."""
    if greedy:
        split.second = to
    else:
        split.first = to
