"""Exact spans of the capturing groups of a match.

The match itself is found by the pattern (`query.pattern`). Its groups are found by RE2 if RE2 can
express the pattern for this text, else by a simulation of the pattern's program that carries the
positions of the groups along (Pike's algorithm; Russ Cox, "Regular Expression Matching: the Virtual
Machine Approach"). The simulation takes time in the size of the pattern times the match length.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from triseek.model import budget
from triseek.query.regex.assertions import satisfied
from triseek.query.regex.emit import re2_groups
from triseek.query.regex.exact import Rest, rests_of
from triseek.query.regex.parse import parse_groups
from triseek.query.regex.program import Match, Save, Split, compile_program, looks_of
from triseek.query.regex.syntax import Assertion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from triseek.model.search import PatternSpec
    from triseek.query.regex.emit import FindGroups

    Span: TypeAlias = tuple[int, int]
    Slots: TypeAlias = tuple[int, ...]
    Thread: TypeAlias = tuple[int, Rest | None, Slots]

_UNSET = -1


class Captures:
    """Finder of the groups in the matches of one pattern."""

    def __init__(self, spec: PatternSpec) -> None:
        groups = parse_groups(spec)
        self.names = groups.names
        """Group name → group number."""
        self._tree = groups.tree
        self._code = compile_program(groups.tree)
        self._looks = looks_of(self._code)
        slots = [step.slot for step in self._code if isinstance(step, Save)]
        self.count = 1 + max(slots, default=1) // 2
        """Number of groups, including the whole match."""
        self._rests = rests_of(self._code)
        self._seen: tuple[bytes | None, Sequence[int]] = None, ()

    @cached_property
    def _re2_ascii(self) -> FindGroups | None:
        return re2_groups(self._tree, "ascii", self.count)

    @cached_property
    def _re2_any(self) -> FindGroups | None:
        return re2_groups(self._tree, "exact", self.count)

    def groups(self, text: bytes, begin: int, end: int) -> list[Span]:
        """Return the span of each group of a match; (-1, -1) for a group that took no part.

        text: The text in which text[begin:end] matches; assertions see what is around the match.
        """
        find = self._re2_ascii if text.isascii() else self._re2_any
        spans = find(text, begin, end) if find else None
        return spans or self._simulated(text, begin, end)

    def _simulated(self, text: bytes, begin: int, end: int) -> list[Span]:
        masks = self._masks(text)
        threads: list[Thread] = [(0, None, (_UNSET,) * (2 * self.count))]
        for at in range(begin, end):
            budget.check()
            ready, _ = self._closure(threads, masks[at] if masks else 0, at)
            byte, threads = text[at], []
            for place, rest, slots in ready:
                left = rest.read(byte) if rest else None
                if left is not None:
                    onward = (place, left) if left.sequences else (place + 1, None)
                    threads.append((*onward, slots))
        _, matched = self._closure(threads, masks[end] if masks else 0, end)
        places = matched or (_UNSET,) * (2 * self.count)
        spans = list(zip(places[::2], places[1::2], strict=True))
        return [(begin, end), *spans[1:]]

    def _masks(self, text: bytes) -> Sequence[int]:
        """Return the assertions that hold at each position; cached for the matches of one line."""
        if not self._looks:
            return ()
        if self._seen[0] is not text:
            self._seen = text, satisfied(self._looks, text)
        return self._seen[1]

    def _closure(
        self, threads: list[Thread], mask: int, at: int
    ) -> tuple[list[Thread], Slots | None]:
        """Follow all instructions that read nothing.

        Returns:
            The threads that read a byte, and the slots of a match, or None.
        """
        seen: set[tuple[int, Rest | None]] = set()
        ready: list[Thread] = []
        waiting = threads[::-1]
        while waiting:
            place, rest, slots = waiting.pop()
            if (place, rest) in seen:
                continue
            seen.add((place, rest))
            rest = rest or self._rests[place]
            match self._code[place]:
                case Split(jumps):
                    waiting += [(place + jump, None, slots) for jump in reversed(jumps)]
                case Assertion() as look:
                    if mask >> self._looks.index(look) & 1:
                        waiting.append((place + 1, None, slots))
                case Save(slot):
                    saved = (*slots[:slot], at, *slots[slot + 1 :])
                    waiting.append((place + 1, None, saved))
                case Match():
                    return ready, slots
                case _:
                    ready.append((place, rest, slots))
        return ready, None
