r"""From the tree to a program of RE2's, wherever RE2 can say exactly what the tree means.

RE2 runs in Latin-1 mode, so that its characters are bytes; a character of the tree becomes the
byte sequences that spell it. That keeps RE2's own ideas of `\w`, case, word boundaries beyond
ASCII and invalid UTF-8 out of the answer. Three programs can be asked for:

- `ascii`: for texts of ASCII only, where Unicode's word boundaries are ASCII's;
- `exact`: for any text; a Unicode boundary is beyond it;
- `superset`: for any text, assertions dropped; what it does not find is not there.

RE2 knows `\b` and `\B` only. The other boundaries become one of those where what stands next to
them in the pattern is always, or never, a word character: `\<foo` is `\bfoo`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import re2

from triseek.model import budget
from triseek.query.charset import ASCII, BYTES, intersection, utf8_sequences
from triseek.query.fold import fold
from triseek.query.program import can_be_empty
from triseek.query.syntax import (
    Alternate,
    Bytes,
    Capture,
    Chars,
    Concat,
    Empty,
    Look,
    Node,
    Repeat,
)
from triseek.query.unicode import ASCII_WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.query.charset import ByteSequence
    from triseek.query.syntax import Ranges

Target: TypeAlias = Literal["ascii", "exact", "superset"]
Find: TypeAlias = "Callable[[bytes, int], tuple[int, int] | None]"
"""The leftmost match in a text at or after an offset."""
FindGroups: TypeAlias = "Callable[[bytes, int, int], list[tuple[int, int]] | None]"
"""The groups of the match in a text between two offsets; (-1, -1) for one that took no part."""

_MEMORY_BYTES = 64 << 20
"""What one RE2 program may take, its cached states included; its own default is 8 MiB."""
_COUNT_MAX = 1000
"""RE2's limit to counted repetition, nested ones multiplied."""
_PROGRAM_MAX = 2_000_000
"""Bytes of pattern text beyond which RE2 is not asked; it would refuse after seconds."""


class UnsayableError(Exception):
    """RE2 cannot say this."""


def re2_find(tree: Node, target: Target) -> Find | None:
    """Return a search by RE2 for `target`, or `None` where RE2 cannot say what the tree means."""
    try:
        pattern = pattern_text(tree, target)
    except UnsayableError:
        return None
    if pattern is None:
        return _never
    if len(pattern) > _PROGRAM_MAX:
        return None
    try:
        return _searcher(re2.compile(pattern, _options()))
    except re2.error:  # too large for RE2
        return None


def re2_groups(tree: Node, target: Target, count: int) -> FindGroups | None:
    """Return what finds the groups of a match by RE2, or `None` where RE2 may not find the same.

    tree: with `Capture` nodes.
    count: of groups, the whole match among them.
    """
    if fold(tree, _loops_over_nothing):
        return None
    try:
        pattern = pattern_text(tree, target)
    except UnsayableError:
        return None
    if pattern is None or len(pattern) > _PROGRAM_MAX:
        return None
    try:
        program = re2.compile(pattern, _options(captures=True))
    except re2.error:  # too large, or a group stands twice where a repetition was written out
        return None
    places = [program.groupindex.get(b"g%d" % number, 0) for number in range(1, count)]
    match, start = program._regexp.Match, re2._Anchor.ANCHOR_START  # noqa: SLF001

    def find(text: bytes, begin: int, end: int) -> list[tuple[int, int]] | None:
        spans = match(start, text, begin, len(text))
        if spans[0] != (begin, end):
            return None
        return [spans[0], *(spans[place] if place else (-1, -1) for place in places)]

    return find


def find_anew(find: Find, text: bytes, at: int) -> tuple[int, int] | None:
    """Search by RE2 from `at` on, as if the text began there."""
    # RE2 reads any buffer; unlike a slice of bytes a view is no copy.
    found = find(memoryview(text)[at:], 0)  # type: ignore[arg-type]
    return found and (found[0] + at, found[1] + at)


def pattern_text(tree: Node, target: Target) -> bytes | None:
    """Return the pattern as RE2 (in Latin-1 mode) spells it; `None` when it can never match.

    Raises:
        UnsayableError: RE2 has no words for it.
    """
    return _Emitter(target).text(tree, 1)


def _options(*, captures: bool = False) -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = not captures
    options.max_mem = _MEMORY_BYTES
    return options


def _searcher(program: re2._Regexp) -> Find:
    # The public `search` builds a generator and a match object per call: 4.8 µs against 1.9.
    match = program._regexp.Match  # noqa: SLF001
    unanchored = re2._Anchor.UNANCHORED  # noqa: SLF001

    def find(text: bytes, at: int) -> tuple[int, int] | None:
        found: tuple[int, int] = match(unanchored, text, at, len(text))[0]
        return found if found[0] >= 0 else None

    return find


