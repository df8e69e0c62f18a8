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

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

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


def re2_groups(tree: syntax.Node, target: Target, count: int) -> FindGroups | None:
    """Return an RE2 search for the groups of a match; `None` if RE2's groups may differ.

    tree: Tree with `Capture` nodes.
    count: Number of groups, including the whole match.
    """
    if syntax.fold(tree, _loops_over_nothing):
        return None
    try:
        pattern = pattern_text(tree, target)
    except UnsayableError:
        return None
    if pattern is None or len(pattern) > _PROGRAM_MAX:
        return None
    try:
        program = re2.compile(pattern, _options(captures=True))
    except re2.error:  # too large, or a group occurs twice where a repetition was expanded
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
        span: tuple[int, int] = match(unanchored, text, at, len(text))[0]
        return span if span[0] >= 0 else None

    return find


def _never(_text: bytes, _at: int) -> tuple[int, int] | None:
    return None


@dataclass(frozen=True, slots=True)
class _Neighbours:
    """What can be next to an assertion, as far as the pattern determines it."""

    before: str
    after: str
    """`word`, `other`, `either`."""


class _Emitter:
    """Writer of one pattern for one target."""

    def __init__(self, target: Target) -> None:
        self.ascii_only = target == "ascii"
        self.drop_looks = target == "superset"
        self._edges: dict[tuple[int, bool], _Edge] = {}

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
                return self.look(node, _Neighbours("either", "either"))
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
        beside = (
            self.neighbours(parts)
            if any(isinstance(part, syntax.Assertion) for part in parts)
            else []
        )
        for at, part in enumerate(parts):
            if isinstance(part, syntax.Assertion):
                written = self.look(part, beside[at])
            else:
                written = self.text(part, count)
            if written is None:
                return None
            out += written
        return bytes(out)

    def repeat(self, node: syntax.Repeat, count: int) -> bytes | None:
        times = max(node.low, node.high or 1)
        if times > 1 and times * count > _COUNT_MAX and count > 1:
            raise UnsayableError
        if node.high is None and can_be_empty(node.node) and _loops(node.node):
            raise UnsayableError  # `(?:(?:|b)*)+?` etc.: RE2 ranks empty rounds otherwise
        body = self.text(node.node, count * min(times, _COUNT_MAX))
        if body is None:
            return b"(?:)" if node.low == 0 else None
        lazy = b"" if node.greedy else b"?"
        return b"".join(b"(?:" + body + b")" + form + lazy for form in _quantifiers(node))

    def look(self, look: syntax.Assertion, beside: _Neighbours) -> bytes | None:
        """Return an assertion in RE2 syntax; `None` if the pattern contradicts it."""
        plain = _PLAIN_LOOKS.get(look.kind)
        if plain is not None:
            return plain
        if self.drop_looks:
            return b"(?:)"
        if look.unicode and not self.ascii_only:
            raise UnsayableError
        written = _WORD_LOOKS.get(look.kind) or _beside(look, beside)
        return None if written == _CONTRADICTION else written

    def neighbours(self, parts: tuple[syntax.Node, ...]) -> list[_Neighbours]:
        """Return what can be next to each part, from one pass in each direction."""
        before, after = self.beside(parts, last=True), self.beside(parts[::-1], last=False)
        return [_Neighbours(*pair) for pair in zip(before, after[::-1], strict=True)]

    def beside(self, parts: Iterable[syntax.Node], *, last: bool) -> list[str]:
        """Return for each part what the parts before it, in this order, end with."""
        edge, sides = _Edge(), []
        for part in parts:
            sides.append(edge.sort())
            here = self.outermost(part, last=last)
            edge = here.behind(edge) if here.may_be_empty else here
        return sides

    def outermost(self, node: syntax.Node, *, last: bool) -> _Edge:
        """Return what a node's matches begin (or end) with; computed once per node."""
        edge = self._edges.get((id(node), last))
        if edge is None:
            edge = self._edges[id(node), last] = syntax.fold(node, partial(self.edge_of, last))
        return edge

    def edge_of(self, last: bool, node: syntax.Node, below: list[_Edge]) -> _Edge:
        """Return what a node's matches begin (or end) with, given the edges of its children.

        All non-ASCII bytes are treated alike: none of them is an ASCII word character.
        """
        match node:
            case syntax.Chars(ranges) | syntax.Bytes(ranges):
                inside = intersection(ranges, ASCII)
                words = intersection(inside, ASCII_WORD)
                others = words != inside or (ranges != inside and not self.ascii_only)
                return _Edge(bool(words), others, may_be_empty=False)
            case syntax.Concat():
                combined = _Edge()
                for edge in below if last else reversed(below):
                    combined = edge.behind(combined) if edge.may_be_empty else edge
                return combined
            case syntax.Alternate():
                return _Edge(
                    any(edge.word for edge in below),
                    any(edge.other for edge in below),
                    may_be_empty=any(edge.may_be_empty for edge in below),
                )
            case syntax.Repeat(_, low):
                edge = below[0]
                return edge._replace(may_be_empty=edge.may_be_empty or low == 0)
            case syntax.Capture():
                return below[0]
            case _:
                return _Edge()


class _Edge(NamedTuple):
    """What the matches of a node begin (or end) with."""

    word: bool = False
    """Whether some begin (or end) with an ASCII word character."""
    other: bool = False
    """Whether some begin (or end) with another byte."""
    may_be_empty: bool = True
    """Whether some are empty."""

    def behind(self, before: _Edge) -> _Edge:
        """Return the edge of this node, which may be empty, combined with the edge before it."""
        return _Edge(self.word or before.word, self.other or before.other, before.may_be_empty)

    def sort(self) -> str:
        """Return `word` if all are word characters, `other` if none is, else `either`."""
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
    # kind: side: (text if that side is `word`, text if it is `other`); see `assertions.holds`
    "word_start": {"after": (b"\\b", _CONTRADICTION), "before": (_CONTRADICTION, b"\\b")},
    "word_end": {"before": (b"\\b", _CONTRADICTION), "after": (_CONTRADICTION, b"\\b")},
    "word_start_half": {"after": (b"\\b", b"\\B"), "before": (_CONTRADICTION, b"(?:)")},
    "word_end_half": {"before": (b"\\b", b"\\B"), "after": (_CONTRADICTION, b"(?:)")},
}


def _beside(look: syntax.Assertion, beside: _Neighbours) -> bytes:
    """Return a boundary that RE2 lacks, expressed by one that it has."""
    for side, (word, other) in _RESOLVED.get(look.kind, {}).items():
        sort = beside.after if side == "after" else beside.before
        if sort != "either":
            return word if sort == "word" else other
    raise UnsayableError


def _loops(tree: syntax.Node) -> bool:
    """Return whether the tree has an unbounded repetition."""
    return syntax.fold(tree, _loops_here)


def _loops_here(node: syntax.Node, below: list[bool]) -> bool:
    return any(below) or (isinstance(node, syntax.Repeat) and node.high is None)


def _loops_over_nothing(node: syntax.Node, below: list[bool]) -> bool:
    """Return whether the tree has an unbounded repetition of something that may be empty."""
    here = isinstance(node, syntax.Repeat) and node.high is None and can_be_empty(node.node)
    return here or any(below)


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


def _quantifiers(node: syntax.Repeat) -> list[bytes]:
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
