r"""Translation of the tree into an RE2 program, if RE2 can express exactly what the tree means.

RE2 runs in Latin-1 mode, so that its characters are bytes; a character of the tree becomes the
byte sequences that encode it. So RE2's own definitions of `\w`, case, non-ASCII word boundaries and
invalid UTF-8 do not affect the result. There are three targets:

- `ascii`: for ASCII texts, where Unicode word boundaries equal ASCII ones;
- `exact`: for any text; Unicode boundaries cannot be expressed;
- `superset`: for any text, without assertions; if it finds no match, there is none.

RE2 has only `\b` and `\B`. The other boundaries become one of those if the neighbouring part of the
pattern always, or never, matches a word character: `\<foo` is `\bfoo`.
"""

from __future__ import annotations

from functools import lru_cache, partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Literal, TypeAlias

import re2

from triseek.model import budget
from triseek.query.regex import syntax
from triseek.query.regex.charset import ASCII, BYTES, intersection, utf8_sequences
from triseek.query.regex.program import can_be_empty
from triseek.query.regex.unicode import ASCII_WORD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from triseek.query.regex.charset import ByteSequence

Target: TypeAlias = Literal["ascii", "exact", "superset"]
Find: TypeAlias = "Callable[[bytes, int], tuple[int, int] | None]"
"""Return the leftmost match in a text at or after an offset."""
FindGroups: TypeAlias = "Callable[[bytes, int, int], list[tuple[int, int]] | None]"
"""Return the groups of the match between two offsets; (-1, -1) for a group that took no part."""

_MEMORY_BYTES = 64 << 20
"""Memory limit of one RE2 program, including its cached states; RE2's default is 8 MiB."""
_COUNT_MAX = 1000
"""RE2's limit for counted repetitions; nested ones are multiplied."""
_PROGRAM_MAX = 2_000_000
"""Maximum pattern length in bytes passed to RE2, which would refuse longer ones after seconds."""


class UnsayableError(Exception):
    """RE2 cannot express this pattern."""


def re2_find(tree: syntax.Node, target: Target) -> Find | None:
    """Return an RE2 search for `target`; `None` if RE2 cannot express the tree."""
    try:
        program = _compiled(tree, target)
    except UnsayableError:
        return None
    return _searcher(program) if program else lambda _text, _at: None


def re2_groups(tree: syntax.Node, target: Target, count: int) -> FindGroups | None:
    """Return an RE2 search for the groups of a match; `None` if RE2's groups may differ.

    tree: Tree with `Capture` nodes.
    count: Number of groups, including the whole match.
    """
    if syntax.any_node(tree, _loops_over_nothing):
        return None
    try:
        program = _compiled(tree, target, captures=True)
    except UnsayableError:
        return None
    if program is None:
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
    """Search with RE2 from `at` on, as if the text began there."""
    # RE2 reads any buffer; a view, unlike a slice of bytes, is not a copy.
    span = find(memoryview(text)[at:], 0)  # type: ignore[arg-type]
    return span and (span[0] + at, span[1] + at)


def pattern_text(tree: syntax.Node, target: Target) -> bytes | None:
    """Return the pattern in RE2 syntax (Latin-1 mode); `None` if it can never match.

    Raises:
        UnsayableError: RE2 cannot express it.
    """
    return _Emitter(target).text(tree, 1)


def _compiled(tree: syntax.Node, target: Target, *, captures: bool = False) -> re2._Regexp | None:
    """Return the RE2 program; None if the pattern can never match.

    Raises:
        UnsayableError: RE2 cannot express it, it is too large, or a group would occur twice because
            a repetition is expanded.
    """
    pattern = pattern_text(tree, target)
    if pattern is None:
        return None
    if len(pattern) > _PROGRAM_MAX:
        raise UnsayableError
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.never_capture = not captures
    options.max_mem = _MEMORY_BYTES
    try:
        return re2.compile(pattern, options)
    except re2.error:
        raise UnsayableError from None


def _searcher(program: re2._Regexp) -> Find:
    # The public `search` builds a generator and a match object per call: 4.8 µs against 1.9.
    match = program._regexp.Match  # noqa: SLF001
    unanchored = re2._Anchor.UNANCHORED  # noqa: SLF001

    def find(text: bytes, at: int) -> tuple[int, int] | None:
        span: tuple[int, int] = match(unanchored, text, at, len(text))[0]
        return span if span[0] >= 0 else None

    return find