def _never(_text: bytes, _at: int) -> tuple[int, int] | None:
    return None


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """What can stand next to an assertion, as far as the pattern says so."""

    before: str
    after: str
    """`word`, `other`, `either`."""


class _Emitter:
    """Writes one pattern for one target."""

    def __init__(self, target: Target) -> None:
        self.ascii_only = target == "ascii"
        self.drop_looks = target == "superset"
        self._edges: dict[tuple[int, bool], _Edge] = {}

    def text(self, node: Node, count: int) -> bytes | None:
        """Return the spelling of a node; `count`: the counted repetitions around it, multiplied."""
        budget.check()
        match node:
            case Empty():
                return b"(?:)"
            case Chars(ranges):
                return self.characters(ranges)
            case Bytes(ranges):
                return _byte_class(intersection(ranges, ASCII if self.ascii_only else BYTES))
            case Look():
                return self.look(node, _Neighbours("either", "either"))
            case Concat(parts):
                return self.row(parts, count)
            case Alternate(parts):
                return _choice(self.text(part, count) for part in parts)
            case Repeat():
                return self.repeat(node, count)
            case Capture(body, number):
                written = self.text(body, count)
                # By name: a part that never matches is left out, and may hold groups.
                return None if written is None else b"(?P<g%d>%b)" % (number, written)

    def characters(self, ranges: Ranges) -> bytes | None:
        if self.ascii_only or not ranges or ranges[-1][1] <= ASCII[0][1]:
            return _byte_class(intersection(ranges, ASCII))
        return _spelled(ranges)

    def row(self, parts: tuple[Node, ...], count: int) -> bytes | None:
        out = bytearray()
        beside = self.neighbours(parts) if any(isinstance(part, Look) for part in parts) else []
        for at, part in enumerate(parts):
            if isinstance(part, Look):
                written = self.look(part, beside[at])
            else:
                written = self.text(part, count)
            if written is None:
                return None
            out += written
        return bytes(out)

    def repeat(self, node: Repeat, count: int) -> bytes | None:
        times = max(node.low, node.high or 1)
        if times > 1 and times * count > _COUNT_MAX and count > 1:
            raise UnsayableError
        if node.high is None and can_be_empty(node.node) and _loops(node.node):
            raise UnsayableError  # `(?:(?:|b)*)+?` and its kin: RE2 ranks empty rounds otherwise
        body = self.text(node.node, count * min(times, _COUNT_MAX))
        if body is None:
            return b"(?:)" if node.low == 0 else None
        lazy = b"" if node.greedy else b"?"
        return b"".join(b"(?:" + body + b")" + one + lazy for one in _quantifiers(node))

    def look(self, look: Look, beside: _Neighbours) -> bytes | None:
        """Return an assertion; `None` where the pattern itself contradicts it."""
        plain = _PLAIN_LOOKS.get(look.kind)
        if plain is not None:
            return plain
        if self.drop_looks:
            return b"(?:)"
        if look.unicode and not self.ascii_only:
            raise UnsayableError
        written = _WORD_LOOKS.get(look.kind) or _beside(look, beside)
        return None if written == _CONTRADICTION else written

    def neighbours(self, parts: tuple[Node, ...]) -> list[_Neighbours]:
        """Return what can stand next to each part, from one walk in each direction."""
        before, after = self.beside(parts, last=True), self.beside(parts[::-1], last=False)
        return [_Neighbours(*pair) for pair in zip(before, after[::-1], strict=True)]

    def beside(self, parts: Iterable[Node], *, last: bool) -> list[str]:
        """Return for each part what all before it end with, when they come in this order."""
        found, sides = _Edge(), []
        for part in parts:
            sides.append(found.sort())
            here = self.outermost(part, last=last)
            found = here.behind(found) if here.may_be_empty else here
        return sides

    def outermost(self, node: Node, *, last: bool) -> _Edge:
        """Return what a node's matches begin (or end) with; worked out once for each node."""
        known = self._edges.get((id(node), last))
        if known is None:
            known = self._edges[id(node), last] = fold(node, partial(self.edge_of, last))
        return known

    def edge_of(self, last: bool, node: Node, below: list[_Edge]) -> _Edge:
        """Return the same, given that of the nodes below.

        Beyond ASCII one byte stands for all: none of them is an ASCII word character.
        """
        match node:
            case Chars(ranges) | Bytes(ranges):
                inside = intersection(ranges, ASCII)
                words = intersection(inside, ASCII_WORD)
                others = words != inside or (ranges != inside and not self.ascii_only)
                return _Edge(bool(words), others, may_be_empty=False)
            case Concat():
                found = _Edge()
                for edge in below if last else reversed(below):
                    found = edge.behind(found) if edge.may_be_empty else edge
                return found
            case Alternate():
                return _Edge(
                    any(edge.word for edge in below),
                    any(edge.other for edge in below),
                    may_be_empty=any(edge.may_be_empty for edge in below),
                )
            case Repeat(_, low):
                edge = below[0]
                return edge._replace(may_be_empty=edge.may_be_empty or low == 0)
            case Capture():
                return below[0]
            case _:
                return _Edge()


