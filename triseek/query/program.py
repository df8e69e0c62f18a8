"""A pattern as instructions for the exact matcher, forwards or backwards.

Thompson's construction with priorities: of the two ways out of a `Split` the first is preferred.
Characters stay single instructions, however many byte sequences spell them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from triseek.query.charset import ByteSequence, utf8_sequences
from triseek.query.fold import fold
from triseek.query.syntax import Alternate, Bytes, Capture, Chars, Concat, Empty, Look, Repeat

if TYPE_CHECKING:
    from triseek.query.syntax import LookKind, Node


@dataclass(slots=True)
class Split:
    """Go on at `first`, and with lower priority at `second`."""

    first: int
    second: int


@dataclass(slots=True)
class Assert:
    """Go on at the next instruction if look number `bit` of the program holds."""

    bit: int


@dataclass(slots=True)
class Spell:
    """Read the bytes of one of these sequences, then go on at the next instruction."""

    sequences: tuple[ByteSequence, ...]


@dataclass(slots=True)
class Jump:
    """Go on elsewhere."""

    to: int


@dataclass(slots=True)
class Save:
    """Remember this place of the text: group `slot // 2` begins (even slots) or ends (odd) here."""

    slot: int


@dataclass(slots=True)
class Match:
    """A match ends here."""


Instruction: TypeAlias = Split | Assert | Spell | Jump | Save | Match


@dataclass(slots=True)
class Program:
    """A pattern, compiled."""

    backwards: bool
    """Whether it reads from the end of a match to its start."""
    code: list[Instruction] = field(default_factory=list)
    looks: dict[Look, int] = field(default_factory=dict)
    """The assertions in it, and their numbers."""


def compile_program(tree: Node, *, anywhere: bool = False, backwards: bool = False) -> Program:
    """Return the program for `tree`; `anywhere`: a match may start after any number of bytes."""
    program = Program(backwards)
    if anywhere:
        program.code += [Split(3, 1), Spell((((0, 0xFF),),)), Jump(0)]
    _emit(tree, program)
    program.code.append(Match())
    return program


def _emit(node: Node, program: Program) -> None:
    code = program.code
    match node:
        case Empty():
            pass
        case Chars(ranges):
            code.append(Spell(_spellings(utf8_sequences(ranges), backwards=program.backwards)))
        case Bytes(ranges):
            code.append(Spell(tuple((pair,) for pair in ranges)))
        case Look():
            code.append(Assert(program.looks.setdefault(node, len(program.looks))))
        case Concat(parts):
            for part in reversed(parts) if program.backwards else parts:
                _emit(part, program)
        case Alternate(parts):
            _emit_alternate(parts, program)
        case Repeat():
            _emit_repeat(node, program)
        case Capture(body, number):
            code.append(Save(2 * number))
            _emit(body, program)
            code.append(Save(2 * number + 1))


def _spellings(sequences: tuple[ByteSequence, ...], *, backwards: bool) -> tuple[ByteSequence, ...]:
    return tuple(one[::-1] for one in sequences) if backwards else sequences


def _emit_alternate(parts: tuple[Node, ...], program: Program) -> None:
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


def _emit_repeat(node: Repeat, program: Program) -> None:
    """Write `low` copies, then a loop or the optional copies."""
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


def _emit_star(node: Repeat, program: Program) -> None:
    """Write a loop; but `(x+)?` for an `x` that can be empty, which a loop would rank too low.

    RE2 and Rust settled on the same two forms (golang/go#46123).
    """
    start = len(program.code)
    split = _split(program, greedy=node.greedy)
    if can_be_empty(node.node):
        _emit_plus(node, program)
    else:
        _emit(node.node, program)
        program.code.append(Jump(start))
    _leave(split, len(program.code), greedy=node.greedy)


def _emit_plus(node: Repeat, program: Program) -> None:
    start = len(program.code)
    _emit(node.node, program)
    after = len(program.code) + 1
    program.code.append(Split(start, after) if node.greedy else Split(after, start))


def can_be_empty(tree: Node) -> bool:
    """Return whether the tree can match without reading anything, if its assertions hold."""
    return fold(tree, _can_be_empty)


def _can_be_empty(node: Node, below: list[bool]) -> bool:
    if isinstance(node, Alternate):
        return any(below)
    if isinstance(node, Repeat):
        return node.low == 0 or below[0]
    return not isinstance(node, Chars | Bytes) and all(below)


def matches_every_line(tree: Node) -> bool:
    """Return whether there is a match of nothing at the beginning, or at the end, of any line."""
    return any(fold(tree, partial(_is_empty_where, kinds)) for kinds in _LINE_EDGES)


_LINE_EDGES: tuple[tuple[LookKind, ...], ...] = (
    ("line_start", "line_start_crlf"),
    ("line_end",),
    ("line_end_crlf",),
)
"""Assertions that hold together somewhere in any line. The two ends of a line do not in CR LF."""


def _is_empty_where(holds: tuple[LookKind, ...], node: Node, below: list[bool]) -> bool:
    """Return whether a node can match nothing where these assertions hold, and no other may."""
    if isinstance(node, Look):
        return node.kind in holds
    return _can_be_empty(node, below)


def _split(program: Program, *, greedy: bool) -> Split:
    """Write a branch whose one way leads to the next instruction."""
    here = len(program.code) + 1
    split = Split(here, 0) if greedy else Split(0, here)
    program.code.append(split)
    return split


def _leave(split: Split, to: int, *, greedy: bool) -> None:
    """Set the branch's other way."""
    if greedy:
        split.second = to
    else:
        split.first = to