_WORD, _OTHER, _EMPTY = 1, 2, 4
"""Flags of an edge, which says what the matches of a node begin (or end) with: an ASCII word
character, another byte, or nothing because a match may be empty."""


class _Emitter:
    """Writer of one pattern for one target."""

    def __init__(self, target: Target) -> None:
        self.ascii_only = target == "ascii"
        self.drop_looks = target == "superset"
        self._edges: dict[tuple[int, bool], int] = {}

    def text(self, node: syntax.Node, count: int) -> bytes | None:
        """Return a node in RE2 syntax; `count` is the product of the repetitions around it."""
        budget.check()
        match node:
            case syntax.Empty():
                return b"(?:)"
            case syntax.Chars(ranges):
                return self.characters(ranges)
            case syntax.Bytes(ranges):
                return _byte_class(intersection(ranges, ASCII if self.ascii_only else BYTES))
            case syntax.Assertion():
                return self.look(node, (_EMPTY, _EMPTY))
            case syntax.Concat(parts):
                return self.row(parts, count)
            case syntax.Alternate(parts):
                return _choice(self.text(part, count) for part in parts)
            case syntax.Repeat():
                return self.repeat(node, count)
            case syntax.Capture(body, number):
                written = self.text(body, count)
                # By name, because a part that never matches is left out with the groups in it.
                return None if written is None else b"(?P<g%d>%b)" % (number, written)

    def characters(self, ranges: syntax.Ranges) -> bytes | None:
        if self.ascii_only or not ranges or ranges[-1][1] <= ASCII[0][1]:
            return _byte_class(intersection(ranges, ASCII))
        return _spelled(ranges)

    def row(self, parts: tuple[syntax.Node, ...], count: int) -> bytes | None:
        out = bytearray()
        has_looks = any(isinstance(part, syntax.Assertion) for part in parts)
        neighbours = self.neighbours(parts) if has_looks else []
        for at, part in enumerate(parts):
            if isinstance(part, syntax.Assertion):
                written = self.look(part, neighbours[at])
            else:
                written = self.text(part, count)
            if written is None:
                return None
            out += written
        return bytes(out)

    def repeat(self, node: syntax.Repeat[syntax.Node], count: int) -> bytes | None:
        times = max(node.low, node.high or 1)
        if times > 1 and times * count > _COUNT_MAX and count > 1:
            raise UnsayableError
        if _loops_over_nothing(node) and syntax.any_node(node.node, _loops):
            raise UnsayableError  # `(?:(?:|b)*)+?` etc.: RE2 ranks empty rounds otherwise
        body = self.text(node.node, count * min(times, _COUNT_MAX))
        if body is None:
            return b"(?:)" if node.low == 0 else None
        lazy = b"" if node.greedy else b"?"
        return b"".join(b"(?:" + body + b")" + form + lazy for form in _quantifiers(node))

    def look(self, look: syntax.Assertion, neighbours: tuple[int, int]) -> bytes | None:
        """Return an assertion in RE2 syntax; `None` if the pattern contradicts it.

        neighbours: The edges of what is before it and after it.
        """
        plain = _PLAIN_LOOKS.get(look.kind)
        if plain is not None:
            return plain
        if self.drop_looks:
            return b"(?:)"
        if look.unicode and not self.ascii_only:
            raise UnsayableError
        written = _WORD_LOOKS.get(look.kind) or _resolved(look, neighbours)
        return None if written == _CONTRADICTION else written

    def neighbours(self, parts: tuple[syntax.Node, ...]) -> list[tuple[int, int]]:
        """Return the edges next to each part, from one pass in each direction."""
        before, after = self.edges(parts, last=True), self.edges(parts[::-1], last=False)
        return list(zip(before, after[::-1], strict=True))

    def edges(self, parts: Iterable[syntax.Node], *, last: bool) -> list[int]:
        """Return for each part what the parts before it, in this order, end with."""
        edge, edges = _EMPTY, []
        for part in parts:
            edges.append(edge)
            edge = _behind(self.outermost(part, last=last), edge)
        return edges

    def outermost(self, node: syntax.Node, *, last: bool) -> int:
        """Return what a node's matches begin (or end) with; computed once per node."""
        edge = self._edges.get((id(node), last))
        if edge is None:
            edge = self._edges[id(node), last] = syntax.fold(node, partial(self.edge_of, last))
        return edge

    def edge_of(self, last: bool, node: syntax.Node, below: list[int]) -> int:
        """Return what a node's matches begin (or end) with, given the edges of its children.

        All non-ASCII bytes are treated alike: none of them is an ASCII word character.
        """
        match node:
            case syntax.Chars(ranges) | syntax.Bytes(ranges):
                inside = intersection(ranges, ASCII)
                words = intersection(inside, ASCII_WORD)
                others = words != inside or (ranges != inside and not self.ascii_only)
                return (_WORD if words else 0) | (_OTHER if others else 0)
            case syntax.Concat():
                combined = _EMPTY
                for edge in below if last else reversed(below):
                    combined = _behind(edge, combined)
                return combined
            case syntax.Alternate():
                return reduce(or_, below, 0)
            case syntax.Repeat(_, low):
                return below[0] | (_EMPTY if low == 0 else 0)
            case syntax.Capture():
                return below[0]
            case _:
                return _EMPTY


