"""The exact matcher: runs what RE2 cannot express, in linear time, in plain Python.

A pattern becomes two lazily built automata over bytes. The forward one starts anywhere, its states
are lists of instructions in order of priority, and it finds the end of the leftmost match. The
backward one runs from there; the furthest position it reaches is the start of that match. (Russ
Cox, "Regular Expression Matching in the Wild"; Rust's `hybrid` engine.) A symbol is a byte together
with the assertions that hold before it, which `assertions` computes in advance, so Unicode word
boundaries cost no more than others.

Each step is one dictionary look-up once its state is built (about 0.1 µs). Building a state costs
at most the size of the pattern; if too many states are held, all are dropped. No pattern or text
can make it slower than size × length. Threads share it without a lock: two that build the same
state build equal ones, and either may be stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from triseek.model import budget
from triseek.query.regex.assertions import satisfied
from triseek.query.regex.charset import utf8_sequences
from triseek.query.regex.program import Program, Split, compile_program, looks_of
from triseek.query.regex.syntax import Assertion, Bytes, Chars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.query.regex.charset import ByteSequence
    from triseek.query.regex.syntax import Node

_END_OF_TEXT = 256
_SYMBOL_BITS = 9
_CHECK_MASK = (1 << 16) - 1
"""The budget is checked at each position whose bits under this mask are 0: every 64 KiB."""
_MARK_MASK = (1 << 6) - 1
"""The state is remembered at each position whose bits under this mask are 0."""
_ANYWHERE: Program = (Split((3, 1)), Bytes(((0, 0xFF),)), Split((-2,)))
"""Start of a program whose match may start after any bytes."""
_STATES_MAX = 4000
_THREADS_MAX = 200_000
"""Maximum threads in all stored states, about 100 bytes each."""


class Rest:
    """The rest of a character to read: one of these byte sequences."""

    __slots__ = ("next", "sequences")

    def __init__(self, sequences: tuple[ByteSequence, ...]) -> None:
        self.sequences = sequences
        self.next: dict[int, Rest | None] = {}
        """Byte → the rest after it; `None` if it does not fit."""

    def read(self, byte: int) -> Rest | None:
        """Return the rest after `byte`; `None` if no sequence begins with it."""
        if byte not in self.next:
            fitting = [seq[1:] for seq in self.sequences if seq[0][0] <= byte <= seq[0][1]]
            # UTF-8 is prefix-free and suffix-free: where one sequence ends, no other continues.
            self.next[byte] = None if not fitting else Rest(tuple(filter(None, fitting)))
        return self.next[byte]


def rests_of(code: Program, *, backwards: bool = False) -> list[Rest | None]:
    """Return what each instruction reads; the same object for the same characters."""
    rests: dict[tuple[ByteSequence, ...], Rest] = {}

    def rest(sequences: tuple[ByteSequence, ...]) -> Rest:
        return rests.setdefault(sequences, Rest(sequences))

    out: list[Rest | None] = []
    for step in code:
        match step:
            case Chars(ranges):
                spelled = utf8_sequences(ranges)
                out.append(rest(tuple(s[::-1] for s in spelled) if backwards else spelled))
            case Bytes(ranges):
                out.append(rest(tuple((pair,) for pair in ranges)))
            case _:
                out.append(None)
    return out


Thread: TypeAlias = tuple[int, Rest | None]
"""An instruction, and the rest of the character that it has begun to read, if any."""


class Barren:
    """States at places of one text from which an earlier search has found no match.

    Where a pattern begins with what may be any length, as `.*?`, each search would go on to the end
    of the text to see whether a match comes that is preferred. A later search that is in the same
    state at the same place need not look again.
    """

    def __init__(self) -> None:
        self.after = 0
        """Up to there what holds at a place differs from search to search."""
        self._states: dict[int, _State] = {}
        self._generation = 0

    def is_known(self, position: int, state: _State) -> bool:
        """Whether an earlier search was there in this state."""
        return self._states.get(position) is state

    def add(self, passed: dict[int, _State], generation: int) -> None:
        """Remember where a search that found nothing more was in which state.

        States of an earlier generation are forgotten: each keeps all of its generation alive.
        """
        if generation != self._generation:
            self._states = {}
            self._generation = generation
        self._states.update(passed)


class ExactMatcher:
    """Finder of the leftmost-first matches of a tree in bytes."""

    def __init__(self, tree: Node) -> None:
        forwards = compile_program(tree)
        self.looks = looks_of(forwards)
        """The assertions in the pattern, in the order of their bits."""
        self._forwards = _Automaton((*_ANYWHERE, *forwards), self.looks)
        self._backwards = _Automaton(
            compile_program(tree, backwards=True), self.looks, backwards=True
        )

    def find(
        self,
        text: bytes,
        at: int = 0,
        masks: Sequence[int] = (),
        barren: Barren | None = None,
    ) -> tuple[int, int] | None:
        """Return the leftmost match that starts at or after `at`; assertions see what precedes.

        Args:
            text: Text to search.
            at: Byte offset, at most `len(text)`.
            masks: `satisfied(self.looks, text)`, for callers that search one text repeatedly.
            barren: What earlier searches of the text have found out, for the same callers.
        """
        budget.check()
        if self.looks and not masks:
            masks = satisfied(self.looks, text)
        end = self._forwards.last_match(text, masks, at, barren or Barren())
        if end < 0:
            return None
        return self._backwards.first_match(text, masks, at, end), end


class _State:
    """A set of places in the program, in order of priority, and the transitions from it."""

    __slots__ = ("next", "threads")

    def __init__(self, threads: tuple[Thread, ...]) -> None:
        self.threads = threads
        self.next: dict[int, tuple[_State | None, bool]] = {}
        """Symbol → next state (`None`: dead end), and whether a match ends before the symbol."""


class _Automaton:
    """The states of one program that have been built so far."""

    def __init__(
        self, code: Program, looks: tuple[Assertion, ...], *, backwards: bool = False
    ) -> None:
        self._code = code
        self._stop_at_match = not backwards
        self._states: dict[tuple[Thread, ...], _State] = {}
        self._held = 0
        """Threads in all stored states: a state of a long pattern may have thousands."""
        self._generation = 0
        """How often all states were dropped."""
        self._start = _State(((0, None),))
        self._rests = rests_of(code, backwards=backwards)
        self._bits = [1 << looks.index(s) if isinstance(s, Assertion) else 0 for s in code]

    def last_match(self, text: bytes, masks: Sequence[int], at: int, barren: Barren) -> int:
        """Return the end of the preferred match, running forwards from `at`; -1 if none."""
        state = self._start
        match_end = -1
        passed: dict[int, _State] = {}
        """The state of this search at positions behind the last match it found."""
        generation = self._generation
        for position in range(at, len(text) + 1):
            if not position & _MARK_MASK and position > barren.after:
                if not position & _CHECK_MASK:
                    budget.check()
                if barren.is_known(position, state):
                    break
                if generation != self._generation:
                    generation = self._generation
                    passed.clear()
                passed[position] = state
            symbol = text[position] if position < len(text) else _END_OF_TEXT
            if masks:
                symbol |= masks[position] << _SYMBOL_BITS
            following, matched = state.next.get(symbol) or self._step(state, symbol)
            if matched:
                match_end = position
                passed.clear()
            if following is None:
                break
            state = following
        barren.add(passed, generation)
        return match_end

    def first_match(self, text: bytes, masks: Sequence[int], at: int, end: int) -> int:
        """Return the furthest start of a match, running backwards from `end`, not past `at`."""
        state = self._start
        match_start = end
        for position in range(end, at - 1, -1):
            if not position & _CHECK_MASK:
                budget.check()
            symbol = text[position - 1] if position > 0 else _END_OF_TEXT
            if masks:
                symbol |= masks[position] << _SYMBOL_BITS
            following, matched = state.next.get(symbol) or self._step(state, symbol)
            if matched:
                match_start = position
            if following is None:
                break
            state = following
        return match_start

    def _step(self, state: _State, symbol: int) -> tuple[_State | None, bool]:
        """Compute and store the transition of a state for a symbol."""
        budget.check()
        ready, matched = self._closure(state.threads, symbol >> _SYMBOL_BITS)
        byte = symbol & ((1 << _SYMBOL_BITS) - 1)
        threads: dict[Thread, None] = {}
        if byte != _END_OF_TEXT:
            for place, left in ready:
                rest = left.read(byte)
                if rest is not None:
                    threads[(place, rest) if rest.sequences else (place + 1, None)] = None
        following = self._state(tuple(threads)) if threads else None
        state.next[symbol] = following, matched
        return following, matched

    def _state(self, threads: tuple[Thread, ...]) -> _State:
        state = self._states.get(threads)
        if state is None:
            self._held += len(threads) + 1
            if len(self._states) >= _STATES_MAX or self._held > _THREADS_MAX:
                self._states = {}
                self._generation += 1
                self._held = len(threads) + 1
                self._start = _State(self._start.threads)
            state = self._states[threads] = _State(threads)
        return state

    def _closure(
        self, threads: tuple[Thread, ...], mask: int
    ) -> tuple[list[tuple[int, Rest]], bool]:
        """Follow all instructions that read nothing.

        Returns:
            The places that read a byte, each with its `Rest`, and whether a match ends here.
        """
        seen: set[Thread] = set()
        ready: list[tuple[int, Rest]] = []
        waiting = list(reversed(threads))
        matched = False
        while waiting:
            thread = waiting.pop()
            if thread in seen:
                continue
            seen.add(thread)
            place, left = thread
            instruction = self._code[place]
            rest = left or self._rests[place]
            if rest is not None:
                ready.append((place, rest))
            elif isinstance(instruction, Split):
                waiting += [(place + jump, None) for jump in reversed(instruction.jumps)]
            elif isinstance(instruction, Assertion):
                if mask & self._bits[place]:
                    waiting.append((place + 1, None))
            else:
                matched = True
                if self._stop_at_match:
                    break
        return ready, matched
