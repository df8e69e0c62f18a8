"""A pattern, ready to search with: what it means, and every match of it in a text.

Three roads lead to the same answer, and the quickest that can is taken: a plain text is looked
for with `bytes.find`; RE2 (`emit`) answers what it can say, on ASCII texts by a smaller program;
and the exact matcher (`exact_road`) does the rest, mostly Unicode word boundaries beside
characters beyond ASCII. Nothing here locks; every road is built when first used, and building one
twice in two threads gives two equal ones.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from triseek.model import budget
from triseek.query import automaton, grams
from triseek.query.emit import find_anew, re2_find
from triseek.query.exact_road import ExactRoad
from triseek.query.fold import fold
from triseek.query.keeping import Kept
from triseek.query.looks import NEAR_BYTES
from triseek.query.parse import parse
from triseek.query.plain_text import (
    Bounded,
    bounded_texts_of,
    bounds_words,
    find_bounded,
    folded_text_of,
    texts_of,
)
from triseek.query.program import matches_every_line
from triseek.query.syntax import Alternate, Concat, Look, Repeat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.search import PatternSpec
    from triseek.query.emit import Find
    from triseek.query.grams import Formula
    from triseek.query.syntax import LookKind, Node

_LONG_BYTES = 4096
"""From this length on RE2 beats looking at each occurrence of a word in Python."""


_CHECK_EVERY = 64
"""Matches between two looks at what time is left."""
_kept = Kept()


def compile(spec: PatternSpec) -> Pattern:  # noqa: A001 (the verb everybody knows, as in `re`)
    """Return the pattern for `spec`; the same object for equal ones.

    Raises:
        InvalidQuery: see `parse`.
    """
    return _kept.get(spec) or _kept.put(Pattern(spec))


class Pattern:
    """What to find, understood. Immutable, and safe to share between threads."""

    def __init__(self, spec: PatternSpec) -> None:
        parsed = parse(spec)
        self.spec = spec
        """What was asked for."""
        self.size = parsed.size
        """About how many parts it has, with its repetitions written out."""
        self.derived: dict[Any, Any] = {}
        """What others work out from it (`keeping.with_pattern`)."""
        self.tree: Node = parsed.tree
        """What it means."""
        self.notes: tuple[str, ...] = parsed.notes
        """What was understood in another way than ripgrep does, one sentence each."""
        self.needs_nul = parsed.needs_nul
        """Whether a literal NUL must be found, which only `--text` can; ripgrep refuses it else."""
        self.literals: tuple[bytes, ...] = texts_of(self.tree)
        """Not empty if a text matches exactly when one of these byte strings occurs in it."""
        bounded = bounded_texts_of(self.tree)
        self.word_literals: tuple[bytes, ...] = (
            bounded.texts if bounded and bounds_words(bounded) else ()
        )
        """Not empty if a text matches exactly when one of these occurs in it with no word
        character on either side. Beside invalid UTF-8 `matches` has the last word."""
        self.folded_literal: bytes | None = folded_text_of(self.tree)
        """Lower-case ASCII if the pattern is this text in any case. With `spec.unicode`, k and s
        have a third case beyond ASCII (U+212A and U+017F)."""
        self._bounded = bounded if bounded and len(bounded.texts) == 1 else None
        self._crlf_looks = _has_look(self.tree, _CRLF)
        self._exact = ExactRoad(self.tree)

    @cached_property
    def formula(self) -> Formula:
        """What the trigrams of every matching block (multiline: file) satisfy."""
        return grams.formula(self.tree)

    @cached_property
    def dfa(self) -> automaton.Dfa | None:
        """What tells whether a line matches; None when there is no such thing (see `build`)."""
        # Of a line that is searched alone the ends of the text are its own.
        alone = not self.spec.multiline and _has_look(self.tree, _TEXT)
        return automaton.build(_with_looks(self.tree, _TEXT) if alone else self.tree)

    def spans(self, line: bytes, *, behind_line: bool = False) -> list[tuple[int, int]]:
        r"""Return every match in a line, as byte offsets.

        Args:
            line: Without its terminator (`\n`; under `spec.crlf` also `\r\n`).
            behind_line: Another line stands before it. That means something to `\A`, and to a
                line that begins with stray continuation bytes, which are decoded together with
                what stands before them (see `looks`).

        Note:
            On a last line that no `\n` ends, ripgrep leaves out an empty match at the very end.
        """
        if behind_line and (self.asks_text_start or 0x80 <= (line or b"\n")[0] < 0xC0):
            return [(begin - 1, end - 1) for begin, end in self.finditer(b"\n" + line, 1)]
        return list(self.finditer(line))

    def finditer(self, text: bytes, at: int = 0) -> Iterator[tuple[int, int]]:
        """Yield successive matches in a text: a line, or under `spec.multiline` a whole file.

        Leftmost first; an empty match is skipped right behind another match, and may stand
        between any two bytes, as in ripgrep (which asks for matches in bytes, not in characters).
        Those before `at` are left out, but what stands there is seen.
        """
        find = self.finder(text)
        last_end = -1
        count = 0
        while at <= len(text):
            count += 1
            if not count % _CHECK_EVERY:
                budget.check()
            found = find(text, at)
            if found is None:
                return
            start, end = found
            at = end + (start == end)
            if start == end == last_end:
                continue
            last_end = end
            yield start, end

    def matches(self, line: bytes, *, behind_line: bool = False) -> bool:
        """Return whether there is a match in a line (without its terminator); see `spans`."""
        if behind_line and 0x80 <= (line or b"\n")[0] < 0xC0:
            line = b"\n" + line
            return self.finder(line)(line, 1) is not None
        return self.finder(line)(line, 0) is not None

    @cached_property
    def asks_text_start(self) -> bool:
        r"""Whether the pattern holds `\A`."""
        return _has_look(self.tree, {"text_start": "line_start"})

    @cached_property
    def sees_text_ends(self) -> bool:
        r"""Whether it asks for `\A` or `\z`: ripgrep then searches every line alone."""
        return _has_look(self.tree, _TEXT)

    @property
    def sees_crlf(self) -> bool:
        """Whether it asks for line ends of CR and LF: `--crlf`, or `(?R:$)`."""
        return self._crlf_looks

    @cached_property
    def matches_every_line(self) -> bool:
        """Whether no line is without a match, whatever it holds: then lines need only counting."""
        return matches_every_line(self.tree)

    @cached_property
    def matches_in_crlf(self) -> bool:
        r"""Whether there is a match between a CR and its LF, where nothing stands to be read."""
        found = self.finder(b"\r\n")(b"\r\n", 1)
        return found is not None and found[0] == 1

    def finder(self, text: bytes) -> Find:
        """Return what finds the leftmost match in this text from a place on, seeing all of it."""
        if len(self.literals) == 1:
            return self._find_literal
        ascii_only = text.isascii()
        if self._bounded and not (ascii_only and len(text) >= _LONG_BYTES):
            return self._find_bounded
        if self._crlf_looks and b"\r" in text:
            return self._exact.finder()
        find = self._re2_ascii if ascii_only else self._re2_any
        return find or self._exact.finder()

    def finder_anew(self, text: bytes) -> Find:
        r"""Return what `finder` does, as if the text began at the place a search goes on from.

        A search then takes time for what it passes, not for all of the text.
        """
        find = self.finder(text)
        if find == self._find_literal:
            return find
        if find == self._find_bounded:
            return self._find_bounded_anew
        if find in (self._re2_ascii, self._re2_any):
            return partial(find_anew, find)
        return self._exact.finder(anew=True)

    def _find_literal(self, text: bytes, at: int) -> tuple[int, int] | None:
        literal = self.literals[0]
        start = text.find(literal, at)
        return None if start < 0 else (start, start + len(literal))

    def _find_bounded(self, text: bytes, at: int) -> tuple[int, int] | None:
        bounded = self._bounded
        assert isinstance(bounded, Bounded)  # noqa: S101 (what `_finder` has seen to)
        return find_bounded(bounded, text, at)

    def _find_bounded_anew(self, text: bytes, at: int) -> tuple[int, int] | None:
        assert self._bounded is not None  # noqa: S101 (what `finder` has seen to)
        size = len(self._bounded.texts[0])
        found = self._find_bounded(text[at : at + size + NEAR_BYTES], 0)
        if found is not None and found[0] == 0:
            return at, at + size
        return self._find_bounded(text, at + 1)

    @cached_property
    def _re2_ascii(self) -> Find | None:
        """RE2's program for texts of ASCII only."""
        return re2_find(self._without_cr, "ascii")

    @cached_property
    def _re2_any(self) -> Find | None:
        """RE2's program for all texts."""
        return re2_find(self._without_cr, "exact")

    @cached_property
    def _without_cr(self) -> Node:
        """The tree as it may be read on texts without a CR."""
        return _with_looks(self.tree, _CRLF) if self._crlf_looks else self.tree


_CRLF: dict[LookKind, LookKind] = {"line_start_crlf": "line_start", "line_end_crlf": "line_end"}
_TEXT: dict[LookKind, LookKind] = {"text_start": "line_start", "text_end": "line_end"}


def _has_look(tree: Node, kinds: dict[LookKind, LookKind]) -> bool:
    def has(node: Node, below: list[bool]) -> bool:
        return any(below) or (isinstance(node, Look) and node.kind in kinds)

    return fold(tree, has)


def _with_looks(tree: Node, kinds: dict[LookKind, LookKind]) -> Node:
    """Return the tree with assertions of these kinds replaced by others."""

    def replaced(node: Node, below: list[Node]) -> Node:
        if isinstance(node, Look):
            return Look(kinds.get(node.kind, node.kind), node.unicode)
        if isinstance(node, Concat):
            return Concat(tuple(below))
        if isinstance(node, Alternate):
            return Alternate(tuple(below))
        if isinstance(node, Repeat):
            return Repeat(below[0], node.low, node.high, node.greedy)
        return node

    return fold(tree, replaced)
