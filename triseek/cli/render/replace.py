"""`-r`: replace matches in the output, with `$1` and `$name` for groups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triseek.engine.search.backends.spanning import located

if TYPE_CHECKING:
    from triseek.engine.search.backends.spanning import SpanWindow
    from triseek.model.search import PatternSpec
    from triseek.query.pattern import Pattern
    from triseek.query.regex.captures import Captures

REFERENCE = re.compile(rb"\$(?:(\$)|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})")
"""`$$`, `$name` or `${name}`; the name is the longest run of letters, digits and `_`."""
_NUMBER_MAX = 2**32 - 1
"""A larger number is a name, as in ripgrep."""


class Replacer:
    """Replaces the matches of one pattern."""

    def __init__(self, replacement: bytes, pattern: Pattern) -> None:
        self._pattern = pattern
        pieces = _pieces(replacement)
        names = {name for _, name in pieces if name is not None}
        self._captures = _captures(names, pattern.spec)
        self._pieces = [(text, self._number(name)) for text, name in pieces]

    def replaced(
        self, seen: SpanWindow, spans: list[tuple[int, int]] | None = None
    ) -> tuple[bytes, list[tuple[int, int]]]:
        """Return a row with each match replaced, and where the replacements are in it.

        seen: The row, without its line end unless matches may span lines.
        spans: The matches in the row, if they are known and none ends behind it.
        """
        text, first = seen.text, seen.first
        output, places, at = bytearray(), [], first
        for begin, end in located(seen, self._pattern) if spans is None else spans:
            begin, end = begin + first, end + first
            output += text[at:begin]
            start = len(output)
            output += self._expanded(text, begin, end)
            places.append((start, len(output)))
            at = end
        row_end = first + seen.size
        # If a match ends behind its row, ripgrep prints all of the text it has seen.
        output += text[at : len(text) if at > row_end else row_end]
        return bytes(output), places

    def _expanded(self, text: bytes, begin: int, end: int) -> bytes:
        groups = [(begin, end)]
        if self._captures is not None:
            groups = self._captures.groups(text, begin, end)
        out = []
        for piece, number in self._pieces:
            if number is None:
                out.append(piece)
            elif 0 <= number < len(groups) and groups[number][0] >= 0:
                out.append(text[slice(*groups[number])])
        return b"".join(out)

    def _number(self, name: str | None) -> int | None:
        """Return the group a reference names; None for text, -1 for a group that is not there."""
        if name is None:
            return None
        if name.isdigit() and int(name) <= _NUMBER_MAX:
            return int(name)
        return self._captures.names.get(name, -1) if self._captures else -1


def _pieces(replacement: bytes) -> list[tuple[bytes, str | None]]:
    """Split a replacement into literal pieces and group names, in order."""
    pieces: list[tuple[bytes, str | None]] = []
    at = 0
    for reference in REFERENCE.finditer(replacement):
        pieces.append((replacement[at : reference.start()], None))
        if reference[1]:
            pieces.append((b"$", None))
        else:
            pieces.append((b"", (reference[2] or reference[3]).decode()))
        at = reference.end()
    return [*pieces, (replacement[at:], None)]


def _captures(names: set[str], spec: PatternSpec) -> Captures | None:
    """Return a matcher for groups; None if the replacement uses none but the whole match."""
    if spec.fixed or all(name.isdigit() and int(name) == 0 for name in names):
        return None
    from triseek.query.regex.captures import Captures

    return Captures(spec)
