"""The texts of a query as patterns: where they match in a text, and which lines may hold them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from triseek.engine.ranking.definitions import definition_finder
from triseek.model import budget
from triseek.query.pattern import compile as compile_pattern
from triseek.query.trigrams.literals import required
from triseek.query.zoekt.dialect import file_spec, pattern_spec, reads_wrong_bytes
from triseek.query.zoekt.replaced_text import ReplacedText, replaced_text
from triseek.query.zoekt.sized_cache import SizedCache

if TYPE_CHECKING:
    from triseek.engine.ranking.definition_names import Finder
    from triseek.model.search import PatternSpec
    from triseek.query.pattern import Pattern
    from triseek.query.zoekt.syntax import Repo, Text

Span: TypeAlias = tuple[int, int]

SPANS_MAX = 10_000
"""Matches of one text in one file that are looked at; the answer says so if there are more."""
CACHED_CHARS = 128 << 10
"""Characters of the texts that are kept compiled, which take about 600 bytes for each."""
_CHECK_EVERY = 256
_OTHER_CASES = ("\u017f".encode(), "\u212a".encode())
"""Characters that are s and k in another case."""


class Atom:
    """A text of a query, compiled. Immutable, and safe to share between threads.

    Raises on creation:
        InvalidQuery: The pattern is too large, or has no meaning in our dialect.
    """

    def __init__(self, text: Text | Repo) -> None:
        self.text = text
        self.spec: PatternSpec = file_spec(text)
        """For a search by the engine: it matches in every file in which the text matches."""
        self.pattern: Pattern = compile_pattern(self.spec)
        self._whole = compile_pattern(replace(pattern_spec(text), multiline=True))
        """For whole texts in UTF-8: a pattern that matches within lines means the same there."""
        self._reads_wrong_bytes = reads_wrong_bytes(text)
        folded = self.pattern.folded_literal or b""
        self.is_ascii = not self.spec.unicode or not (b"k" in folded or b"s" in folded)
        """Whether a literal text in any case matches ASCII characters alone."""
        self._finders: dict[str, Finder | None] = {}

    def holds(self, data: bytes) -> bool:
        """Return whether it matches in a file's text, or in its name."""
        return self.first(data) is not None

    def first(self, data: bytes) -> Span | None:
        """Return the leftmost match in a text."""
        replaced = self._replaced(data)
        if replaced is None:
            return self._whole.finder(data)(data, 0)
        span = self._whole.finder(replaced.data)(replaced.data, 0)
        return None if span is None else replaced.original(span)

    def spans(self, data: bytes) -> list[Span]:
        """Return the first `SPANS_MAX` matches in a text that are not empty, in order."""
        replaced = self._replaced(data)
        if replaced is None:
            return self._spans(data)
        return [replaced.original(span) for span in self._spans(replaced.data)]

    def _replaced(self, data: bytes) -> ReplacedText | None:
        return replaced_text(data) if self._reads_wrong_bytes else None

    def _spans(self, data: bytes) -> list[Span]:
        find = self._whole.finder(data)
        spans: list[Span] = []
        at = 0
        while at <= len(data):
            span = find(data, at)
            if span is None:
                break
            begin, end = span
            at = end + (begin == end)
            if begin < end:
                spans.append(span)
            if not len(spans) % _CHECK_EVERY:
                budget.check()
                if len(spans) >= SPANS_MAX:
                    break
        return spans

    def places(self, data: bytes) -> list[int] | None:
        """Return where some text begins that every match holds; None if no such texts are known.

        In ascending order. A text in any case is looked for in lower case, so offsets hold.
        """
        folded = self.pattern.folded_literal
        may_differ = folded is not None and not self.is_ascii and not data.isascii()
        if may_differ and any(map(data.__contains__, _OTHER_CASES)):
            return None
        needles, data = ((folded,), data.lower()) if folded else (self.needles, data)
        if not needles:
            return None
        places: list[int] = []
        for needle in needles:
            at = data.find(needle)
            while at >= 0:
                places.append(at)
                at = data.find(needle, at + 1)
        return sorted(places) if len(needles) > 1 else places

    def definition_finder(self, family: str) -> Finder | None:
        """Return `definitions.definition_finder` of the pattern, made once for each family."""
        if family not in self._finders:
            self._finders[family] = definition_finder(self.pattern, family)
        return self._finders[family]

    @cached_property
    def matches_all(self) -> bool:
        """Whether it matches every text, even an empty one such as that of a binary file."""
        return self.holds(b"")

    @cached_property
    def needles(self) -> tuple[bytes, ...]:
        """Byte strings of which every match holds at least one; empty if none are known."""
        literals = self.pattern.literals
        return literals if literals and all(literals) else required(self.pattern.tree)

    @cached_property
    def name_needles(self) -> tuple[bytes, ...]:
        """The same in lower case, for names that are compared without regard to ASCII case.

        Names that are not ASCII may match without them, if the pattern ignores Unicode case.
        """
        folded = self.pattern.folded_literal
        return (folded,) if folded else tuple({needle.lower() for needle in self.needles})


_atoms: SizedCache[Atom] = SizedCache(CACHED_CHARS)


def atom(text: Text | Repo) -> Atom:
    """Return the compiled text; equal texts get the same object while it is cached.

    Raises:
        InvalidQuery: The pattern is too large, or has no meaning in our dialect.
    """
    return _atoms.get(text, len(text.pattern), lambda: Atom(text))
