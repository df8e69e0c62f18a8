"""One block of ours in a file of somebody else's, such as AGENTS.md; the rest stays as it is.

The block stands between two comments, each alone on its line. Where there is one already it is
replaced in place; else it is put at the end. What is outside of it keeps every byte, whatever its
encoding or line ends. Comments that somebody quotes, in a sentence or in a fenced piece of code,
are text like any other.
"""

from __future__ import annotations

import bisect
import codecs
import re
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BEGIN = b"<!-- TRISEEK:BEGIN hydration: replaced by `triseek resume`, edits are lost -->"
END = b"<!-- TRISEEK:END hydration -->"

_BEGIN = re.compile(rb"<!-- TRISEEK:BEGIN hydration\b(?:(?!-->)[^\n])*-->")
_LINE = re.compile(
    rb"^(?:\xef\xbb\xbf)?[ \t]*(<!-- TRISEEK:(?:BEGIN|END) hydration\b[^\n]*)", re.MULTILINE
)
"""A line that begins with one of our marks; a byte order mark may stand before it."""
_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_MARK = re.compile(rb"<!-- TRISEEK:(?=(?:BEGIN|END) hydration)")


def put(text: bytes, block: str) -> bytes:
    """The file's content with this block in it, once.

    Raises:
        InvalidRequest: It has our marks, but not as one block, or it is UTF-16: somebody has to
            look at it.
    """
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InvalidRequest("the file is UTF-16", next_step="Save it as UTF-8, or use --print.")
    begin, end = _place(text)
    newline = b"\r\n" if b"\r\n" in text else b"\n"
    body = _MARK.sub(b"<!-- triseek:", block.strip("\n").encode("utf-8", "replace"))
    ours = newline.join((BEGIN, *body.splitlines(), END))
    if begin is not None:
        return text[:begin] + ours + text[end:]
    if text and not text.endswith((b"\n", b"\r")):
        ours = newline + ours
    # With the end of an old Mac's line, a new line of ours would be one of Windows.
    blank = b"\r" if text.endswith(b"\r") else newline
    return text + (blank if text else b"") + ours + newline


def outside(text: bytes) -> bytes:
    """What a file holds besides our block.

    Raises:
        InvalidRequest: It has our marks, but not as one block.
    """
    begin, end = _place(text)
    return text if begin is None else text[:begin] + text[end:]


def _place(text: bytes) -> tuple[int | None, int]:
    """Where the block begins and ends; None where there is none."""
    text = text.replace(b"\r", b"\n")  # in the same places: a lone one ends lines too
    marks = list(_LINE.finditer(text))
    if not marks:
        return None, 0
    # A fence that nobody closed has our block in it too: then all marks count.
    quoted = list(_fenced(text))
    plain = [mark for mark in marks if not _is_within(mark.start(), quoted)]
    if not plain:
        return None, 0
    place = _whole(plain) or _whole(marks)
    if place is None:
        raise InvalidRequest(
            "the file has marks of triseek, but not one whole block",
            next_step="Remove the lines with `TRISEEK:BEGIN` and `TRISEEK:END`, and what is "
            "between them, and try again.",
        )
    return place


def _whole(marks: Sequence[re.Match[bytes]]) -> tuple[int, int] | None:
    """The one block that marks stand for, if they do."""
    if len(marks) != 2:
        return None
    begin, end = marks
    if _BEGIN.fullmatch(begin[1].rstrip()) is None or end[1].rstrip() != END:
        return None
    return begin.start(1), end.start(1) + len(END)


def _is_within(place: int, pieces: Sequence[tuple[int, int]]) -> bool:
    after = bisect.bisect(pieces, (place,))
    return after > 0 and place < pieces[after - 1][1]


def _fenced(text: bytes) -> Iterator[tuple[int, int]]:
    """Pieces of code between fences, as Markdown has them, as far as they are closed."""
    opened: re.Match[bytes] | None = None
    for fence in _FENCE.finditer(text):
        ticks, more = fence[1], fence[2].strip()
        if opened is None:
            if not (ticks[:1] == b"`" and b"`" in more):
                opened = fence
        elif ticks[:1] == opened[1][:1] and len(ticks) >= len(opened[1]) and not more:
            yield opened.start(), fence.end()
            opened = None
