"""Detection of matched lines that define what was matched, as far as a single line shows it.

A line defines a name if it has one of the forms of its language (`definition_forms`). It defines
what was searched for if a match and that name share bytes: exactly if the match covers all of the
name, `PARTLY` if it covers whole words of a longer name.

Of exact definitions, those of types rank above those of functions and variables, and both above
members: `class Result` is what a question for `Result` means, not a method of that name.

Most lines are not definitions. So the lines of files of one family are first scanned together, with
one expression that holds the family's forms with the words of the pattern in place of the name.
Only the lines that it finds are examined one by one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from triseek.engine.ranking.definition_forms import FORMS, KEYWORDS, WIDER
from triseek.engine.ranking.definition_names import defined_name, family_of, line_finder
from triseek.engine.ranking.path_memo import PathMemo
from triseek.query.regex.syntax import Alternate, Bytes, Chars, Repeat, fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.ranking.definition_names import Finder, Span
    from triseek.engine.search.backends.base import Batch
    from triseek.query.pattern import Pattern
    from triseek.query.regex.syntax import Node

Array: TypeAlias = np.ndarray[Any, Any]

PART_BYTES_MIN = 3
"""Shorter matches do not count as a part of a longer name."""
LINE_BYTES_MAX = 2_048
"""Bytes of a line that are examined; the rest is ignored."""
WORDS_BYTES_MAX = 4_096
"""Total length of the words to look for. Beyond it definitions are not detected, because the RE2
program would grow too large."""
CHECKS_MAX = 1 << 14
"""Lines examined in one search, in path order. After them only whole names are looked for, and
nothing for a regular expression."""


class Defines(IntEnum):
    """How much of a defined name a match covers."""

    NOT = 0
    PARTLY = 1
    """Whole words of a longer name."""
    MEMBER = 2
    """All of the name, of something inside a type or a function."""
    GLOBAL = 3
    """All of the name, of a function, a variable or a nested type."""
    TYPE = 4
    """All of the name, of a type."""


class Definitions:
    """Classifier of the rows of one search; takes the batches in order, in one thread."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._traits = _traits_of(pattern)
        self._left = CHECKS_MAX

    @property
    def name(self) -> bytes | None:
        """The only name that the pattern asks for; None if there are more, or it is a regex."""
        words = self._traits.words
        return words[0] if self._traits.is_text and len(words) == 1 else None

    def of(self, batch: Batch) -> Array:
        """Return uint8[rows]: the `Defines` value of each row; `NOT` for context rows."""
        defines = np.zeros(len(batch.rows), np.uint8)
        if not self._traits.names or not len(defines):
            return defines
        text, edges = _as_lines(batch)
        kinds = _KINDS.of(batch.paths)[batch.rows["file"]]
        for row in self._candidates(kinds, text, edges):
            if not batch.rows["context"][row]:
                family = family_of(batch.paths[batch.rows["file"][row]])
                assert family is not None  # noqa: S101 (or it were no candidate)
                defines[row] = self._of_row(text[edges[row] : edges[row + 1]], family)
        return defines

    def _of_row(self, row: bytes, family: str) -> Defines:
        """Return what a row defines; the row includes its terminator.

        In multiline mode a row may hold many lines.
        """
        most = Defines.NOT
        at = 0
        for line in row[:-1].split(b"\n"):
            name = defined_name(line[:LINE_BYTES_MAX], family)
            if name is not None:
                text, span = (line, name)
                if self._pattern.spec.multiline:
                    text, span = row, (at + name[0], at + name[1])
                most = max(most, self._shared(text, span, level_of(line, name)))
            at += len(line) + 1
        return most

    def _candidates(self, kinds: Array, text: bytes, edges: Array) -> Iterator[int]:
        """Yield the rows that may define a name, in order.

        kinds: uint8[rows], places in `_FAMILIES`; `_NO_FAMILY` for rows that define none.
        """
        whole = self._left <= 0
        families = [kind for kind in np.unique(kinds).tolist() if kind != _NO_FAMILY]
        found = (row for kind in families for row in self._found(kind, whole, kinds, text, edges))
        for row in sorted(found):
            if self._left <= 0 and not whole:  # at this line, however results are split in batches
                find = self._traits.finder(_FAMILIES[kinds[row]], whole=True)
                if find is None or find(text, int(edges[row]), int(edges[row + 1])) is None:
                    continue
            self._left -= 1
            yield row

    def _found(
        self, kind: int, whole: bool, kinds: Array, text: bytes, edges: Array
    ) -> Iterator[int]:
        """Yield the rows of one family that may define a name.

        They are scanned as one text. Families alternate from file to file, and each scan costs a
        wait for the interpreter if other threads run.
        """
        find = self._traits.finder(_FAMILIES[kind], whole=whole)
        if find is None:
            return
        rows = np.flatnonzero(kinds == kind)
        lines, ends = _gathered(rows, text, edges)
        at = 0
        while (line_start := find(lines, at, len(lines))) is not None:
            number = int(np.searchsorted(ends, line_start, "right"))
            at = int(ends[number])
            yield int(rows[number])

    def _shared(self, text: bytes, name: Span, level: Defines) -> Defines:
        """Return how much of a name the matches in a text cover; `level` for all of it."""
        most = Defines.NOT
        for match in self._pattern.finditer(text):
            if match[0] >= name[1]:
                break
            most = max(most, self._against(text, name, match, level))
        return most

    def _against(self, text: bytes, name: Span, match: Span, level: Defines) -> Defines:
        shared = min(name[1], match[1]) - max(name[0], match[0])
        if shared == name[1] - name[0]:
            meant = self._traits.is_text or _touches(text, name, match)
            return level if meant else Defines.NOT
        if shared < PART_BYTES_MIN:
            return Defines.NOT
        inside = (max(name[0], match[0]), min(name[1], match[1]))
        whole_words = all(at in name or _divides(text, at) for at in inside)
        return Defines.PARTLY if whole_words else Defines.NOT


