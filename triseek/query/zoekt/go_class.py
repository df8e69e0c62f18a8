r"""Classes and escapes of Go's regular expressions: `[a-z]`, `[[:alpha:]]`, `\pL`, `\w`, `\x41`."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from triseek.query.regex import unicode
from triseek.query.regex.charset import normalised
from triseek.query.zoekt.go_text import invalid_regexp

if TYPE_CHECKING:
    from triseek.query.regex.syntax import Ranges

LAST = 0x10FFFF
ANY: Ranges = ((0, LAST),)
_SURROGATES: Ranges = ((0xD800, 0xDFFF),)
NOT_LINE_END: Ranges = ((0, 0x09), (0x0B, LAST))

_DIGIT: Ranges = unicode.ASCII_DIGIT
_UPPER: Ranges = ((0x41, 0x5A),)
_LOWER: Ranges = ((0x61, 0x7A),)
_PERL: dict[str, Ranges] = {
    "d": _DIGIT,
    "s": ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20)),
    "w": unicode.ASCII_WORD,
}
_POSIX: dict[str, Ranges] = {
    "alnum": (*_DIGIT, *_UPPER, *_LOWER),
    "alpha": (*_UPPER, *_LOWER),
    "ascii": ((0, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": _LOWER,
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": _UPPER,
    "word": unicode.ASCII_WORD,
    "xdigit": (*_DIGIT, (0x41, 0x46), (0x61, 0x66)),
}
_CONTROL = {"a": 0x07, "f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_HEX = "0123456789abcdefABCDEF"
_OCTAL = "01234567"
_BAD_RANGE = "invalid character class range"
_BAD_ESCAPE = "invalid escape sequence"


def negated(ranges: Ranges) -> Ranges:
    """Return all other code points, surrogates included."""
    out: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            out.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        out.append((start, LAST))
    return tuple(out)


def parse_class(text: str, start: int, ignore_case: bool) -> tuple[Ranges, int]:
    """Parse a class in brackets that starts at `start`; return its set and where it ends.

    Raises:
        InvalidQuery: Go refuses it.
    """
    at = start + 1
    inverted = text.startswith("^", at)
    at += inverted
    ranges: list[tuple[int, int]] = []
    first = True
    while first or not text.startswith("]", at):
        first = False
        named = _named_class(text, at, ignore_case) or class_escape(text, at, ignore_case)
        if named is not None:
            added, at = named
        else:
            span, at = _range(text, at, start)
            added = unicode.fold((span,)) if ignore_case else (span,)
        ranges.extend(added)
    members = normalised(ranges)
    return negated(members) if inverted else members, at + 1


def _range(text: str, at: int, class_start: int) -> tuple[tuple[int, int], int]:
    """Parse a character or a range of a class."""
    start = at
    low, at = _member(text, at, class_start)
    if not (text.startswith("-", at) and at + 1 < len(text) and text[at + 1] != "]"):
        return (low, low), at
    high, at = _member(text, at + 1, class_start)
    if high < low:
        raise invalid_regexp(_BAD_RANGE, text[start:at])
    return (low, high), at


def _member(text: str, at: int, class_start: int) -> tuple[int, int]:
    if at >= len(text):
        raise invalid_regexp("missing closing ]", text[class_start:])
    return parse_escape(text, at) if text[at] == "\\" else (ord(text[at]), at + 1)


def _named_class(text: str, at: int, ignore_case: bool) -> tuple[Ranges, int] | None:
    """Parse `[:alpha:]` or `[:^alpha:]`; None if there is none."""
    if not text.startswith("[:", at) or at + 2 >= len(text):
        return None
    end = text.find(":]", at + 2)
    if end < 0:
        return None
    name = text[at + 2 : end]
    ranges = _POSIX.get(name.removeprefix("^"))
    if ranges is None:
        raise invalid_regexp(_BAD_RANGE, text[at : end + 2])
    return _group(ranges, name.startswith("^"), ignore_case), end + 2


def class_escape(text: str, at: int, ignore_case: bool) -> tuple[Ranges, int] | None:
    r"""Parse `\d`, `\W`, `\pL`, `\P{Greek}`; None if there is none."""
    letter = text[at + 1 : at + 2]
    if not text.startswith("\\", at) or not letter:
        return None
    if letter in "pP":
        return _property(text, at, ignore_case)
    if letter.lower() not in _PERL or not letter.isascii():
        return None
    return _group(_PERL[letter.lower()], letter.isupper(), ignore_case), at + 2


def _group(ranges: Ranges, inverted: bool, ignore_case: bool) -> Ranges:
    members = unicode.fold(ranges) if ignore_case else ranges
    return negated(members) if inverted else members


def _property(text: str, at: int, ignore_case: bool) -> tuple[Ranges, int]:
    inverted = text[at + 1] == "P"
    if not text.startswith("{", at + 2):
        end = min(at + 3, len(text))
        name = text[at + 2 : end]
    else:
        brace = text.find("}", at)
        if brace < 0:
            raise invalid_regexp(_BAD_RANGE, text[at:])
        end = brace + 1
        name = text[at + 3 : brace]
    if name.startswith("^"):
        inverted, name = not inverted, name[1:]
    ranges = _property_set(name)
    if ranges is None:
        raise invalid_regexp(_BAD_RANGE, text[at:end])
    return _group(ranges, inverted, ignore_case), end


@lru_cache(maxsize=256)
def _property_set(name: str) -> Ranges | None:
    """Return the set of a category or script; None if Go knows no such name."""
    canonical = name.replace("_", "").replace("-", "").replace(" ", "").capitalize()
    if not canonical.isascii() or canonical == "":
        return None
    if canonical == "Any":
        return ANY
    if canonical in ("Cs", "Surrogate"):
        return _SURROGATES
    if canonical in ("Assigned", "Ascii"):
        return unicode.lookup(canonical)
    for kind in ("gc", "sc"):
        if kind == "sc" and len(canonical) == 4 and canonical not in _FOUR_LETTER_SCRIPTS:
            return None  # a code such as Grek; Go has scripts by their long names only
        try:
            return _with_surrogates(canonical, unicode.lookup_value(kind, canonical))
        except unicode.UnknownPropertyError:
            continue
    return None


_FOUR_LETTER_SCRIPTS = frozenset(
    ("Ahom", "Cham", "Kawi", "Lisu", "Miao", "Modi", "Newa", "Thai", "Toto")
)
"""Scripts whose long names are as short as codes of scripts are."""


def _with_surrogates(canonical: str, ranges: Ranges) -> Ranges:
    """Add the surrogates, which the tables leave out, to the category that contains them."""
    return normalised((*ranges, *_SURROGATES)) if canonical in ("C", "Other") else ranges


def parse_escape(text: str, start: int) -> tuple[int, int]:
    """Parse an escape that stands for one character; return its code and where it ends.

    Raises:
        InvalidQuery: Go refuses it.
    """
    if start + 1 >= len(text):
        raise invalid_regexp("trailing backslash at end of expression", "")
    letter, at = text[start + 1], start + 2
    if letter in _CONTROL:
        return _CONTROL[letter], at
    if letter == "0" or (letter in "1234567" and text[at : at + 1] in tuple(_OCTAL)):
        end = at
        while end < start + 4 and text[end : end + 1] in tuple(_OCTAL):
            end += 1
        return int(text[start + 1 : end], 8), end
    if letter == "x":
        return _hexadecimal(text, start)
    if letter.isascii() and not letter.isalnum():
        return ord(letter), at
    raise invalid_regexp(_BAD_ESCAPE, text[start:at])


def _hexadecimal(text: str, start: int) -> tuple[int, int]:
    r"""Parse `\x41` or `\x{41}`."""
    at = start + 2
    if not text.startswith("{", at):
        digits = text[at : at + 2]
        if len(digits) == 2 and all(digit in _HEX for digit in digits):
            return int(digits, 16), at + 2
        raise invalid_regexp(_BAD_ESCAPE, text[start : at + 2])
    code, at = 0, at + 1
    first = at
    while at < len(text) and text[at] in _HEX:
        code = code * 16 + int(text[at], 16)
        at += 1
        if code > LAST:
            raise invalid_regexp(_BAD_ESCAPE, text[start:at])
    if text.startswith("}", at) and at > first:
        return code, at + 1
    raise invalid_regexp(_BAD_ESCAPE, text[start : at + 1])
