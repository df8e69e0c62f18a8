"""Parser from a pattern spec to a syntax tree, following ripgrep.

The dialect is Rust's (crate regex, regex-syntax 0.8.8) as ripgrep 15.1 uses it. `^` and `$` always
match at line ends. Unless matches may span lines (`multiline`), no match may contain a line end:
it is silently removed from classes, and refused as a literal. All patterns of a search are parsed
as one, `(?:first)|(?:second)`, as in ripgrep; therefore a pattern such as `a)|(b` is valid.

The only difference is a `{` that does not start a repetition: ripgrep refuses it; here it is text,
and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidQuery
from triseek.query.regex import hir
from triseek.query.regex.parse_class import Spelled
from triseek.query.regex.parse_cursor import Flags, PatternCursor
from triseek.query.regex.parse_regex import Meaning, parse_regex
from triseek.query.regex.syntax import Assertion, Bytes, Chars, Repeat, fold

if TYPE_CHECKING:
    from triseek.model.search import PatternSpec
    from triseek.query.regex.hir import Hir
    from triseek.query.regex.syntax import LookKind, Node

_LF, _CR, _NUL = 0x0A, 0x0D, 0x00
_JOINT = "|"
_OPEN, _CLOSE = "(?:", ")"
SIZE_LIMIT = 200_000
"""Maximum parts of a pattern with repetitions expanded; ripgrep allows about ten times as many."""
RANGES_LIMIT = 1_000_000
"""Maximum character ranges in its classes with repetitions expanded; `\\p{L}` has 650. Close to
ripgrep's own limit (`--regex-size-limit`, 100 MiB)."""
FEW_PARTS = 1000
"""Size up to which the ranges of a pattern are not counted in its size."""


@dataclass(frozen=True, slots=True)
class ParseResult:
    """The result of parsing a pattern."""

    tree: Node
    notes: tuple[str, ...]
    """Differences from ripgrep in how the pattern was read, one sentence each."""
    needs_nul: bool = False
    """Whether the pattern has a NUL as a literal (`\\x00`). No file that is searched as text has
    one, so ripgrep refuses the pattern unless `--text` is on."""
    size: int = 0
    """Approximate number of parts with repetitions expanded: a measure of its memory."""


class Groups(NamedTuple):
    """A pattern with its capturing groups."""

    tree: Node
    names: dict[str, int]
    """Group name → group number."""


def parse(spec: PatternSpec) -> ParseResult:
    """Parse all patterns of `spec` as one.

    Raises:
        InvalidQuery: A pattern is invalid, or could only match what is never searched.
    """
    _refuse_unsearchable(spec)
    cursor = _cursor(spec)
    meaning = _read(spec, cursor).hir
    needs_nul = hir.has_literal(meaning, _NUL)
    tree = hir.lower(_searched(meaning, spec))
    return ParseResult(tree, tuple(cursor.notes), needs_nul, _limited_size(tree))


def parse_groups(spec: PatternSpec) -> Groups:
    """Return the tree, with capturing groups, of a pattern that `parse` has accepted."""
    meaning = _read(spec, _cursor(spec))
    return Groups(hir.lower(_searched(meaning.hir, spec), groups=True), meaning.names)


def patterns_for_ripgrep(spec: PatternSpec) -> tuple[str, ...]:
    """Return patterns that `parse` has accepted, changed so that ripgrep reads them identically.

    ripgrep refuses a brace that does not start a repetition. Here it is text, so it is escaped.
    """
    if spec.fixed or not any("{" in pattern for pattern in spec.patterns):
        return spec.patterns
    cursor = _cursor(spec)
    _read(spec, cursor)
    return tuple(
        "".join("\\" * (at in cursor.text_braces) + sign for at, sign in enumerate(pattern, start))
        for start, pattern in zip(cursor.starts, spec.patterns, strict=True)
    )


def _searched(meaning: Hir, spec: PatternSpec) -> Hir:
    """Restrict the pattern to one line unless -U is given, and add the bounds of -x or -w.

    Raises:
        InvalidQuery: It has a literal line end, which no line contains.
    """
    return _bounded(meaning if spec.multiline else _without_line_ends(meaning, spec), spec)


def _limited_size(tree: Node) -> int:
    """Return the number of parts of the pattern with repetitions expanded.

    Raises:
        InvalidQuery: There are too many.
    """
    size, ranges = fold(tree, _size)
    if size > SIZE_LIMIT:
        message = f"this pattern is too large: written out, its repetitions take {size} parts"
        raise InvalidQuery(message, next_step="Make the counted repetitions smaller.")
    if ranges > RANGES_LIMIT:
        message = f"this pattern is too large: written out, its classes have {ranges} ranges"
        raise InvalidQuery(message, next_step="Repeat Unicode classes less often, or pass (?-u:…).")
    return size + ranges if size > FEW_PARTS else size


