r"""Unicode data: properties, word characters, simple case folding.

The tables (`unicode_tables.txt`, next to this file) are data of the Unicode Character Database
16.0.0, the version that ripgrep 15.1 uses. The sets were extracted from the Rust crate
`regex-syntax` 0.8.8 by querying `\p{…}` name by name, so that both agree in every code point. Case
orbits are the sets that `(?i)` gives each character (statuses C and S of CaseFolding.txt, closed).

A line is `kind name,alias…<TAB>values`. Names are in normal form (`normal_name`). A set is
written as distances in base 36: `a-b` starts `a` after the end of the last range and covers `b`
more; a number without `-` is one character. `age` lines hold what that version added. `fold`
holds the orbits, with members joined by commas. `property` lists the names of properties that take
a value, `names` those that Rust knows but has no table for.

Tables are read on first use; queries about ASCII characters read none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from triseek.query.regex.charset import ASCII, UNICODE, contains, intersection, normalised

if TYPE_CHECKING:
    from triseek.query.regex.syntax import Ranges

VERSION = "16.0.0"

ASCII_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
ASCII_DIGIT: Ranges = ((0x30, 0x39),)
ASCII_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))

_TABLES = "unicode_tables.txt"
_BEYOND_ASCII: Ranges = ((0x80, 0x10FFFF),)
_ASCII_FOLDS_FAR = {0x6B: 0x212A, 0x73: 0x17F}
"""The ASCII letters that fold with a non-ASCII character: k with the Kelvin sign, s with ſ."""


class UnknownPropertyError(KeyError):
    """The property does not exist; the message names the unknown part."""


def normal_name(name: str) -> str:
    """Return the normal form of a property's name, as in the tables: UAX44-LM3 as in Rust."""
    prefixed = name[:2] in ("is", "IS", "iS", "Is")
    rest = name[2:] if prefixed else name
    kept = "".join(c for c in rest if c.isascii() and c not in " _-").lower()
    return "isc" if prefixed and kept == "c" else kept


@cache
def lookup(name: str) -> Ranges:
    r"""Return the set of `\p{name}`.

    Raises:
        UnknownPropertyError: There is no such property, category or script.
    """
    normal = normal_name(name)
    if normal not in ("cf", "sc", "lc"):  # also names of properties, but read as values
        if ("bool", normal) in _lines():
            return _values("bool", normal)
        if normal in _unsupported_names() or normal in _value_properties():
            raise UnknownPropertyError(name)
    for kind in ("gc", "sc"):
        if (kind, normal) in _lines():
            return _values(kind, normal)
    raise UnknownPropertyError(name)


@cache
def lookup_value(name: str, value: str) -> Ranges:
    r"""Return the set of `\p{name=value}`.

    Raises:
        UnknownPropertyError: There is no such property, or it has no such value.
    """
    kind = _value_properties().get(normal_name(name))
    if kind is None:
        raise UnknownPropertyError(name)
    normal = normal_name(value)
    if (kind, normal) not in _lines():
        raise UnknownPropertyError(value)
    return _up_to_age(normal) if kind == "age" else _values(kind, normal)


def perl_class(name: Literal["word", "space", "digit"]) -> Ranges:
    r"""Return the set of `\w`, `\s` or `\d`, as in Unicode."""
    return _values("perl", name)


def is_word(character: str) -> bool:
    """Return whether one character is a word character; `False` for an empty string."""
    if character.isascii():
        return character.isalnum() or character == "_"
    return contains(perl_class("word"), ord(character))


def is_uppercase(character: str) -> bool:
    """Return whether one character is Uppercase."""
    if character.isascii():
        return character.isupper()
    return contains(lookup("uppercase"), ord(character))


def is_alphabetic(character: str) -> bool:
    """Return whether one character is Alphabetic."""
    if character.isascii():
        return character.isalpha()
    return contains(lookup("alphabetic"), ord(character))


def is_alphanumeric(character: str) -> bool:
    """Return whether one character is Alphabetic or a number of any kind."""
    if character.isascii():
        return character.isalnum()
    return is_alphabetic(character) or contains(lookup("number"), ord(character))


def fold(ranges: Ranges) -> Ranges:
    """Return the set closed under simple case folding."""
    folded = [*ranges, *_ascii_folds(ranges)]
    for low, high in intersection(ranges, _BEYOND_ASCII):
        folded.extend(_orbit_members(low, high))
    return normalised(folded)


def fold_ascii(ranges: Ranges) -> Ranges:
    """Return the set of bytes closed under ASCII case folding."""
    return normalised((*ranges, *(pair for pair in _ascii_folds(ranges) if pair[0] < 0x80)))


def _ascii_folds(ranges: Ranges) -> list[tuple[int, int]]:
    """Return the characters that the ASCII letters of the set fold with."""
    out: list[tuple[int, int]] = []
    for low, high in intersection(ranges, ASCII):
        for first, last, step in ((0x41, 0x5A, 0x20), (0x61, 0x7A, -0x20)):
            start, end = max(low, first), min(high, last)
            if start <= end:
                out.append((start + step, end + step))
        out.extend(
            (far, far)
            for letter, far in _ASCII_FOLDS_FAR.items()
            if low <= letter <= high or low <= letter - 0x20 <= high
        )
    return out


def _orbit_members(low: int, high: int) -> list[tuple[int, int]]:
    """Return the characters that the characters from `low` to `high` fold with."""
    keys, orbits = _orbits()
    folding = keys[bisect_left(keys, low) : bisect_right(keys, high)]
    return [(member, member) for key in folding for member in orbits[key]]


@cache
def _orbits() -> tuple[list[int], dict[int, tuple[int, ...]]]:
    """Return the sorted characters that fold with others, and the orbit of each of them."""
    orbits: dict[int, tuple[int, ...]] = {}
    for written in _lines()["fold", "orbits"].split():
        members = tuple(int(code, 36) for code in written.split(","))
        orbits.update(dict.fromkeys(members, members))
    return sorted(orbits), orbits


@cache
def _values(kind: str, name: str) -> Ranges:
    """Decode one line of the tables."""
    out: list[tuple[int, int]] = []
    last = 0
    for written in _lines()[kind, name].split():
        distance, _, length = written.partition("-")
        first = last + int(distance, 36)
        last = first + int(length or "0", 36)
        out.append((first, last))
    return intersection(normalised(out), UNICODE)


def _up_to_age(name: str) -> Ranges:
    """Return the characters assigned in this version or an earlier one; lines are in that order."""
    ranges: list[tuple[int, int]] = []
    for (kind, added), text in _lines().items():
        if kind == "age":
            ranges.extend(_values(kind, added))
            if text == _lines()["age", name]:
                break
    return normalised(ranges)


@cache
def _value_properties() -> dict[str, str]:
    """Return property name → kind of line, for the properties that take a value."""
    return {
        name: kind
        for kind in ("gc", "sc", "scx", "age", "gcb", "wb", "sb")
        for name in _lines()["property", kind].split()
    }


@cache
def _unsupported_names() -> frozenset[str]:
    return frozenset(name for kind, name in _lines() if kind == "names")


@cache
def _lines() -> dict[tuple[str, str], str]:
    """Return the undecoded values of each line, by its kind and each of its names."""
    out: dict[tuple[str, str], str] = {}
    for line in Path(__file__).with_name(_TABLES).read_text("ascii").splitlines():
        head, _, values = line.partition("\t")
        kind, _, names = head.partition(" ")
        out.update(((kind, name), values) for name in names.split(","))
    return out
