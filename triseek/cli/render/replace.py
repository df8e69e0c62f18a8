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
        names = {piece for piece in pieces if isinstance(piece, str)}
        self._captures = _captures(names, pattern.spec)
        self._pieces = [self._number(x) if isinstance(x, str) else x for x in pieces]

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
        for piece in self._pieces:
            if isinstance(piece, bytes):
                out.append(piece)
            elif 0 <= piece < len(groups) and groups[piece][0] >= 0:
                out.append(text[slice(*groups[piece])])
        return b"".join(out)

    def _number(self, name: str) -> int:
        """Return the group a reference names; -1 for one that is not there."""
        if name.isdigit() and int(name) <= _NUMBER_MAX:
            return int(name)
        return self._captures.names.get(name, -1) if self._captures else -1


def _pieces(replacement: bytes) -> list[bytes | str]:
    """Split a replacement into literal pieces and group names, in order."""
    pieces: list[bytes | str] = []
    at = 0
    for reference in REFERENCE.finditer(replacement):
        name = reference[2] or reference[3]
        pieces += [replacement[at : reference.start()], name.decode() if name else b"$"]
        at = reference.end()
    return [*pieces, replacement[at:]]


def _captures(names: set[str], spec: PatternSpec) -> Captures | None:
    """Return a matcher for groups; None if the replacement uses none but the whole match."""
    if spec.fixed or all(name.isdigit() and int(name) == 0 for name in names):
        return None
    from triseek.query.regex.captures import Captures

    return Captures(spec)
