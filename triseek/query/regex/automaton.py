"""A deterministic automaton that decides whether a line matches, or that it cannot decide.

The tree is compiled to a program for Ken Thompson's machine (Russ Cox, "Regular Expression
Matching: the Virtual Machine Approach", 2009), and the program to a DFA by the subset construction
over byte classes. The DFA looks for any match in a line, not for its position. It stops as soon as
a match is certain, so one absorbing state is enough.

Assertions depend on the next byte, so they stay pending in a state until the next byte or the end
of the line is known (as in RE2 and Rust's regex-automata). If the pattern can consume non-ASCII
bytes or has word assertions, a non-ASCII byte makes the DFA quit, and another engine decides the
line. For a purely ASCII pattern such a byte just ends all matches in progress.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triseek.kernels.formats import Dfa, read_only
from triseek.query.regex import syntax

if TYPE_CHECKING:
    from collections.abc import Callable


MATCH = 0
"""State: a match has been seen. Absorbing."""
QUIT = 1
"""State: a non-ASCII byte was read before any match. Absorbing."""
SKIP = 2
"""State: this line has been decided; set by the kernels, leads to `start` after a newline."""
FIRST = 3
"""Number of the first state that belongs to the pattern."""
STATES_MAX = 4096
"""Maximum states of a DFA."""
PROGRAM_MAX = 2000
"""Maximum instructions of a program."""
STEPS_MAX = 100_000
"""Maximum instructions visited while building; about 200 ms."""


def build(tree: syntax.Node) -> Dfa | None:
    r"""Return an automaton for matches of `tree` within one line.

    None if it would take too many states or too long to build, or if the tree has assertions that
    cannot be decided from a line alone: beginning or end of the text (`\A`, `\z`), or CR LF.
    """
    program = syntax.fold(tree, _compile)
    if program is None:
        return None
    try:
        return _Builder([*program, Instruction("match")]).dfa()
    except _TooLarge:
        return None


# From tree to program.


class Instruction(NamedTuple):
    """One step of a program: `byte` and `look` continue at the next one, `split` at several."""

    kind: str
    mask: int = 0
    """byte: bit b is set if it consumes byte b; ASCII only."""
    beyond: bool = False
    """byte: whether it consumes non-ASCII characters, which the automaton does not handle."""
    look: syntax.LookKind = "line_start"
    jumps: tuple[int, ...] = ()
    """split: targets, relative to this instruction."""


Program: TypeAlias = tuple[Instruction, ...]


def _compile(node: syntax.Node, parts: list[Program | None]) -> Program | None:
    """Return a program that falls through at its end; None if there is none (see `build`)."""
    programs = [part for part in parts if part is not None]
    if len(programs) < len(parts):
        return None
    match node:
        case syntax.Empty():
            return ()
        case syntax.Chars(ranges) | syntax.Bytes(ranges):
            beyond = any(high >= 0x80 for _, high in ranges)
            return (Instruction("byte", mask=_mask(ranges), beyond=beyond),)
        case syntax.Assertion(kind):
            return (Instruction("look", look=kind),) if kind in LOOKS else None
        case syntax.Concat():
            joined = tuple(chain.from_iterable(programs))
            return joined if len(joined) <= PROGRAM_MAX else None
        case syntax.Alternate():
            return _alternate(programs)
        case syntax.Repeat(_, low, high):
            return _repeat(programs[0], low, high)
        case syntax.Capture():
            return programs[0]


def _mask(ranges: syntax.Ranges) -> int:
    """Return the ASCII part of the ranges as a bit mask, one bit per byte."""
    bits = 0
    for low, high in ranges:
        if low < 0x80:
            bits |= (1 << (min(high, 0x7F) + 1)) - (1 << low)
    return bits


def _alternate(programs: list[Program]) -> Program | None:
    if not programs:
        return (Instruction("byte"),)  # consumes no byte, so it never continues
    jumps, at = [], 1
    for program in programs:
        jumps.append(at)
        at += len(program) + 1
    body: list[Instruction] = [Instruction("split", jumps=tuple(jumps))]
    if at > PROGRAM_MAX:
        return None
    for program in programs:
        body += program
        body.append(Instruction("split", jumps=(at - len(body),)))
    return tuple(body)


def _repeat(program: Program, low: int, high: int | None) -> Program | None:
    optional = 1 if high is None else high - low
    if (len(program) + 1) * (low + optional) > PROGRAM_MAX:
        return None
    if high is None and low:
        again = Instruction("split", jumps=(-len(program), 1))
        return (*program * low, again)
    if high is None:
        enter = Instruction("split", jumps=(1, len(program) + 2))
        again = Instruction("split", jumps=(-len(program), 1))
        return (enter, *program, again)
    body = program * low
    size = len(program) + 1
    for left in range(optional, 0, -1):
        body += (Instruction("split", jumps=(1, left * size)), *program)
    return body


# From program to DFA. Sets of instructions are integers in which bit n stands for instruction n.

OTHER, WORD, EDGE = 0, 1, 2
"""What is before or after a position: another byte, a word byte, the end of the line."""

LOOKS: dict[str, Callable[[int, int], bool]] = {
    "line_start": lambda before, _: before == EDGE,
    "line_end": lambda _, after: after == EDGE,
    "word": lambda before, after: (before == WORD) != (after == WORD),
    "not_word": lambda before, after: (before == WORD) == (after == WORD),
    "word_start": lambda before, after: before != WORD and after == WORD,
    "word_end": lambda before, after: before == WORD and after != WORD,
    "word_start_half": lambda before, _: before != WORD,
    "word_end_half": lambda _, after: after != WORD,
}
ASCII_WORDS = sum(1 << byte for byte in range(0x80) if chr(byte).isalnum() or byte == ord("_"))
ASCII_BYTES = (1 << 0x80) - 1
NEWLINE = 1 << ord("\n")


class _TooLarge(Exception):
    """The automaton exceeds its limits."""


class _Builder:
    """The subset construction for one program."""

    def __init__(self, code: list[Instruction]) -> None:
        self.code = code
        self.steps = 0
        self.match = 1 << (len(code) - 1)
        self.looks = self._where(lambda step: step.kind == "look")
        self.line_starts = self._where(lambda step: step.kind == "look" and "start" in step.look)
        self.line_starts &= ~self._where(lambda step: "word" in step.look)
        self.words = self._where(lambda step: step.kind == "look" and "word" in step.look)
        self.runs = _dominated_runs(code)
        self.ascii_only = not self.words and not any(step.beyond for step in code)
        self.classes = self._classes()
        self.consumers = [self._consumers(members) for members in self.classes]
        self.kinds = [WORD if members & ASCII_WORDS else OTHER for members in self.classes]
        self.reached: dict[int, int] = {}
        self.after: dict[int, int] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.waiting: list[tuple[int, int]] = []

    def dfa(self) -> Dfa:
        """Build the DFA. States are numbered on discovery, so `waiting` grows during the loop."""
        start = self._number(self._closure(0), EDGE)
        return self._laid_out([self._row(*state) for state in self.waiting], start)

    def _laid_out(self, rows: list[list[int]], start: int) -> Dfa:
        """Transpose rows per state into rows per class; the last class holds non-ASCII bytes."""
        n_classes = len(self.classes) + 1
        newline = self._class_of(NEWLINE)
        table = np.empty((n_classes, len(rows) + FIRST), np.uint16)
        table[:, MATCH], table[:, QUIT], table[:, SKIP] = MATCH, QUIT, SKIP
        table[newline, SKIP] = start
        table[:, FIRST:] = np.array(rows, np.uint16).reshape(-1, n_classes).T
        eol_accept = table[newline] == MATCH
        class_of = [self._class_of(1 << byte) for byte in range(0x80)] + [n_classes - 1] * 0x80
        offsets = np.array(class_of, np.uint32) * np.uint32(table.shape[1])
        accepts = eol_accept.astype(np.uint8)
        return Dfa(read_only(offsets), read_only(table.ravel()), start, read_only(accepts))

    def _where(self, holds: Callable[[Instruction], bool]) -> int:
        return sum(1 << at for at, step in enumerate(self.code) if holds(step))

    def _classes(self) -> list[int]:
        """Return disjoint sets of bytes that every instruction treats alike; newline is its own."""
        masks = {step.mask for step in self.code if step.kind == "byte"} | {NEWLINE}
        classes = [ASCII_BYTES]
        for mask in masks | ({ASCII_WORDS} if self.words else set()):
            halves = chain.from_iterable((part & mask, part & ~mask) for part in classes)
            classes = [half for half in halves if half]
            self._work(len(classes))
        return classes

    def _class_of(self, byte: int) -> int:
        return next(at for at, members in enumerate(self.classes) if members & byte)

    def _consumers(self, members: int) -> int:
        self._work(len(self.code) // 8)
        return self._where(lambda step: bool(step.mask & members))

    def _work(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS_MAX:
            raise _TooLarge

    def _closure(self, first: int) -> int:
        """Return the non-split instructions that are reachable from `first` without input."""
        cached = self.reached.get(first)
        if cached is not None:
            return cached
        reached, seen, waiting = 0, {first}, [first]
        while waiting:
            at = waiting.pop()
            self._work(1)
            if self.code[at].kind != "split":
                reached |= 1 << at
                continue
            ahead = {at + jump for jump in self.code[at].jumps} - seen
            seen |= ahead
            waiting += ahead
        self.reached[first] = reached
        return reached

    def _number(self, places: int, before: int) -> int:
        """Return the number of a state; append a new state to `waiting`."""
        if places & self.match:
            return MATCH
        if before != EDGE:
            places &= ~self.line_starts
        for run in self.runs:
            present = places & run
            if present & (present - 1):
                places ^= present ^ (1 << (present.bit_length() - 1))
        state = places, self._what_matters(places, before)
        number = self.numbers.get(state)
        if number is None:
            number = self.numbers[state] = len(self.numbers) + FIRST
            self.waiting.append(state)
            if number >= STATES_MAX:
                raise _TooLarge
        return number

    def _what_matters(self, places: int, before: int) -> int:
        """Return `before` if assertions here, or behind those, may depend on it; else `OTHER`."""
        relevant = {EDGE: self.line_starts, WORD: self.words, OTHER: 0}[before]
        return before if relevant and places & self.looks else OTHER

    def _row(self, places: int, before: int) -> list[int]:
        """Return the next state for each class of bytes."""
        row = []
        resolved = {after: self._resolved(places, before, after) for after in (OTHER, WORD, EDGE)}
        for members, consumers, kind in zip(self.classes, self.consumers, self.kinds, strict=True):
            self._work(1)
            now = resolved[EDGE if members == NEWLINE else kind]
            if now & self.match:
                row.append(MATCH)
            elif members == NEWLINE:
                row.append(self._number(self._closure(0), EDGE))
            else:
                row.append(self._number(self._onward(now & consumers), kind))
        return [*row, self._beyond_ascii(resolved[OTHER])]

    def _beyond_ascii(self, places: int) -> int:
        """Return the next state for a non-ASCII byte.

        It is `QUIT` unless the pattern is ASCII only; then no instruction consumes the byte.
        """
        if not self.ascii_only:
            return QUIT
        return MATCH if places & self.match else self._number(self._onward(0), OTHER)

    def _resolved(self, places: int, before: int, after: int) -> int:
        """Return the places, plus those reachable through assertions that hold here."""
        waiting = places & self.looks
        while waiting:
            at = waiting.bit_length() - 1
            waiting ^= 1 << at
            self._work(1)
            if LOOKS[self.code[at].look](before, after):
                ahead = self._closure(at + 1) & ~places
                places |= ahead
                waiting |= ahead & self.looks
        return places

    def _onward(self, consuming: int) -> int:
        """Return the places after these instructions consumed a byte, plus those of a new match."""
        cached = self.after.get(consuming)
        if cached is not None:
            return cached
        places, rest = self._closure(0), consuming
        while rest:
            at = rest.bit_length() - 1
            rest ^= 1 << at
            self._work(1)
            places |= self._closure(at + 1)
        self.after[consuming] = places
        return places


def _dominated_runs(code: list[Instruction]) -> list[int]:
    """Return the sets of places of which only the last matters.

    In `x{3,}` the three places before an x differ in how many are still needed: any text that
    completes an earlier one also completes a later one. Without this reduction,
    `[a-z][a-z0-9]{10,}` would need a state for each subset of ten places.
    """
    runs = []
    for at, step in enumerate(code):
        if step.jumps != (-1, 1):
            continue
        first = last = at - 1
        while first and code[first - 1] == code[last]:
            first -= 1
        runs.append((1 << at) - (1 << first))
    return [run for run in runs if run & (run - 1)]
