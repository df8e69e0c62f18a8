r"""Parser of escapes: characters, classes, properties, assertions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.query.regex import unicode
from triseek.query.regex.charset import BYTES, UNICODE, complement, intersection
from triseek.query.regex.parse_cursor import END
from triseek.query.regex.syntax import Assertion, LookKind, Ranges

if TYPE_CHECKING:
    from triseek.query.regex.parse_cursor import Flags, PatternCursor


@dataclass(frozen=True, slots=True)
class Scalar:
    """One character, as written in the pattern."""

    code: int
    is_byte: bool = False
    r"""Whether it was written as `\xHH`, which is a byte, not a character, if `u` is off."""


@dataclass(frozen=True, slots=True)
class Set:
    r"""A named class such as `\d` or `\pL`, with case folding and negation applied."""

    ranges: Ranges


Escape: TypeAlias = Scalar | Set | Assertion

_PERL: dict[str, tuple[Literal["word", "space", "digit"], Ranges]] = {
    "d": ("digit", unicode.ASCII_DIGIT),
    "s": ("space", unicode.ASCII_SPACE),
    "w": ("word", unicode.ASCII_WORD),
}
_CONTROL = {"a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D, "v": 0x0B}
_DIGITS = {"x": 2, "u": 4, "U": 8}
_HEX = frozenset("0123456789abcdefABCDEF")
_LOOKS: dict[str, LookKind] = {
    "B": "not_word",
    "<": "word_start",
    ">": "word_end",
}
_NAMED_LOOKS: dict[str, LookKind] = {
    "start": "word_start",
    "end": "word_end",
    "start-half": "word_start_half",
    "end-half": "word_end_half",
}
_FOREIGN = {
    "Z": r"\Z is not known here; write \z for the end of the text, or $ for the end of a line",
    "G": r"\G (where the last match ended) is not supported; leave it out",
    "C": r"\C (any one byte) is not supported; write (?-u:.)",
    "K": r"\K (forget what was matched so far) is not supported; leave it out",
    "R": r"\R (any line end) is not supported; write (?:\r\n|\n|\r), with -U",
    "X": r"\X (a grapheme) is not supported; write \P{M}\p{M}*",
    "h": r"\h is not supported; write [\t ] or [\t\p{Zs}]",
    "H": r"\H is not supported; write [^\t ] or [^\t\p{Zs}]",
    "N": r"\N is not supported; write . for any character but a line end",
    "Q": r"\Q…\E quoting is not supported; escape the characters, or search with -F",
    "E": r"\E ends no quoting here; escape the characters, or search with -F",
    "k": r"back-references are not supported",
    "g": r"back-references are not supported",
    "c": r"\c control characters are not supported; write \x and two hex digits",
    "e": r"\e is not supported; write \x1B",
    "y": r"\y is not supported; write \b for a word boundary",
    "m": r"\m is not supported; write \< for the start of a word",
    "M": r"\M is not supported; write \> for the end of a word",
}


def parse_escape(cursor: PatternCursor, flags: Flags) -> Escape:
    """Parse the escape whose backslash is under the cursor."""
    start = cursor.at
    cursor.bump()
    letter = cursor.here
    if letter == END:
        raise cursor.error(r"the pattern ends with a backslash; write \\ for the character", start)
    if letter in "0123456789":
        raise cursor.error(f"back-references such as \\{letter} are not supported", start)
    if letter in _DIGITS:
        return _hexadecimal(cursor, start)
    if letter in "pP":
        return _property(cursor, flags, start)
    if letter in "dswDSW":
        return _perl(cursor.bump(), flags)
    cursor.bump()
    return _simple(cursor, flags, letter, start)


def _simple(cursor: PatternCursor, flags: Flags, letter: str, start: int) -> Escape:
    """Return the meaning of a backslash with one letter or sign."""
    if letter in _CONTROL:
        return Scalar(_CONTROL[letter])
    if letter == "b":
        return Assertion(_word_boundary(cursor, start), flags.unicode)
    if letter in "Az":
        return Assertion("text_start" if letter == "A" else "text_end")
    if letter in _LOOKS:
        return Assertion(_LOOKS[letter], flags.unicode)
    if letter.isascii() and not letter.isalnum():
        return Scalar(ord(letter))
    message = _FOREIGN.get(letter)
    shown = letter if letter.isprintable() else f"U+{ord(letter):04X}"
    raise cursor.error(
        message or f"\\{shown} means nothing; write {shown} without the backslash", start
    )


def _word_boundary(cursor: PatternCursor, start: int) -> LookKind:
    r"""Return the kind of boundary of a `\b`; parse the `{start-half}` after it, if any."""
    if cursor.here != "{":
        return "word"
    before = cursor.at
    first = cursor.bump_over_space()
    if first == END:
        raise cursor.error(r"\b{ does not end; write \b, or \b{start}", start)
    if not _names_boundary(first):
        cursor.at = before
        return "word"
    name = ""
    while _names_boundary(cursor.here):
        name += cursor.here
        cursor.bump_over_space()
    if cursor.here != "}":
        raise cursor.error(rf"\b{{{name} does not end; `}}` is missing", start)
    cursor.bump()
    if name not in _NAMED_LOOKS:
        raise cursor.error(
            rf"\b{{{name}}} is unknown; there are start, end, start-half, end-half", start
        )
    return _NAMED_LOOKS[name]


def _names_boundary(character: str) -> bool:
    return character == "-" or (character.isascii() and character.isalpha())


def _hexadecimal(cursor: PatternCursor, start: int) -> Scalar:
    r"""Parse `\x41`, `\x{41}` and the same forms with u and U."""
    kind = cursor.here
    if cursor.bump_over_space() == "{":
        return Scalar(_code_point(cursor, _braced_digits(cursor, start), start))
    digits = ""
    while True:
        if cursor.here not in _HEX:
            message = f"\\{kind} takes {_DIGITS[kind]} hex digits, or braces: \\{kind}{{…}}"
            raise cursor.error(message, start)
        digits += cursor.here
        cursor.bump_over_space()
        if len(digits) == _DIGITS[kind]:
            return Scalar(_code_point(cursor, digits, start), is_byte=kind == "x")


def _braced_digits(cursor: PatternCursor, start: int) -> str:
    digits = ""
    while cursor.bump_over_space() != "}":
        if cursor.here == END:
            raise cursor.error("this escape does not end; `}` is missing", start)
        if cursor.here not in _HEX:
            raise cursor.error(f"{cursor.here!r} is no hex digit")
        digits += cursor.here
    if not digits:
        raise cursor.error("there are no hex digits between the braces", start)
    cursor.bump_over_space()
    return digits


def _code_point(cursor: PatternCursor, digits: str, start: int) -> int:
    value = int(digits, 16)
    if value > 0x10FFFF or 0xD800 <= value <= 0xDFFF:
        raise cursor.error(f"U+{value:04X} is not a character", start)
    return value


def _perl(letter: str, flags: Flags) -> Set:
    r"""Return `\d`, `\s`, `\w` or the complement; they are closed under case folding."""
    name, in_ascii = _PERL[letter.lower()]
    universe = UNICODE if flags.unicode else BYTES
    ranges = unicode.perl_class(name) if flags.unicode else in_ascii
    return Set(complement(ranges, universe) if letter.isupper() else ranges)


def _property(cursor: PatternCursor, flags: Flags, start: int) -> Set:
    r"""Parse `\pL`, `\p{Greek}`, `\p{sc=Greek}` and the complements with P."""
    negated = cursor.here == "P"
    name = _property_name(cursor, start)
    if not flags.unicode:
        raise cursor.error(r"\p needs Unicode, which is off here (--no-unicode or (?-u))", start)
    try:
        ranges = intersection(_property_ranges(name), UNICODE)
    except unicode.UnknownPropertyError as error:
        message = f"there is no Unicode property or value {error.args[0]!r}"
        raise cursor.error(message, start) from None
    if flags.ignore_case:
        ranges = unicode.fold(ranges)
    return Set(complement(ranges, UNICODE) if negated else ranges)


def _property_name(cursor: PatternCursor, start: int) -> str:
    first = cursor.bump_over_space()
    if first in (END, "\\"):
        raise cursor.error(r"\p takes a letter or braces: \pL, \p{Greek}", start)
    if first != "{":
        cursor.bump_over_space()
        return first
    name = ""
    while cursor.bump_over_space() != "}":
        if cursor.here == END:
            raise cursor.error(r"\p{ does not end; `}` is missing", start)
        name += cursor.here
    cursor.bump()
    return name


def _property_ranges(name: str) -> Ranges:
    """Return the set of a property; `!=` is read as `=`, as in regex-syntax 0.8.8."""
    for sign in ("!=", ":", "="):
        prop, separator, value = name.partition(sign)
        if separator:
            return unicode.lookup_value(prop, value)
    return unicode.lookup(name)