def _behind(edge: int, before: int) -> int:
    """Return the edge of a node combined with the edge before it, which shows if it is empty."""
    return edge & ~_EMPTY | before if edge & _EMPTY else edge


_CONTRADICTION = b"!"
_PLAIN_LOOKS = {
    "line_start": b"(?m:^)",
    "line_end": b"(?m:$)",
    "text_start": b"\\A",
    "text_end": b"\\z",
}
_WORD_LOOKS = {"word": b"\\b", "not_word": b"\\B"}
_BEFORE, _AFTER = 0, 1
_RESOLVED = {
    # kind: (side, text if it is `_WORD`, text if it is `_OTHER`), …; see `assertions.holds`
    "word_start": ((_AFTER, b"\\b", _CONTRADICTION), (_BEFORE, _CONTRADICTION, b"\\b")),
    "word_end": ((_BEFORE, b"\\b", _CONTRADICTION), (_AFTER, _CONTRADICTION, b"\\b")),
    "word_start_half": ((_AFTER, b"\\b", b"\\B"), (_BEFORE, _CONTRADICTION, b"(?:)")),
    "word_end_half": ((_BEFORE, b"\\b", b"\\B"), (_AFTER, _CONTRADICTION, b"(?:)")),
}


def _resolved(look: syntax.Assertion, neighbours: tuple[int, int]) -> bytes:
    """Return a boundary that RE2 lacks, expressed by one that it has."""
    for side, word, other in _RESOLVED.get(look.kind, ()):
        if neighbours[side] in (_WORD, _OTHER):
            return word if neighbours[side] == _WORD else other
    raise UnsayableError


def _loops(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Repeat) and node.high is None


def _loops_over_nothing(node: syntax.Node) -> bool:
    return isinstance(node, syntax.Repeat) and node.high is None and can_be_empty(node.node)


def _choice(parts: Iterable[bytes | None]) -> bytes | None:
    possible = [part for part in parts if part is not None]
    if not possible:
        return None
    return possible[0] if len(possible) == 1 else b"(?:" + b"|".join(possible) + b")"


@lru_cache(maxsize=64)
def _spelled(ranges: syntax.Ranges) -> bytes | None:
    """Return a pattern for the encodings of characters; cached: word characters have a thousand."""
    return _choice(map(_sequence, utf8_sequences(ranges)))


def _sequence(sequence: ByteSequence) -> bytes | None:
    return b"".join(_byte_class((pair,)) or b"" for pair in sequence)


def _byte_class(ranges: syntax.Ranges) -> bytes | None:
    if not ranges:
        return None
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return b"\\x%02x" % ranges[0][0]
    return b"[" + b"".join(b"\\x%02x-\\x%02x" % pair for pair in ranges) + b"]"


def _quantifiers(node: syntax.Repeat[syntax.Node]) -> list[bytes]:
    """Return quantifiers that, applied one after the other, repeat as `node` does.

    `x{0,1500}` may become `x{0,1000}x{0,500}`: the ways to match are tried in another order, but
    the preferred one is the same.
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
