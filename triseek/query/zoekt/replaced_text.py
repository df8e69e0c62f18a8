"""Texts that are not UTF-8 as Go's regular expressions read them: each wrong byte is U+FFFD."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import NamedTuple

from triseek.model import budget

_WRONG = re.compile("[\udc80-\udcff]")
_REPLACEMENT = "\ufffd".encode()
_ADDED = len(_REPLACEMENT) - 1
_CHECK_EVERY = 1 << 12


class ReplacedText(NamedTuple):
    """A text in which each wrong byte is replaced by U+FFFD."""

    data: bytes
    starts: list[int]
    """Ascending offsets in `data` of the characters that replace bytes."""

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """Return the span in the original text of a span of characters."""
        begin, end = span
        return begin - self._added_before(begin), end - self._added_before(end)

    def _added_before(self, offset: int) -> int:
        return _ADDED * bisect_left(self.starts, offset)


def replaced_text(text: bytes) -> ReplacedText | None:
    """Return a text with its wrong bytes replaced; None if it is UTF-8.

    Raises:
        OutOfTime: As `model.budget.check`.
    """
    try:
        text.decode()
    except UnicodeDecodeError:
        decoded = text.decode("utf-8", "surrogateescape")
    else:
        return None
    pieces: list[bytes] = []
    starts: list[int] = []
    last = size = 0
    for match in _WRONG.finditer(decoded):
        piece = decoded[last : match.start()].encode()
        size += len(piece)
        starts.append(size)
        pieces += (piece, _REPLACEMENT)
        size += len(_REPLACEMENT)
        last = match.end()
        if not len(starts) % _CHECK_EVERY:
            budget.check()
    pieces.append(decoded[last:].encode())
    return ReplacedText(b"".join(pieces), starts)