def definition_finder(pattern: Pattern, family: str) -> Finder | None:
    """Return a finder of lines that may define what a pattern matches; None if no line can.

    The lines that are searched end in a newline. `definition_names.defined_name` decides.
    """
    traits = _traits_of(pattern)
    return traits.finder(WIDER.get(family, family), whole=False) if traits.names else None


def level_of(line: bytes, name: Span) -> Defines:
    """Return how high the definition of a name ranks, by what precedes the name in its line.

    What is indented is inside of something else. So is what is named after its owner, as in
    `Owner::name` or Go's `func (owner) name`.
    """
    before = line[: name[0]]
    is_type = _TYPE_BEFORE.search(before) is not None
    if before[:1] in (b" ", b"\t"):
        return Defines.GLOBAL if is_type else Defines.MEMBER
    if is_type:
        return Defines.TYPE
    return Defines.MEMBER if _OWNER_BEFORE.search(before) else Defines.GLOBAL


_TYPE_BEFORE = re.compile(
    rb"(?:\b(?:class|struct|interface|enum|trait|type|union|record|protocol|object|actor|newtype|data"
    rb"|message|service|typealias|mixin|defmodule|defprotocol)[ \t]+|\btypedef\b.*)$"
)
_OWNER_BEFORE = re.compile(rb"(?:::|[:#]|(?<!exports)\.)$|^func[ \t]*\(")


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameTraits:
    """What a pattern implies about the names that it can match."""

    names: bool = True
    """Whether definitions can be detected for this pattern."""
    is_text: bool = False
    """Whether it matches only fixed texts."""
    words: tuple[bytes, ...] = ()
    """Every matching name contains or equals one of these; empty if no such words are known."""
    any_case: bool = False

    def finder(self, family: str, *, whole: bool) -> Finder | None:
        """Return a finder of lines with such names; with `whole`, only names equal to a word."""
        keywords = KEYWORDS.get(family, ())
        words = tuple(word for word in self.words if word not in keywords)
        if not words and (whole or self.words):
            return None
        short = any(len(word) < PART_BYTES_MIN for word in words)
        return line_finder(family, words, whole=whole or short, any_case=self.any_case)


