"""Text from outside in Markdown: code spans, quotations and lines that it cannot end.

The texts are written into files that agents read as instructions, while names, goals, prompts and
quotes come from anywhere.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BACKTICKS = re.compile(r"`+")
_MARKUP = re.compile(r"<(?=[!?]|/?(?:pre|script|style|textarea)\b)", re.IGNORECASE)
"""Openings of HTML blocks that end only at their own closing mark."""


def quotation(text: str, line_max: int) -> Iterator[str]:
    """Yield the lines of a quotation, each of at most `line_max` bytes of text."""
    for line in text.splitlines():
        plain = "".join(char for char in line.expandtabs(4) if char.isprintable()).rstrip()
        yield f"> {tame(cut(plain, line_max))}".rstrip()


def commit(name: str | None) -> str:
    """Return the beginning of a commit's name; (none) for None."""
    return plain_words(name[:12]) if name else "(none)"


def branch(name: str | None) -> str:
    """Return a branch in a code span; (none) for None."""
    return code(name, 80) if name else "(none)"


def date(at: int) -> str:
    """Return Unix seconds as a date and time in UTC."""
    try:
        return dt.datetime.fromtimestamp(at, dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError):
        return str(at)


def plain_words(text: str) -> str:
    """Replace all characters that could mean something to Markdown."""
    return re.sub(r"[^\w .:/+-]", "?", text)


def tame(text: str) -> str:
    """Escape HTML in prose that would swallow what follows it."""
    return _MARKUP.sub("&lt;", text)


def code(text: str, most: int = 120) -> str:
    """Return a code span on one line, whatever backticks the text has."""
    blank = (" " if char.isspace() else char for char in text)
    # One character more than fits is enough for `cut` to see that the text is too long.
    shown = islice(filter(str.isprintable, blank), most + 1)
    plain = cut("".join(shown), most) or "?"
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(plain)), default=0) + 1)
    # Markdown strips a blank from both ends of a span.
    edge = " " if {plain[0], plain[-1]} & {" ", "`"} else ""
    return f"{fence}{edge}{plain}{edge}{fence}"


def one_line(text: str, most: int) -> str:
    """Return a text without line ends and control characters, of at most `most` bytes."""
    return cut("".join(char for char in " ".join(text.split()) if char.isprintable()), most)


def cut(plain: str, most: int) -> str:
    """Cut a text to at most `most` bytes, between characters as people count them.

    A mark is kept or cut with its letter.
    """
    if len(plain.encode()) <= most:
        return plain
    kept = plain.encode()[: max(0, most - 3)].decode("utf-8", "ignore")
    end = len(kept)
    while 0 < end < len(plain) and _belongs(plain[end]):
        end -= 1
    return plain[:end] + "…" if most >= len("…".encode()) else ""


def _belongs(char: str) -> bool:
    """Whether a character belongs to the one before it: an accent, the colour of an emoji."""
    return unicodedata.category(char).startswith("M") or 0x1F3FB <= ord(char) <= 0x1F3FF
