"""Compiled patterns: the meaning of a pattern, and all its matches in a text.

Three matchers give the same answer; the fastest that applies is used. Plain text is searched for
with `bytes.find`. RE2 (`emit`) runs patterns that it can express, with a smaller program on ASCII
texts. The exact matcher (`exact_lines`) runs the rest, mostly Unicode word boundaries next to
non-ASCII characters. The matchers have no locks: each is built on first use, and two threads that
build the same one get equal ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial, wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache

from triseek.model import budget
from triseek.query.regex import automaton
from triseek.query.regex.emit import find_anew, re2_find
from triseek.query.regex.exact_lines import ExactLines
from triseek.query.regex.parse import parse
from triseek.query.regex.plain_text import (
    bounded_texts_of,
    bounds_words,
    find_bounded,
    find_bounded_anew,
    folded_text_of,
    texts_of,
)
from triseek.query.regex.program import matches_every_line
from triseek.query.regex.syntax import Alternate, Assertion, Concat, Repeat, any_node, fold
from triseek.query.trigrams import formula

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from triseek.kernels.formats import Dfa
    from triseek.model.search import PatternSpec
    from triseek.query.regex.emit import Find
    from triseek.query.regex.syntax import LookKind, Node
    from triseek.query.trigrams.formula import Formula

_LONG_BYTES = 4096
"""Text length from which RE2 is faster than checking each occurrence of a word in Python."""


_CHECK_EVERY = 64
"""Matches between two checks of the time budget."""
PARTS_MAX = 400_000
"""Maximum total size of the cached patterns, in parts. A part takes up to about 500 bytes,
including data built from it."""
PARTS_LEAST = 1_000
"""Minimum size at which a pattern is counted, in parts."""

T = TypeVar("T")


def compile(spec: PatternSpec) -> Pattern:  # noqa: A001 (the verb everybody knows, as in `re`)
    """Return the pattern for `spec`; equal specs get the same object while it is cached.

    Raises:
        InvalidQuery: As raised by `parse`.
    """
    return _kept.get(spec) or _kept.put(Pattern(spec))


class Pattern:
    """A compiled pattern. Immutable, and safe to share between threads."""

    def __init__(self, spec: PatternSpec) -> None:
        parsed = parse(spec)
        self.spec = spec
        """The spec it was compiled from."""
        self.size = parsed.size
        """Approximate number of parts, with repetitions expanded."""
        self.derived: dict[Any, Any] = {}
        """Values that others derive from it (`with_pattern`)."""
        self.tree: Node = parsed.tree
        """Syntax tree."""
        self.notes: tuple[str, ...] = parsed.notes
        """Differences from ripgrep in how the pattern was read, one sentence each."""
        self.needs_nul = parsed.needs_nul
        """Whether it has a literal NUL, which only `--text` can find; else ripgrep refuses it."""
        self.literals: tuple[bytes, ...] = texts_of(self.tree)
        """Not empty if a text matches exactly when one of these byte strings occurs in it."""
        bounded = bounded_texts_of(self.tree)
        self.word_literals: tuple[bytes, ...] = (
            bounded.texts if bounded and bounds_words(bounded) else ()
        )
        """Not empty if a text matches exactly when one of these occurs in it with no word
        character on either side. Next to invalid UTF-8 only `matches` is exact."""
        self.folded_literal: bytes | None = folded_text_of(self.tree)
        """Lower-case ASCII text if the pattern is this text in any case, else None. With
        `spec.unicode`, k and s have a third, non-ASCII case (U+212A and U+017F)."""
        self._bounded = bounded if bounded and len(bounded.texts) == 1 else None
        self.sees_crlf = _has_look(self.tree, _CRLF)
        """Whether the pattern asserts CR LF line ends: `--crlf`, or `(?R:$)`."""
        self._exact = ExactLines(self.tree)

    @cached_property
    def formula(self) -> Formula:
        """The formula that the trigrams of every matching block (multiline: file) satisfy."""
        return formula.formula(self.tree)

    @cached_property
    def dfa(self) -> Dfa | None:
        """The automaton that tells whether a line matches; None if there is none (see `build`)."""
        # For a line that is searched alone, the ends of the text are the ends of the line.
        alone = not self.spec.multiline and _has_look(self.tree, _TEXT)
        return automaton.build(_with_looks(self.tree, _TEXT) if alone else self.tree)

    def spans(self, line: bytes, *, behind_line: bool = False) -> list[tuple[int, int]]:
        r"""Return every match in a line, as byte offsets.

        Args:
            line: Without its terminator (`\n`; under `spec.crlf` also `\r\n`).
            behind_line: Whether another line precedes it. This affects `\A`, and lines that begin
                with stray continuation bytes, which are decoded together with the bytes before
                them (see `assertions`).

        Note:
            On a last line without `\n`, ripgrep omits an empty match at the very end.
        """
        if behind_line and (self.asks_text_start or 0x80 <= (line or b"\n")[0] < 0xC0):
            return [(begin - 1, end - 1) for begin, end in self.finditer(b"\n" + line, 1)]
        return list(self.finditer(line))

    def finditer(self, text: bytes, at: int = 0) -> Iterator[tuple[int, int]]:
        """Yield successive matches in a text: a line, or under `spec.multiline` a whole file.

        Leftmost first. An empty match directly after another match is skipped. An empty match may
        be between any two bytes, as in ripgrep (which matches bytes, not characters). Matches
        before `at` are omitted, but assertions see the bytes there.
        """
        find = self.finder(text)
        last_end = -1
        count = 0
        while at <= len(text):
            count += 1
            if not count % _CHECK_EVERY:
                budget.check()
            span = find(text, at)
            if span is None:
                return
            start, end = span
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
        r"""Whether the pattern holds `\A` or `\z`: ripgrep then searches every line alone."""
        return _has_look(self.tree, _TEXT)

    @cached_property
    def matches_every_line(self) -> bool:
        """Whether every line matches, whatever it holds, so that lines need only be counted."""
        return matches_every_line(self.tree)

    @cached_property
    def matches_in_crlf(self) -> bool:
        r"""Whether there is a match between a CR and its LF."""
        span = self.finder(b"\r\n")(b"\r\n", 1)
        return span is not None and span[0] == 1

    def finder(self, text: bytes, *, anew: bool = False) -> Find:
        r"""Return a function that finds the leftmost match in this text from an offset on.

        Assertions see the whole text. With `anew`, the function takes the offset for the beginning
        of the text; a search then takes time for the bytes it passes, not for all of the text.
        """
        if len(self.literals) == 1:
            return self._find_literal
        ascii_only = text.isascii()
        if self._bounded and not (ascii_only and len(text) >= _LONG_BYTES):
            return partial(find_bounded_anew if anew else find_bounded, self._bounded)
        find = None
        if not (self.sees_crlf and b"\r" in text):
            find = self._re2_ascii if ascii_only else self._re2_any
        if find is None:
            return self._exact.finder(anew=anew)
        return partial(find_anew, find) if anew else find

    def _find_literal(self, text: bytes, at: int) -> tuple[int, int] | None:
        literal = self.literals[0]
        start = text.find(literal, at)
        return None if start < 0 else (start, start + len(literal))

    @cached_property
    def _re2_ascii(self) -> Find | None:
        """RE2 program for ASCII texts."""
        return re2_find(self._without_cr, "ascii")

    @cached_property
    def _re2_any(self) -> Find | None:
        """RE2 program for all texts."""
        return re2_find(self._without_cr, "exact")

    @cached_property
    def _without_cr(self) -> Node:
        """The equivalent tree for texts without a CR."""
        return _with_looks(self.tree, _CRLF) if self.sees_crlf else self.tree


_CRLF: dict[LookKind, LookKind] = {"line_start_crlf": "line_start", "line_end_crlf": "line_end"}
_TEXT: dict[LookKind, LookKind] = {"text_start": "line_start", "text_end": "line_end"}


def _has_look(tree: Node, kinds: dict[LookKind, LookKind]) -> bool:
    return any_node(tree, lambda node: isinstance(node, Assertion) and node.kind in kinds)


def _with_looks(tree: Node, kinds: dict[LookKind, LookKind]) -> Node:
    """Return the tree with assertions of these kinds replaced by others."""

    def replaced(node: Node, below: list[Node]) -> Node:
        if isinstance(node, Assertion):
            return replace(node, kind=kinds.get(node.kind, node.kind))
        if isinstance(node, Concat | Alternate):
            return replace(node, parts=tuple(below))
        return replace(node, node=below[0]) if isinstance(node, Repeat) else node

    return fold(tree, replaced)


class PatternCache:
    """Cache of the most recently used patterns; thread-safe.

    A limit on their number would not bound memory, because one pattern may take megabytes. So
    patterns are kept until the sum of their sizes passes a limit.
    """

    def __init__(self, parts_max: int = PARTS_MAX) -> None:
        self._lock = Lock()
        self._patterns: LRUCache[PatternSpec, Pattern] = LRUCache(parts_max, _parts)

    def get(self, spec: PatternSpec) -> Pattern | None:
        """Return the pattern of a spec; None if it is not cached."""
        with self._lock:
            return self._patterns.get(spec)

    def put(self, pattern: Pattern) -> Pattern:
        """Add a pattern, evicting others; return the one that is cached for its spec."""
        with self._lock:
            if _parts(pattern) > self._patterns.maxsize:
                return pattern
            return self._patterns.setdefault(pattern.spec, pattern)


def _parts(pattern: Pattern) -> int:
    return max(pattern.size, PARTS_LEAST)


def with_pattern(work: Callable[[Pattern], T]) -> Callable[[Pattern], T]:
    """Decorate a function of a pattern to run once per pattern.

    The pattern itself stores the result, so this lives no longer than the pattern.
    """

    @wraps(work)
    def kept(pattern: Pattern) -> T:
        results: dict[Any, Any] = pattern.derived
        if work not in results:
            results[work] = work(pattern)
        result: T = results[work]
        return result

    return kept


_kept = PatternCache()
