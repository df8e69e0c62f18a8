"""A block of ours in a file of somebody else's, such as AGENTS.md; the rest is unchanged.

The block is between two comments, each alone on its line. An existing block is replaced in place;
else the block is appended. Everything outside it keeps its bytes, whatever its encoding or line
ends. Comments that are quoted, in a sentence or in a fenced code block, are treated as plain text.
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
"""A line that begins with one of our marks; a byte order mark may precede it."""
_FENCE = re.compile(rb"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_MARK = re.compile(rb"<!-- TRISEEK:(?=(?:BEGIN|END) hydration)")


def put(text: bytes, block: str) -> bytes:
    """Return the file's content with this block in it, once.

    Raises:
        InvalidRequest: It has our marks, but not as one block, or it is UTF-16: the person has
            to edit it.
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
    # After a lone CR (old Mac line end), our LF would make a Windows line end.
    blank = b"\r" if text.endswith(b"\r") else newline
    return text + (blank if text else b"") + ours + newline


def outside(text: bytes) -> bytes:
    """Return a file's content without our block.

    Raises:
        InvalidRequest: It has our marks, but not as one block.
    """
    begin, end = _place(text)
    return text if begin is None else text[:begin] + text[end:]


def _place(text: bytes) -> tuple[int | None, int]:
    """Return where the block begins and ends; None and 0 if there is none."""
    text = text.replace(b"\r", b"\n")  # offsets stay the same; a lone CR ends lines too
    marks = list(_LINE.finditer(text))
    if not marks:
        return None, 0
    # An unclosed fence contains our block too: then all marks count.
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
    """Return the range of the block if the marks are exactly one begin and one end; else None."""
    if len(marks) != 2:
        return None
    begin, end = marks
    if _BEGIN.fullmatch(begin[1].rstrip()) is None or end[1].rstrip() != END:
        return None
    return begin.start(1), end.start(1) + len(END)


def _is_within(place: int, ranges: Sequence[tuple[int, int]]) -> bool:
    after = bisect.bisect(ranges, (place,))
    return after > 0 and place < ranges[after - 1][1]


def _fenced(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the ranges of Markdown's fenced code blocks that are closed."""
    opened: re.Match[bytes] | None = None
    for fence in _FENCE.finditer(text):
        ticks, info = fence[1], fence[2].strip()
        if opened is None:
            if not (ticks[:1] == b"`" and b"`" in info):
                opened = fence
        elif ticks[:1] == opened[1][:1] and len(ticks) >= len(opened[1]) and not info:
            yield opened.start(), fence.end()
            opened = None
