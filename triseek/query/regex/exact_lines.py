"""Faster use of the exact matcher: it runs only on lines that may match.

RE2 finds candidates with a superset of the pattern (assertions dropped). If no match can cross a
line end, the exact matcher then searches one line at a time, so that the data it keeps about a text
stays small.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from triseek.query.regex.assertions import satisfied, satisfied_anew
from triseek.query.regex.charset import contains
from triseek.query.regex.emit import find_anew, re2_find
from triseek.query.regex.exact import Barren, ExactMatcher
from triseek.query.regex.syntax import Assertion, Bytes, Chars, any_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.query.regex.emit import Find
    from triseek.query.regex.syntax import Node

_LF = 0x0A
_SEE_LINE_ENDS = ("text_start", "text_end", "line_start_crlf", "line_end_crlf")
"""Assertions that distinguish the end of a line from the end of a text."""


class ExactLines:
    """Search with the exact matcher, which is built on first use."""

    def __init__(self, tree: Node) -> None:
        self._tree = tree
        self._by_line = not sees_line_ends(tree)

    @cached_property
    def matcher(self) -> ExactMatcher:
        """The exact matcher."""
        return ExactMatcher(self._tree)

    @cached_property
    def _candidate(self) -> Find:
        """Search for the earliest position where a match may start; finds none if none can."""
        return re2_find(self._tree, "superset") or (lambda _, at: (at, at))

    def finder(self, *, anew: bool = False) -> Find:
        """Return a search function for one text; it may be called repeatedly.

        anew: Whether each call treats its start position as the beginning of the text.
        """
        if self._by_line:
            return _LineByLine(self, anew=anew).find
        masks: list[int] = []
        barren = Barren()

        def find(text: bytes, at: int) -> tuple[int, int] | None:
            candidate = self.candidate(text, at, anew=anew)
            if candidate is None:
                return None
            if not masks:
                masks.extend(satisfied(self.matcher.looks, text))
            with self.seen_anew(text, at, masks) if anew else nullcontext(at) as after:
                barren.after = after
                return self.matcher.find(text, candidate[0], masks, barren)

        return find

    @contextmanager
    def seen_anew(self, text: bytes, at: int, masks: list[int]) -> Iterator[int]:
        """Within the block, set `masks` to the assertions that hold if the text begins at `at`.

        Yields the position up to which they differ from those of the whole text.
        """
        near = satisfied_anew(self.matcher.looks, text, at)
        there = slice(at, at + len(near))
        kept = masks[there]
        masks[there] = near
        try:
            yield at + len(near)
        finally:
            masks[there] = kept

    def candidate(self, text: bytes, at: int, *, anew: bool) -> tuple[int, int] | None:
        """Return the earliest position where a match may start; `None` if there is none."""
        return find_anew(self._candidate, text, at) if anew else self._candidate(text, at)


class _LineByLine:
    """Line-by-line search of one text; caches the line that was searched last."""

    def __init__(self, exact: ExactLines, *, anew: bool) -> None:
        self._exact = exact
        self._anew = anew
        self._start = self._end = -1
        self._line = b""
        self._masks: list[int] = []

    def find(self, text: bytes, at: int) -> tuple[int, int] | None:
        """Return the leftmost match at or after `at`."""
        first = at if self._anew else -1
        while at <= len(text):
            candidate = self._exact.candidate(text, at, anew=at == first)
            if candidate is None:
                return None
            at = candidate[0]
            # The line is stored with the line end before it, but with nothing before that.
            if not (self._start < at <= self._end or at == self._start == 0):
                self._look_at_line(text, at)
            span = self._find_in_line(at - self._start, first - self._start)
            if span is not None:
                return span[0] + self._start, span[1] + self._start
            at = self._end + 1
        return None

    def _find_in_line(self, at: int, first: int) -> tuple[int, int] | None:
        """Search the line from `at` on; if `first` is in the line, the text begins there."""
        exact = self._exact
        is_here = 0 <= first <= len(self._line)
        with exact.seen_anew(self._line, first, self._masks) if is_here else nullcontext():
            return exact.matcher.find(self._line, at, self._masks)

    def _look_at_line(self, text: bytes, at: int) -> None:
        # The line includes the line end before it: stray continuation bytes at its start are
        # decoded together with the byte before them (see `assertions`).
        self._start = max(text.rfind(b"\n", 0, at), 0)
        end = text.find(b"\n", at)
        self._end = len(text) if end < 0 else end
        self._line = text[self._start : self._end]
        self._masks = list(satisfied(self._exact.matcher.looks, self._line))


def sees_line_ends(tree: Node) -> bool:
    """Return whether splitting a text into lines could change what the tree matches."""
    return any_node(tree, _sees_line_ends)


def _sees_line_ends(node: Node) -> bool:
    if isinstance(node, Chars | Bytes):
        return contains(node.ranges, _LF)
    return isinstance(node, Assertion) and node.kind in _SEE_LINE_ENDS