def _traits_of(pattern: Pattern) -> _NameTraits:
    folded = pattern.folded_literal
    texts = (folded,) if folded else pattern.literals or pattern.word_literals
    if not texts:
        return _NameTraits(names=fold(pattern.tree, _shortest) >= PART_BYTES_MIN)
    words = tuple(dict.fromkeys(word for text in texts for word in _WORDS.findall(text)))
    if sum(map(len, words)) > WORDS_BYTES_MAX:
        return _NameTraits(names=False)
    return _NameTraits(names=bool(words), is_text=True, words=words, any_case=bool(folded))


_WORDS = re.compile(rb"[\w$\x80-\xff]+")


def _shortest(node: Node, below: list[int]) -> int:
    """Return a lower bound of the length of a match, in bytes."""
    if isinstance(node, Chars | Bytes):
        return 1
    if isinstance(node, Alternate):
        return min(below, default=0)
    if isinstance(node, Repeat):
        return below[0] * node.low
    return sum(below)


def _divides(text: bytes, at: int) -> bool:
    """Return whether `at` is a boundary between two words of a name.

    `set` is a word of `query_set`, `QuerySet` and `set2`, but not of `setup`.
    """
    before, behind = text[at - 1 : at], text[at : at + 1]
    if before.isalpha() and behind.isalpha():
        return before.islower() and behind.isupper()
    return True


def _touches(text: bytes, name: Span, match: Span) -> bool:
    """Return whether a name is at an edge of the match that covers it, so that the match means it.

    A match of `.*size.*` also covers the name of every function that has a parameter `size`.
    """
    matched = text[slice(*match)]
    begin = match[0] + len(matched) - len(matched.lstrip(_NO_NAME))
    end = match[0] + len(matched.rstrip(_NO_NAME))
    return begin == name[0] or end == name[1]


_NO_NAME = bytes(byte for byte in range(128) if not (chr(byte).isalnum() or chr(byte) in "_$"))


def _as_lines(batch: Batch) -> tuple[bytes, Array]:
    """Return the rows concatenated, each ending in a newline, and int64[rows + 1]: their edges.

    A file's last line may lack a terminator, and a backend may keep other bytes between rows.
    """
    begins, ends = batch.rows["begin"].astype(np.int64), batch.rows["end"].astype(np.int64)
    last_bytes = np.frombuffer(batch.text, np.uint8)[ends - 1]
    if (begins[1:] == ends[:-1]).all() and (last_bytes == ord("\n")).all():
        return batch.text, np.append(begins, ends[-1])
    rows = zip(begins.tolist(), ends.tolist(), strict=True)
    lines = [batch.text[begin:end].removesuffix(b"\n") + b"\n" for begin, end in rows]
    return b"".join(lines), np.cumsum([0, *map(len, lines)])


def _gathered(rows: Array, text: bytes, edges: Array) -> tuple[bytes, Array]:
    """Return some rows concatenated, and int64[rows]: the end of each."""
    first = np.flatnonzero(np.diff(rows, prepend=-2) != 1)
    last = np.append(first[1:], len(rows)) - 1
    begins, ends = edges[rows[first]].tolist(), edges[rows[last] + 1].tolist()
    lines = b"".join(text[begin:end] for begin, end in zip(begins, ends, strict=True))
    return lines, np.cumsum(edges[rows + 1] - edges[rows])


_FAMILIES = tuple(sorted(FORMS))
_NO_FAMILY = 255


def _kind(path: bytes) -> int:
    family = family_of(path)
    return _NO_FAMILY if family is None else _FAMILIES.index(WIDER.get(family, family))


_KINDS = PathMemo(_kind)
"""The family of each path whose forms find its definitions, as its place in `_FAMILIES`."""
