"""Parser of bracketed classes: ranges, POSIX names, nesting, the operators `&&`, `--` and `~~`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from triseek.query.regex import unicode
from triseek.query.regex.charset import (
    BYTES,
    UNICODE,
    complement,
    difference,
    intersection,
    normalised,
    symmetric_difference,
)
from triseek.query.regex.parse_cursor import END
from triseek.query.regex.parse_escape import Escape, Scalar, Set, parse_escape

if TYPE_CHECKING:
    from triseek.query.regex.parse_cursor import Flags, PatternCursor
    from triseek.query.regex.syntax import Ranges

Measured: TypeAlias = "tuple[Ranges, int]"
"""A set, and the nesting depth of its expression (which ripgrep limits)."""

_OPERATORS = {"&&": intersection, "--": difference, "~~": symmetric_difference}
_POSIX: dict[str, Ranges] = {
    "alnum": ((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)),
    "alpha": ((0x41, 0x5A), (0x61, 0x7A)),
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": ((0x30, 0x39),),
    "graph": ((0x21, 0x7E),),
    "lower": ((0x61, 0x7A),),
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": ((0x41, 0x5A),),
    "word": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}
_POSIX_LENGTH_MAX = len("[:^xdigit:]")
_LEVELS_MAX = 250


@dataclass(slots=True)
class Spelled:
    """The facts that smart case needs about the literal characters of a pattern."""

    any_literal: bool = False
    any_uppercase: bool = False

    def add(self, scalar: Scalar) -> None:
        """Record one literal character, in a class or outside."""
        self.any_literal = True
        if not self.any_uppercase:
            self.any_uppercase = unicode.is_uppercase(chr(scalar.code))


@dataclass(slots=True)
class _Level:
    """One open bracket."""

    start: int
    negated: bool
    items: list[Measured] = field(default_factory=list)
    """The items since the last operator."""
    operator: str = ""
    left: Measured = ((), 0)
    """The operand before the last operator."""


def parse_class(cursor: PatternCursor, flags: Flags, spelled: Spelled) -> Measured:
    """Parse the class whose `[` is under the cursor, and apply case folding and negation."""
    levels = [_open(cursor, spelled)]
    while True:
        cursor.skip_space()
        here = cursor.here
        if here == END:
            raise cursor.error("this class does not end; `]` is missing", levels[-1].start)
        if here == "[":
            posix = _posix(cursor, flags)
            if posix is not None:
                levels[-1].items.append((posix, 0))
            elif len(levels) < _LEVELS_MAX:
                levels.append(_open(cursor, spelled))
            else:
                raise cursor.error(f"this class nests deeper than {_LEVELS_MAX} levels")
        elif here == "]":
            cursor.bump()
            level = levels.pop()
            ranges, depth = _combined(level, flags)
            closed = _finished(ranges, flags, negated=level.negated), depth + 1
            if not levels:
                return closed
            levels[-1].items.append(closed)
        elif here in "&-~" and cursor.next == here:
            cursor.at += 2
            level = levels[-1]
            level.left, level.operator = _combined(level, flags), here * 2
            level.items = []
        else:
            levels[-1].items.append((_item(cursor, flags, spelled, levels[-1].start), 0))


def _open(cursor: PatternCursor, spelled: Spelled) -> _Level:
    """Consume `[`, `^`, and the characters that are literal directly after them: `-` and `]`."""
    level = _Level(cursor.at, negated=False)
    if cursor.bump_over_space() == "^":
        level.negated = True
        cursor.bump_over_space()
    while cursor.here == "-":
        _add_literal(level, "-", spelled)
        cursor.bump_over_space()
    if cursor.here == "]" and not level.items:
        _add_literal(level, "]", spelled)
        cursor.bump_over_space()
    return level


def _add_literal(level: _Level, character: str, spelled: Spelled) -> None:
    code = ord(character)
    spelled.add(Scalar(code))
    level.items.append((((code, code),), 0))


def _posix(cursor: PatternCursor, flags: Flags) -> Ranges | None:
    """Parse `[:alpha:]` or `[:^alpha:]`; return `None` and consume nothing if it is neither."""
    if cursor.next != ":":
        return None
    end = cursor.text.find(":]", cursor.at + 2, cursor.at + _POSIX_LENGTH_MAX)
    name = cursor.text[cursor.at + 2 : max(end, 0)]
    ranges = _POSIX.get(name.removeprefix("^"))
    if ranges is None:
        return None
    cursor.at = end + 2
    return _finished(ranges, flags, negated=name.startswith("^"))


def _combined(level: _Level, flags: Flags) -> Measured:
    """Apply the last operator to its two operands."""
    right = normalised(pair for ranges, _ in level.items for pair in ranges)
    depth = max((depth for _, depth in level.items), default=0) + (len(level.items) > 1)
    if not level.operator:
        return right, depth
    left, left_depth = level.left
    combine = _OPERATORS[level.operator]
    return combine(_folded(left, flags), _folded(right, flags)), max(left_depth, depth) + 1


def _finished(ranges: Ranges, flags: Flags, *, negated: bool) -> Ranges:
    """Fold, then negate: `(?i)[^x]` must not match X."""
    ranges = _folded(ranges, flags)
    if negated:
        return complement(ranges, UNICODE if flags.unicode else BYTES)
    return intersection(ranges, UNICODE) if flags.unicode else ranges


def _folded(ranges: Ranges, flags: Flags) -> Ranges:
    if not flags.ignore_case:
        return ranges
    return unicode.fold(ranges) if flags.unicode else unicode.fold_ascii(ranges)


def _item(cursor: PatternCursor, flags: Flags, spelled: Spelled, opened: int) -> Ranges:
    """Parse one character, named class or range."""
    start = cursor.at
    first = _primitive(cursor, flags)
    cursor.skip_space()
    if cursor.here == END:
        raise cursor.error("this class does not end; `]` is missing", opened)
    if cursor.here != "-" or cursor.next_solid() in ("]", "-"):
        return first.ranges if isinstance(first, Set) else _single(cursor, first, flags, spelled)
    if cursor.bump_over_space() == END:
        raise cursor.error("this class does not end; `]` is missing", opened)
    last = _primitive(cursor, flags)
    if isinstance(first, Set) or isinstance(last, Set):
        raise cursor.error(
            "a range goes from one character to another, not from or to a class", start
        )
    low = _single(cursor, first, flags, spelled)[0][0]
    high = _single(cursor, last, flags, spelled)[0][0]
    if low > high:
        raise cursor.error("this range is empty: its end comes before its start", start)
    return ((low, high),)


def _primitive(cursor: PatternCursor, flags: Flags) -> Scalar | Set:
    """Parse one character or one escape."""
    start = cursor.at
    if cursor.here != "\\":
        return Scalar(ord(cursor.bump()))
    escape: Escape = parse_escape(cursor, flags)
    if isinstance(escape, Scalar | Set):
        return escape
    raise cursor.error("an assertion means nothing inside a class", start)


def _single(cursor: PatternCursor, scalar: Scalar, flags: Flags, spelled: Spelled) -> Ranges:
    """Return one character, or one byte if `u` is off, as a set."""
    if not flags.unicode and scalar.code > 0x7F and not scalar.is_byte:
        raise cursor.error("this class holds bytes (Unicode is off); write bytes as \\xHH")
    spelled.add(scalar)
    return ((scalar.code, scalar.code),)
