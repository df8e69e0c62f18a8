"""Write a pattern as a regular expression of Go (RE2) that matches at least what it matches.

Zoekt searches with Go's dialect, and sees a text differently from ripgrep: byte order marks are
part of it, bytes that are not UTF-8 are U+FFFD, lines are not searched one by one. What Go cannot
say, or says of other texts, is left out or widened. So the expression says which files may match,
and never leaves one out; which lines match is decided where the pattern itself is searched.
"""

from __future__ import annotations

import math
import string
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from triseek.query.regex.syntax import (
    Alternate,
    Assertion,
    Bytes,
    Chars,
    Concat,
    Empty,
    Repeat,
    fold,
)

if TYPE_CHECKING:
    from triseek.query.regex.syntax import Node, Ranges

REPEAT_MAX = 500
"""Most copies of a part that repetitions, multiplied, make; Go refuses more than 1,000."""
SIZE_MAX = 64 << 10
"""Characters of an expression. A longer one takes Go longer than reading the files."""
_ASCII_MAX = 0x7F
_NOT_ASCII = r"\x80-\x{10FFFF}"
_NO_LITERAL = r"\x{0}?"
"""Go reads `[Oo][Oo]` as a literal in any case, and of a query that is a literal as a whole Zoekt
forgets the case. With this at its end, it is no literal."""
TEXTS_MAX = 64
NGRAM = 3
"""Characters of the least text that Zoekt's index finds."""
_OTHERS = frozenset("\u017f\u212a")
"""Cases of s and k that are not ASCII."""
_NEVER = r"[^\x00-\x{10FFFF}]"
_LOOKS = {
    "line_start": r"(?m:^)\x{FEFF}?",  # a byte order mark precedes the text that is searched
    "text_start": r"(?m:^)\x{FEFF}?",
    "line_end": r"(?m:$)",
    "text_end": r"(?m:$)",
}
"""The assertions that are kept. Go's words are ASCII's, and it does not know CR LF."""


class _Part(NamedTuple):
    text: str
    is_empty_too: bool
    """Whether it matches the empty text."""
    copies: int = 1
    """Most copies of one of its parts."""


def wider(tree: Node) -> str:
    """Return an expression that matches wherever `tree` matches; "" if that is everywhere.

    tree: the syntax tree of a pattern (`query.pattern.Pattern.tree`).
    """
    part = fold(tree, _part)
    if part.is_empty_too or len(part.text) > SIZE_MAX:
        return ""
    return part.text + _NO_LITERAL if "[" in part.text else part.text


def in_any_case(tree: Node) -> tuple[str, ...]:
    """Return texts of which one occurs, in any case, wherever `tree` matches; none if not known.

    Zoekt finds them by its index, and an expression of classes by reading everything. Case is that
    of Go's `unicode.ToLower`, which leaves U+017F, a case of s, as it is.
    """
    texts = fold(tree, _texts)
    return () if texts is None or any(len(text) < NGRAM for text in texts) else tuple(texts)


def _texts(node: Node, below: list[list[str] | None]) -> list[str] | None:
    if isinstance(node, Chars):
        return _variants(node.ranges)
    if isinstance(node, Assertion | Empty):
        return [""]
    parts = [texts for texts in below if texts is not None]
    if not isinstance(node, Alternate | Concat) or len(parts) < len(below):
        return None
    if isinstance(node, Alternate):
        texts = [text for part in parts for text in part]
        return texts if len(texts) <= TEXTS_MAX else None
    if math.prod(map(len, parts)) > TEXTS_MAX:
        return None
    return list(map("".join, product(*parts)))


def _variants(ranges: Ranges) -> list[str] | None:
    """Return the characters of a class, of an ASCII letter one case; None for other classes."""
    if sum(high - low + 1 for low, high in ranges) > 3:
        return None
    chars = {chr(point) for low, high in ranges for point in range(low, high + 1)}
    if len(chars) == 1:
        return list(chars)
    others = {char for char in chars if not char.isascii()}
    letters = {char.lower() for char in chars - others}
    if len(letters) != 1 or not letters < set(string.ascii_lowercase) or not others <= _OTHERS:
        return None
    return sorted(letters | (others - {"\u212a"}))


def literal(text: str) -> str:
    """Return an expression that matches a text. It has no blank, quote or parenthesis."""
    return "".join(map(_char, map(ord, text)))


def _part(node: Node, below: list[_Part]) -> _Part:
    if isinstance(node, Chars):
        return _Part(_class(node.ranges), is_empty_too=False)
    if isinstance(node, Bytes):
        return _of_bytes(node.ranges)
    if isinstance(node, Assertion):
        return _Part(_LOOKS.get(node.kind, ""), is_empty_too=True)
    if isinstance(node, Repeat):
        return _repeated(node, below[0])
    copies = max((part.copies for part in below), default=1)
    if isinstance(node, Alternate):
        text = "(?:" + "|".join(part.text for part in below) + ")"
        return _Part(text, any(part.is_empty_too for part in below), copies)
    if isinstance(node, Concat):
        text = "".join(part.text for part in below)
        return _Part(text, all(part.is_empty_too for part in below), copies)
    return below[0] if below else _Part("", is_empty_too=True)


def _repeated(node: Repeat[Node], part: _Part) -> _Part:
    most = max(node.low, node.high or 0)
    is_empty_too = node.low == 0 or part.is_empty_too
    if (most == 0 and node.high == 0) or not part.text:
        return _Part("", is_empty_too=True)
    copies = part.copies * max(most, 1)
    if (node.low, node.high) == (0, 1):
        sign = "?"
    elif most <= 1 or copies > REPEAT_MAX:
        sign, copies = "+" if node.low else "*", part.copies
    else:
        sign = f"{{{node.low},{'' if node.high is None else node.high}}}"
    return _Part(f"(?:{part.text}){sign}", is_empty_too, copies)


def _class(ranges: Ranges) -> str:
    """Return an expression for one character.

    Of several characters that are not ASCII, all such are taken: Go and Zoekt fold other cases of
    them, and a byte that is not UTF-8 is one of them.
    """
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _char(ranges[0][0])
    parts = [
        _char(low) if low == high else f"{_char(low)}-{_char(high)}"
        for low, high in ((low, min(high, _ASCII_MAX)) for low, high in ranges)
        if low <= high
    ]
    if ranges and ranges[-1][1] > _ASCII_MAX:
        parts.append(_NOT_ASCII)
    return f"[{''.join(parts)}]" if parts else _NEVER


def _of_bytes(ranges: Ranges) -> _Part:
    if not ranges or ranges[-1][1] <= _ASCII_MAX:
        return _Part(_class(ranges), is_empty_too=False)
    ascii_part = tuple((low, min(high, _ASCII_MAX)) for low, high in ranges if low <= _ASCII_MAX)
    # Several such bytes may be one character, and with others around them, none.
    return _Part(f"{_class((*ascii_part, (0x80, 0x10FFFF)))}*", is_empty_too=True)


def _char(point: int) -> str:
    char = chr(point)
    return char if char.isascii() and char.isalnum() else f"\\x{{{point:X}}}"
