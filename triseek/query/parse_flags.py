"""The flags a pattern can set for itself: `(?i)`, `(?s-m:…)`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.query.parse_cursor import END

if TYPE_CHECKING:
    from triseek.query.parse_cursor import Cursor


@dataclass(frozen=True, slots=True)
class Flags:
    """How the characters that follow are read."""

    ignore_case: bool = False
    multi_line: bool = True
    dot_all: bool = False
    swap_greed: bool = False
    unicode: bool = True
    crlf: bool = False
    ignore_space: bool = False


_NAMES = {
    "i": "ignore_case",
    "m": "multi_line",
    "s": "dot_all",
    "U": "swap_greed",
    "u": "unicode",
    "R": "crlf",
    "x": "ignore_space",
}


def parse_flags(cursor: Cursor, flags: Flags) -> tuple[Flags, bool]:
    """Read `flags` up to the `:` or `)` that ends them, which stays.

    Returns:
        The flags as changed, and whether anything stood there at all.
    """
    seen: set[str] = set()
    while cursor.here not in (":", ")"):
        letter = cursor.here
        if letter == END:
            raise cursor.error("these flags do not end; `)` or `:` is missing")
        if letter in seen:
            raise cursor.error(f"`{letter}` stands twice among these flags")
        if letter != "-" and letter not in _NAMES:
            raise cursor.error(f"unknown flag {letter!r}; there are i, m, s, R, U, u and x")
        if letter != "-":
            flags = replace(flags, **{_NAMES[letter]: "-" not in seen})
        seen.add(letter)
        cursor.bump()
    if seen and cursor.text[cursor.at - 1] == "-":
        raise cursor.error("`-` turns off nothing", cursor.at - 1)
    return flags, bool(seen)
