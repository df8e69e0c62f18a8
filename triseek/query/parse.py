"""From what was asked for to the tree of what it means: ripgrep's reading of a pattern.

The dialect is Rust's (crate regex, regex-syntax 0.8.2) as ripgrep 14.1 uses it: `^` and `$` always
stand for line ends, and unless matches may span lines (`multiline`), none may contain one:
classes lose it silently, a literal one is refused. All patterns of a search are read as one,
`(?:first)|(?:second)`, because ripgrep does; a pattern such as `a)|(b` therefore means something.

The one thing read otherwise is `{` where it starts no repetition: ripgrep refuses it, here it is
text, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidQuery
from triseek.query import hir
from triseek.query.parse_class import Spelled
from triseek.query.parse_cursor import Cursor
from triseek.query.parse_flags import Flags
from triseek.query.parse_regex import Meaning, parse_regex
from triseek.query.size import RANGES_LIMIT, SIZE_LIMIT, expanded_ranges, expanded_size
from triseek.query.syntax import Look

if TYPE_CHECKING:
    from triseek.model.search import PatternSpec
    from triseek.query.hir import Hir
    from triseek.query.syntax import LookKind, Node

_LF, _CR, _NUL = 0x0A, 0x0D, 0x00
_JOINT = "|"
_OPEN, _CLOSE = "(?:", ")"
FEW_PARTS = 1000
"""So few classes cannot have too many ranges: none has more than about 800."""


@dataclass(frozen=True, slots=True)
class ParseResult:
    """What a pattern means."""

    tree: Node
    notes: tuple[str, ...]
    """What was understood in another way than ripgrep does, one sentence each."""
    needs_nul: bool = False
    """Whether a NUL stands in the pattern as a literal (`\\x00`): no file that is searched as
    text has one, so ripgrep refuses the pattern unless `--text` is on."""
    size: int = 0
    """About how many parts it has, written out: what keeping it takes."""


class Groups(NamedTuple):
    """A pattern with its capturing groups."""

    tree: Node
    names: dict[str, int]
    """The number of each group with a name."""


def parse(spec: PatternSpec) -> ParseResult:
    """Return what the patterns of `spec` mean, all together.

    Raises:
        InvalidQuery: a pattern cannot be understood, or could only match what is never searched.
    """
    _refuse_unsearchable(spec)
    cursor = _cursor(spec)
    meaning = _read(spec, cursor).hir
    needs_nul = hir.has_literal(meaning, _NUL)
    tree = hir.lower(_searched(meaning, spec))
    return ParseResult(tree, tuple(cursor.notes), needs_nul, _limited_size(tree))


def parse_groups(spec: PatternSpec) -> Groups:
    """Return the tree of a pattern that `parse` has accepted, with its capturing groups."""
    meaning = _read(spec, _cursor(spec))
    return Groups(hir.lower(_searched(meaning.hir, spec), groups=True), meaning.names)


def patterns_for_ripgrep(spec: PatternSpec) -> tuple[str, ...]:
    """Return the patterns, which `parse` has accepted, as ripgrep reads them in the same way.

    It refuses a brace that starts no repetition; here that is text, so there it is escaped.
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
    """Return what is searched for: within one line unless -U is given, in the bounds of -x or -w.

    Raises:
        InvalidQuery: it holds a line end that no line has.
    """
    return _bounded(meaning if spec.multiline else _without_line_ends(meaning, spec), spec)


def _limited_size(tree: Node) -> int:
    """Return how many parts the pattern has, written out.

    Raises:
        InvalidQuery: they are too many.
    """
    size = expanded_size(tree)
    if size > SIZE_LIMIT:
        message = f"this pattern is too large: written out, its repetitions take {size} parts"
        raise InvalidQuery(message, next_step="Make the counted repetitions smaller.")
    ranges = expanded_ranges(tree) if size > FEW_PARTS else 0
    if ranges > RANGES_LIMIT:
        message = f"this pattern is too large: written out, its classes have {ranges} ranges"
        raise InvalidQuery(message, next_step="Repeat Unicode classes less often, or pass (?-u:…).")
    return size + ranges


def _refuse_unsearchable(spec: PatternSpec) -> None:
    for pattern in spec.patterns:
        if "\0" in pattern:
            message = "the pattern contains a NUL byte, which cannot be searched for"
            raise InvalidQuery(message, next_step="Write \\x00 for it, and pass --text.")
        if any("\ud800" <= character <= "\udfff" for character in pattern):
            message = "the pattern is not valid UTF-8"
            raise InvalidQuery(message, next_step="Write bytes as (?-u:\\xHH).")


def _cursor(spec: PatternSpec) -> Cursor:
    """Join the patterns as ripgrep does, remembering where each begins."""
    patterns = [_escaped(pattern) if spec.fixed else pattern for pattern in spec.patterns]
    starts: list[int] = []
    at = len(_OPEN)
    for pattern in patterns:
        starts.append(at)
        at += len(pattern) + len(_CLOSE) + len(_JOINT) + len(_OPEN)
    return Cursor(_JOINT.join(_OPEN + pattern + _CLOSE for pattern in patterns), tuple(starts))


def _escaped(pattern: str) -> str:
    return "".join("\\" + c if c in "\\.+*?()|[]{}^$#&-~" else c for c in pattern)


def _read(spec: PatternSpec, cursor: Cursor) -> Meaning:
    """Read the patterns; under smart case twice, since only the end tells how to read them."""
    if not spec.patterns:
        return Meaning(hir.class_of(()), {})
    flags = _flags(spec)
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
    """Raise the error of a pattern that is wrong by itself: it knows the place better."""
    if spec.fixed:
        return
    for number, pattern in enumerate(spec.patterns, 1):
        alone = Cursor(pattern, (0,), number=number if len(spec.patterns) > 1 else 0)
        parse_regex(alone, flags, Spelled())


def _flags(spec: PatternSpec) -> Flags:
    return Flags(
        ignore_case=spec.case == "insensitive",
        dot_all=spec.multiline and spec.dotall,
        unicode=spec.unicode,
        crlf=spec.crlf,
    )


def _without_line_ends(meaning: Hir, spec: PatternSpec) -> Hir:
    r"""Take line ends out of all classes; refuse them as literals."""
    for byte, name in ((_CR, r"\r"), (_LF, r"\n")) if spec.crlf else ((_LF, r"\n"),):
        try:
            meaning = hir.without(meaning, byte)
        except hir.NotAllowedError:
            message = f'the literal "{name}" is not allowed: a match lies within one line'
            step = "Pass -U (--multiline) to match across lines."
            raise InvalidQuery(message, next_step=step) from None
    return meaning


def _bounded(meaning: Hir, spec: PatternSpec) -> Hir:
    """Put the bounds of -x or -w around the pattern; -x is the stronger."""
    if spec.line:
        first: LookKind = "line_start_crlf" if spec.crlf else "line_start"
        last: LookKind = "line_end_crlf" if spec.crlf else "line_end"
        return hir.sequence([Look(first), meaning, Look(last)])
    if spec.word:
        start = Look("word_start_half", spec.unicode)
        return hir.sequence([start, meaning, Look("word_end_half", spec.unicode)])
    return meaning
