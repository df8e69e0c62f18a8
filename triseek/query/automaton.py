"""A deterministic automaton that tells whether a line matches, or that ASCII cannot tell.

The tree becomes a program in the manner of Ken Thompson's machine (Russ Cox, "Regular Expression
Matching: the Virtual Machine Approach", 2009), the program becomes a DFA by the subset
construction over classes of bytes. It looks for any match anywhere in a line, not for its place:
the first time a match is certain it is done, so one absorbing state is enough.

Assertions look one byte ahead, so they wait in a state until the next byte, or the end of the
line, is known (as RE2 and Rust's regex-automata do). A byte beyond ASCII ends certainty where the
pattern could consume it, or asks what a word is: another engine decides that line. A pattern of
ASCII alone only sees that whatever had begun to match has ended.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triseek.query.fold import fold
from triseek.query.syntax import Alternate, Bytes, Capture, Chars, Concat, Empty, Look, Repeat

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.query.syntax import LookKind, Node, Ranges

MATCH = 0
"""State: a match has been seen. Stays."""
QUIT = 1
"""State: a byte beyond ASCII was met before any match. Stays."""
SKIP = 2
"""State: this line has been decided; kernels set it, and it leads to `start` after a newline."""
FIRST = 3
"""The states from here on are the pattern's own."""
STATES_MAX = 4096
"""States of a DFA."""
PROGRAM_MAX = 2000
"""Instructions of a program."""
STEPS_MAX = 100_000
"""Instructions looked at while building; some 200 ms."""


@dataclass(frozen=True, slots=True, eq=False)
class Dfa:
    """What `kernels.automaton` runs.

    The state after a byte is `table[offsets[byte] + state]`: rows are classes, so that only one
    load stands between a state and the next.
    """

    offsets: np.ndarray
    """uint32[256]: where the row of each byte's class begins in `table`."""
    table: np.ndarray
    """uint16[n_classes * n_states]. After a newline: `start`, or `MATCH` where the line matches."""
    start: int
    """State at the beginning of a line; `MATCH` when every line matches."""
    eol_accept: np.ndarray
    """uint8[n_states]: whether the line matches if it ends in this state."""
    n_classes: int
    n_states: int


def build(tree: Node) -> Dfa | None:
    r"""Return an automaton for matches of `tree` within one line.

    None when it would take too many states or too long to build, or when the tree asks for what
    a line alone does not tell: the beginning or end of the text (`\A`, `\z`), or a CR LF.
    """
    program = fold(tree, _compile)
    if program is None:
        return None
    try:
        return _Builder([*program, Instruction("match")]).dfa()
    except _TooLarge:
        return None


# From tree to program.


class Instruction(NamedTuple):
    """One step of a program: `byte` and `look` go on to the next, `split` to several."""

    kind: str
    mask: int = 0
    """byte: bit b is set when it consumes byte b; never beyond ASCII."""
    beyond: bool = False
    """byte: whether it consumes anything beyond ASCII, which the automaton cannot follow."""
    look: LookKind = "line_start"
    jumps: tuple[int, ...] = ()
    """split: where to go on, relative to this instruction."""


Program: TypeAlias = tuple[Instruction, ...]


def _compile(node: Node, parts: list[Program | None]) -> Program | None:
    """Return a program that falls through at its end, or None when there is none (see `build`)."""
    programs = [part for part in parts if part is not None]
    if len(programs) < len(parts):
        return None
    match node:
        case Empty():
            return ()
        case Chars(ranges) | Bytes(ranges):
            beyond = any(high >= 0x80 for _, high in ranges)
            return (Instruction("byte", mask=_mask(ranges), beyond=beyond),)
        case Look(kind):
            return (Instruction("look", look=kind),) if kind in LOOKS else None
        case Concat():
            joined = tuple(chain.from_iterable(programs))
            return joined if len(joined) <= PROGRAM_MAX else None
        case Alternate():
            return _alternate(programs)
        case Repeat(_, low, high):
            return _repeat(programs[0], low, high)
        case Capture():
            return programs[0]


def _mask(ranges: Ranges) -> int:
    """Return the ASCII part, one bit for each byte."""
    bits = 0
    for low, high in ranges:
        if low < 0x80:
            bits |= (1 << (min(high, 0x7F) + 1)) - (1 << low)
    return bits


def _alternate(programs: list[Program]) -> Program | None:
    if not programs:
        return (Instruction("byte"),)  # consumes nothing, so it never goes on
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


# From program to DFA. Sets of instructions are integers, bit n standing for instruction n.

OTHER, WORD, EDGE = 0, 1, 2
"""What stands before or after a place: some other byte, a word byte, the end of the line."""

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
    """The automaton is beyond its bounds."""


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
        """Number the states as they are discovered, which grows `waiting` under the loop."""
        start = self._number(self._closure(0), EDGE)
        return self._laid_out([self._row(*state) for state in self.waiting], start)

    def _laid_out(self, rows: list[list[int]], start: int) -> Dfa:
        """Turn a row per state into a row per class; the last class is beyond ASCII."""
        n_classes = len(self.classes) + 1
        newline = self._class_of(NEWLINE)
        table = np.empty((n_classes, len(rows) + FIRST), np.uint16)
        table[:, MATCH], table[:, QUIT], table[:, SKIP] = MATCH, QUIT, SKIP
        table[newline, SKIP] = start
        table[:, FIRST:] = np.array(rows, np.uint16).reshape(-1, n_classes).T
        eol_accept = table[newline] == MATCH
        class_of = [self._class_of(1 << byte) for byte in range(0x80)] + [n_classes - 1] * 0x80
        offsets = np.array(class_of, np.uint32) * np.uint32(table.shape[1])
        return Dfa(
            offsets, table.ravel(), start, eol_accept.astype(np.uint8), n_classes, table.shape[1]
        )

    def _where(self, holds: Callable[[Instruction], bool]) -> int:
        return sum(1 << at for at, step in enumerate(self.code) if holds(step))

    def _classes(self) -> list[int]:
        """Return disjoint sets of bytes that every instruction treats alike, newline by itself."""
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
        """Return the instructions other than splits that are reached from `first` for free."""
        known = self.reached.get(first)
        if known is not None:
            return known
        found, seen, waiting = 0, {first}, [first]
        while waiting:
            at = waiting.pop()
            self._work(1)
            if self.code[at].kind != "split":
                found |= 1 << at
                continue
            ahead = {at + jump for jump in self.code[at].jumps} - seen
            seen |= ahead
            waiting += ahead
        self.reached[first] = found
        return found

    def _number(self, places: int, before: int) -> int:
        """Return the number of a state, new ones joining the queue."""
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
        """Return `before` as far as assertions here may ask for it, those behind others too."""
        asked = {EDGE: self.line_starts, WORD: self.words, OTHER: 0}[before]
        return before if asked and places & self.looks else OTHER

    def _row(self, places: int, before: int) -> list[int]:
        """Return where each class of bytes leads from a state."""
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
        """Return where a byte beyond ASCII leads: nowhere new, when nothing could consume it."""
        if not self.ascii_only:
            return QUIT
        return MATCH if places & self.match else self._number(self._onward(0), OTHER)

    def _resolved(self, places: int, before: int, after: int) -> int:
        """Return the places and what lies behind those assertions that hold here."""
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
        """Return the places after these instructions have consumed a byte; a match may begin."""
        known = self.after.get(consuming)
        if known is not None:
            return known
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

    In `x{3,}` the three places before an x differ in how many are still needed: whatever text
    completes an earlier one completes a later one too. Without this, `[a-z][a-z0-9]{10,}` would
    need a state for each subset of ten places.
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