def _size(node: Node, below: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the number of nodes and of character ranges, with repetitions expanded."""
    size, ranges = sum(part[0] for part in below), sum(part[1] for part in below)
    if isinstance(node, Chars | Bytes):
        return 1, len(node.ranges)
    if isinstance(node, Repeat):
        times = max(node.low, node.high or node.low + 1, 1)
        return size * times + 1, ranges * times
    return size + 1, ranges


def _refuse_unsearchable(spec: PatternSpec) -> None:
    for pattern in spec.patterns:
        if "\0" in pattern:
            message = "the pattern contains a NUL byte, which cannot be searched for"
            raise InvalidQuery(
                message,
                next_step="Write \\x00 for it, and pass --text.",
                tool_step="Search for a part of it that has no NUL byte.",
            )
        if any("\ud800" <= character <= "\udfff" for character in pattern):
            message = "the pattern is not valid UTF-8"
            raise InvalidQuery(message, next_step="Write bytes as (?-u:\\xHH).")


def _cursor(spec: PatternSpec) -> PatternCursor:
    """Join the patterns as ripgrep does, and record where each begins."""
    patterns = [_escaped(pattern) if spec.fixed else pattern for pattern in spec.patterns]
    starts: list[int] = []
    at = len(_OPEN)
    for pattern in patterns:
        starts.append(at)
        at += len(pattern) + len(_CLOSE) + len(_JOINT) + len(_OPEN)
    return PatternCursor(
        _JOINT.join(_OPEN + pattern + _CLOSE for pattern in patterns), tuple(starts)
    )


def _escaped(pattern: str) -> str:
    return "".join("\\" + c if c in "\\.+*?()|[]{}^$#&-~" else c for c in pattern)


def _read(spec: PatternSpec, cursor: PatternCursor) -> Meaning:
    """Parse the patterns; with smart case twice, since the case mode depends on the whole text."""
    if not spec.patterns:
        return Meaning(hir.class_of(()), {})
    flags = Flags(
        ignore_case=spec.case == "insensitive",
        dot_all=spec.multiline and spec.dotall,
        unicode=spec.unicode,
        crlf=spec.crlf,
    )
    spelled = Spelled()
    try:
        meaning = parse_regex(cursor, flags, spelled)
    except InvalidQuery:
        _refuse_one_by_one(spec, flags)
        raise
    if spec.case == "smart" and spelled.any_literal and not spelled.any_uppercase:
        cursor.at = 0
        cursor.notes.clear()
        meaning = parse_regex(cursor, replace(flags, ignore_case=True), spelled)
    return meaning


def _refuse_one_by_one(spec: PatternSpec, flags: Flags) -> None:
    """Raise the error of a pattern that is invalid by itself: its position is more precise."""
    if spec.fixed:
        return
    for number, pattern in enumerate(spec.patterns, 1):
        alone = PatternCursor(pattern, (0,), number=number if len(spec.patterns) > 1 else 0)
        parse_regex(alone, flags, Spelled())


def _without_line_ends(meaning: Hir, spec: PatternSpec) -> Hir:
    r"""Remove line ends from all classes; refuse them as literals."""
    for byte, name in ((_CR, r"\r"), (_LF, r"\n")) if spec.crlf else ((_LF, r"\n"),):
        try:
            meaning = hir.without(meaning, byte)
        except hir.NotAllowedError:
            message = f'the literal "{name}" is not allowed: a match lies within one line'
            raise InvalidQuery(
                message,
                next_step="Pass -U (--multiline) to match across lines.",
                tool_step="Search for a part of it that lies within one line.",
            ) from None
    return meaning


def _bounded(meaning: Hir, spec: PatternSpec) -> Hir:
    """Put the assertions of -x or -w around the pattern; -x takes precedence."""
    if spec.line:
        first: LookKind = "line_start_crlf" if spec.crlf else "line_start"
        last: LookKind = "line_end_crlf" if spec.crlf else "line_end"
        return hir.sequence([Assertion(first), meaning, Assertion(last)])
    if spec.word:
        start = Assertion("word_start_half", spec.unicode)
        return hir.sequence([start, meaning, Assertion("word_end_half", spec.unicode)])
    return meaning