class _Edge(NamedTuple):
    """What the matches of a node begin (or end) with."""

    word: bool = False
    """Some with a word character of ASCII."""
    other: bool = False
    """Some with another byte."""
    may_be_empty: bool = True
    """Some with nothing."""

    def behind(self, before: _Edge) -> _Edge:
        """Return the edge of this node, which may be empty, and of what then shows instead."""
        return _Edge(self.word or before.word, self.other or before.other, before.may_be_empty)

    def sort(self) -> str:
        """Return whether these are all word characters, or none of them."""
        if self.may_be_empty or self.word == self.other:
            return "either"
        return "word" if self.word else "other"


_CONTRADICTION = b"!"
_PLAIN_LOOKS = {
    "line_start": b"(?m:^)",
    "line_end": b"(?m:$)",
    "text_start": b"\\A",
    "text_end": b"\\z",
}
_WORD_LOOKS = {"word": b"\\b", "not_word": b"\\B"}
_RESOLVED = {
    # kind: (what stands before, or after, as a `word` / as `other`); see `holds` in `looks`
    "word_start": {"after": (b"\\b", _CONTRADICTION), "before": (_CONTRADICTION, b"\\b")},
    "word_end": {"before": (b"\\b", _CONTRADICTION), "after": (_CONTRADICTION, b"\\b")},
    "word_start_half": {"after": (b"\\b", b"\\B"), "before": (_CONTRADICTION, b"(?:)")},
    "word_end_half": {"before": (b"\\b", b"\\B"), "after": (_CONTRADICTION, b"(?:)")},
}


def _beside(look: Look, beside: _Neighbours) -> bytes:
    """Return a boundary RE2 does not know, in words it does."""
    for side, (word, other) in _RESOLVED.get(look.kind, {}).items():
        sort = beside.after if side == "after" else beside.before
        if sort != "either":
            return word if sort == "word" else other
    raise UnsayableError


def _loops(tree: Node) -> bool:
    """Return whether a repetition without a bound is anywhere in the tree."""
    return fold(tree, _loops_here)


def _loops_here(node: Node, below: list[bool]) -> bool:
    return any(below) or (isinstance(node, Repeat) and node.high is None)


def _loops_over_nothing(node: Node, below: list[bool]) -> bool:
    """Return whether a repetition without a bound may repeat nothing, somewhere in the tree."""
    here = isinstance(node, Repeat) and node.high is None and can_be_empty(node.node)
    return here or any(below)


def _choice(parts: Iterable[bytes | None]) -> bytes | None:
    possible = [part for part in parts if part is not None]
    if not possible:
        return None
    return possible[0] if len(possible) == 1 else b"(?:" + b"|".join(possible) + b")"


@lru_cache(maxsize=64)
def _spelled(ranges: Ranges) -> bytes | None:
    """Return the spellings of characters; cached, because word characters have a thousand."""
    return _choice(map(_sequence, utf8_sequences(ranges)))


def _sequence(sequence: ByteSequence) -> bytes | None:
    return b"".join(_byte_class((pair,)) or b"" for pair in sequence)


def _byte_class(ranges: Ranges) -> bytes | None:
    if not ranges:
        return None
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return b"\\x%02x" % ranges[0][0]
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % pair for pair in ranges) + b"]"


def _quantifiers(node: Repeat) -> list[bytes]:
    """Return the quantifiers that, one after the other, repeat as `node` does.

    `x{0,1500}` may become `x{0,1000}x{0,500}`: the ways to match come in another order, but each
    comes first in the same place.
    """
    low, high = node.low, node.high
    if high is None:
        if low <= _COUNT_MAX:
            return [{0: b"*", 1: b"+"}.get(low) or b"{%d,}" % low]
        return [*_thousands(low, b"{%d}"), b"*"]
    if high <= _COUNT_MAX:
        return [b"?" if (low, high) == (0, 1) else b"{%d,%d}" % (low, high)]
    return [*_thousands(low, b"{%d}"), *_thousands(high - low, b"{0,%d}")]


def _thousands(count: int, form: bytes) -> list[bytes]:
    full, rest = divmod(count, _COUNT_MAX)
    return [form % _COUNT_MAX] * full + ([form % rest] if rest else [])
