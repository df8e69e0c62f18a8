"""One block of ours in a file of somebody else's, such as AGENTS.md; the rest stays as it is.

The block stands between two comments. Where there is one already it is replaced in place; else it
is put at the end. What is outside of it keeps every byte, whatever its encoding or line ends.
"""

from __future__ import annotations

import codecs
import re

from triseek.errors import InvalidRequest

BEGIN = b"<!-- TRISEEK:BEGIN hydration: replaced by `triseek resume`, edits are lost -->"
END = b"<!-- TRISEEK:END hydration -->"

_BEGIN = re.compile(rb"<!-- TRISEEK:BEGIN hydration\b[^\n]*?-->")
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
    if text and not text.endswith(b"\n"):
        ours = newline + ours
    return text + (newline if text else b"") + ours + newline


def outside(text: bytes) -> bytes:
    """What a file holds besides our block.

    Raises:
        InvalidRequest: It has our marks, but not as one block.
    """
    begin, end = _place(text)
    return text if begin is None else text[:begin] + text[end:]


def _place(text: bytes) -> tuple[int | None, int]:
    """Where the block begins and ends; None where there is none."""
    begins, ends = list(_BEGIN.finditer(text)), text.count(END)
    if not begins and not ends:
        return None, 0
    end = text.find(END)
    if len(begins) != 1 or ends != 1 or end < begins[0].end():
        raise InvalidRequest(
            "the file has marks of triseek, but not one whole block",
            next_step="Remove the lines with `TRISEEK:BEGIN` and `TRISEEK:END`, and what is "
            "between them, and try again.",
        )
    return begins[0].start(), end + len(END)
