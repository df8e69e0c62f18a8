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
from typing import TYPE_CHECKING

import numpy as np

from triseek.kernels.formats import Dfa, read_only
from triseek.query.regex.assertions import EDGE, OTHER, WORD, WORD_LOOKS
from triseek.query.regex.program import Split, TooLargeError, compile_program, looks_of
from triseek.query.regex.syntax import Assertion, Bytes, Chars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.query.regex.program import Instruction, Program
    from triseek.query.regex.syntax import LookKind, Node, Ranges

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


def build(tree: Node) -> Dfa | None:
    r"""Return an automaton for matches of `tree` within one line.

    None if it would take too many states or too long to build, or if the tree has assertions that
    cannot be decided from a line alone: beginning or end of the text (`\A`, `\z`), or CR LF.
    """
    try:
        program = compile_program(tree, limit=PROGRAM_MAX)
        return _Builder(program).dfa() if all(map(_is_decidable, looks_of(program))) else None
    except TooLargeError:
        return None


# From program to DFA. Sets of instructions are integers in which bit n stands for instruction n.

LOOKS: dict[LookKind, Callable[[int, int], bool]] = {
    **WORD_LOOKS,
    "line_start": lambda before, _: before == EDGE,
    "line_end": lambda _, after: after == EDGE,
}
"""Assertion → whether it holds, given what is before and after the position: `EDGE` for the end of
the line."""
ASCII_WORDS = sum(1 << byte for byte in range(0x80) if chr(byte).isalnum() or byte == ord("_"))
ASCII_BYTES = (1 << 0x80) - 1
NEWLINE = 1 << ord("\n")


def _is_decidable(look: Assertion) -> bool:
    return look.kind in LOOKS


class _Builder:
    """The subset construction for one program."""

    def __init__(self, code: Program) -> None:
        self.code = code
        self.steps = 0
        self.match = 1 << (len(code) - 1)
        kinds = [step.kind if isinstance(step, Assertion) else "" for step in code]
        self.looks = _places(map(bool, kinds))
        self.words = _places("word" in kind for kind in kinds)
        self.line_starts = _places(kind == "line_start" for kind in kinds)
        self.masks = [_mask(_ranges_of(step)) for step in code]
        """The ASCII bytes that each instruction consumes, one bit per byte."""
        self.runs = _dominated_runs(code)
        ends_in_ascii = all(ranges[-1][1] < 0x80 for ranges in map(_ranges_of, code) if ranges)
        self.ascii_only = not self.words and ends_in_ascii
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

    def _classes(self) -> list[int]:
        """Return disjoint sets of bytes that every instruction treats alike; newline is its own."""
        classes = [ASCII_BYTES]
        for mask in {*self.masks, NEWLINE, ASCII_WORDS if self.words else 0}:
            halves = chain.from_iterable((part & mask, part & ~mask) for part in classes)
            classes = [half for half in halves if half]
            self._work(len(classes))
        return classes

    def _class_of(self, byte: int) -> int:
        return next(at for at, members in enumerate(self.classes) if members & byte)

    def _consumers(self, members: int) -> int:
        self._work(len(self.code) // 8)
        return _places(mask & members != 0 for mask in self.masks)

    def _work(self, steps: int) -> None:
        self.steps += steps
        if self.steps > STEPS_MAX:
            raise TooLargeError

    def _closure(self, first: int) -> int:
        """Return the non-split instructions that are reachable from `first` without input."""
        cached = self.reached.get(first)
        if cached is not None:
            return cached
        reached, seen, waiting = 0, {first}, [first]
        while waiting:
            at = waiting.pop()
            self._work(1)
            step = self.code[at]
            if not isinstance(step, Split):
                reached |= 1 << at
                continue
            ahead = {at + jump for jump in step.jumps} - seen
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
                raise TooLargeError
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
            look = self.code[at]
            if isinstance(look, Assertion) and LOOKS[look.kind](before, after):
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


def _places(holds: Iterable[bool]) -> int:
    """Return the set of the instructions for which this is true."""
    return sum(1 << at for at, holds_here in enumerate(holds) if holds_here)


def _ranges_of(step: Instruction) -> Ranges:
    return step.ranges if isinstance(step, Chars | Bytes) else ()


def _mask(ranges: Ranges) -> int:
    """Return the ASCII part of the ranges as a bit mask, one bit per byte."""
    bits = 0
    for low, high in ranges:
        if low < 0x80:
            bits |= (1 << (min(high, 0x7F) + 1)) - (1 << low)
    return bits


def _dominated_runs(code: Program) -> list[int]:
    """Return the sets of places of which only the last matters.

    In `x{3,}` the three places before an x differ in how many are still needed: any text that
    completes an earlier one also completes a later one. Without this reduction,
    `[a-z][a-z0-9]{10,}` would need a state for each subset of ten places.
    """
    runs = []
    for at, step in enumerate(code):
        if not isinstance(step, Split) or set(step.jumps) != {-1, 1}:
            continue
        first = last = at - 1
        while first and code[first - 1] == code[last]:
            first -= 1
        runs.append((1 << at) - (1 << first))
    return [run for run in runs if run & (run - 1)]
