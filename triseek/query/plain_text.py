"""Patterns that are no more than text, with or without word boundaries or case around it.

Such patterns are most of what is searched for, and need no automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.query.fold import fold
from triseek.query.looks import WORD_LOOKS, holds
from triseek.query.syntax import Alternate, Bytes, Chars, Concat, Look
from triseek.query.unicode import fold as fold_case
from triseek.query.unicode import fold_ascii, is_word

if TYPE_CHECKING:
    from triseek.query.syntax import Node, Ranges

_ALTERNATIVES_MAX = 256


class Bounded(NamedTuple):
    """Texts between two assertions about words."""

    before: Look
    texts: tuple[bytes, ...]
    after: Look


def texts_of(tree: Node) -> tuple[bytes, ...]:
    """Return the texts of which the tree matches any, in order of preference.

    Empty if the tree is not just that, or if one of them is empty.
    """
    found = fold(tree, _texts)
    return tuple(dict.fromkeys(found)) if found and all(found) else ()


def bounded_texts_of(tree: Node) -> Bounded | None:
    """Return the same for texts with an assertion about words on both sides."""
    if not isinstance(tree, Concat) or len(tree.parts) < 3:
        return None
    before, *middle, after = tree.parts
    if not isinstance(before, Look) or not isinstance(after, Look):
        return None
    if before.kind not in WORD_LOOKS or after.kind not in WORD_LOOKS:
        return None
    texts = texts_of(Concat(tuple(middle)))
    return Bounded(before, texts, after) if texts else None


def bounds_words(bounded: Bounded) -> bool:
    """Return whether the assertions just keep word characters away from the texts."""
    before, after = bounded.before.kind, bounded.after.kind
    for text in bounded.texts:
        try:
            shown = text.decode()
        except UnicodeDecodeError:
            return False
        starts = before == "word_start_half" or (
            before in ("word", "word_start") and _word(shown[0], bounded.before)
        )
        ends = after == "word_end_half" or (
            after in ("word", "word_end") and _word(shown[-1], bounded.after)
        )
        if not (starts and ends):
            return False
    return True


def folded_text_of(tree: Node) -> bytes | None:
    """Return the lower-case ASCII text whose case variants, and nothing else, the tree matches.

    A `k` then also stands for the Kelvin sign and an `s` for ſ, if the tree has them (Unicode).
    """
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    out = bytearray()
    for part in parts:
        if not isinstance(part, Chars) or not part.ranges:
            return None
        high = part.ranges[0][0]  # upper case comes first; what has no case stands alone
        if not _any_case(part.ranges, high):
            return None
        out += bytes((high,)).lower()
    return bytes(out) if any(97 <= byte <= 122 for byte in out) else None


def find_bounded(bounded: Bounded, text: bytes, at: int) -> tuple[int, int] | None:
    """Return the leftmost match of a single bounded text."""
    needle = bounded.texts[0]
    start = text.find(needle, at)
    while start >= 0:
        end = start + len(needle)
        if holds(bounded.before, text, start) and holds(bounded.after, text, end):
            return start, end
        start = text.find(needle, start + 1)
    return None


def _any_case(ranges: Ranges, first: int) -> bool:
    """Return whether the set is an ASCII character with all its cases, Unicode's or ASCII's."""
    single = ((first, first),)
    return first <= 0x7F and ranges in (fold_case(single), fold_ascii(single))


def _word(character: str, look: Look) -> bool:
    return is_word(character) and (look.unicode or character.isascii())


def _texts(node: Node, below: list[tuple[bytes, ...] | None]) -> tuple[bytes, ...] | None:
    """Return all texts a node matches, `None` for too many or for anything but text."""
    if isinstance(node, Chars | Bytes):
        return _single(node)
    if isinstance(node, Alternate):
        found = [text for texts in below if texts is not None for text in texts]
        return None if None in below or len(found) > _ALTERNATIVES_MAX else tuple(found)
    if isinstance(node, Concat) and None not in below:
        return _products([texts for texts in below if texts is not None])
    return None


def _single(node: Chars | Bytes) -> tuple[bytes, ...] | None:
    if len(node.ranges) != 1 or node.ranges[0][0] != node.ranges[0][1]:
        return None
    code = node.ranges[0][0]
    return (bytes((code,)) if isinstance(node, Bytes) else chr(code).encode(),)


def _products(parts: list[tuple[bytes, ...]]) -> tuple[bytes, ...] | None:
    out: tuple[bytes, ...] = (b"",)
    for texts in parts:
        if len(out) * len(texts) > _ALTERNATIVES_MAX:
            return None
        out = tuple(first + second for first in out for second in texts)
    return out
