"""Detection of patterns that are plain text, optionally with word boundaries or case folding.

Most searches are of this kind, and need no automaton.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.query.regex.assertions import NEAR_BYTES, WORD_LOOKS, holds
from triseek.query.regex.syntax import Alternate, Assertion, Bytes, Chars, Concat, fold
from triseek.query.regex.unicode import fold as fold_case
from triseek.query.regex.unicode import fold_ascii, is_word

if TYPE_CHECKING:
    from triseek.query.regex.syntax import Node, Ranges

_ALTERNATIVES_MAX = 256


class Bounded(NamedTuple):
    """Texts between two word assertions."""

    before: Assertion
    texts: tuple[bytes, ...]
    after: Assertion


def texts_of(tree: Node) -> tuple[bytes, ...]:
    """Return the texts that the tree matches, in order of preference.

    Empty if the tree matches anything else, or if one of the texts is empty.
    """
    texts = fold(tree, _texts)
    return tuple(dict.fromkeys(texts)) if texts and all(texts) else ()


def bounded_texts_of(tree: Node) -> Bounded | None:
    """Return the texts of a tree with a word assertion on both sides; None for any other tree."""
    if not isinstance(tree, Concat) or len(tree.parts) < 3:
        return None
    before, *middle, after = tree.parts
    if not isinstance(before, Assertion) or not isinstance(after, Assertion):
        return None
    if before.kind not in WORD_LOOKS or after.kind not in WORD_LOOKS:
        return None
    texts = texts_of(Concat(tuple(middle)))
    return Bounded(before, texts, after) if texts else None


def bounds_words(bounded: Bounded) -> bool:
    """Return whether the assertions only exclude word characters next to the texts."""
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
    """Return the lower-case ASCII text if the tree matches exactly its case variants, else None.

    A `k` then also stands for the Kelvin sign and an `s` for ſ, if the tree has them (Unicode).
    """
    parts = tree.parts if isinstance(tree, Concat) else (tree,)
    out = bytearray()
    for part in parts:
        if not isinstance(part, Chars) or not part.ranges:
            return None
        high = part.ranges[0][0]  # upper case comes first; a character without case is alone
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


def find_bounded_anew(bounded: Bounded, text: bytes, at: int) -> tuple[int, int] | None:
    """Return the leftmost match of a single bounded text, as if the text began at `at`."""
    size = len(bounded.texts[0])
    span = find_bounded(bounded, text[at : at + size + NEAR_BYTES], 0)
    if span is not None and span[0] == 0:
        return at, at + size
    return find_bounded(bounded, text, at + 1)


def _any_case(ranges: Ranges, first: int) -> bool:
    """Return whether the set is an ASCII character with all its Unicode, or all ASCII, cases."""
    single = ((first, first),)
    return first <= 0x7F and ranges in (fold_case(single), fold_ascii(single))


def _word(character: str, look: Assertion) -> bool:
    return is_word(character) and (look.unicode or character.isascii())


def _texts(node: Node, below: list[tuple[bytes, ...] | None]) -> tuple[bytes, ...] | None:
    """Return all texts that a node matches; `None` if too many, or if it is not plain text."""
    if isinstance(node, Chars | Bytes):
        return _single(node)
    if isinstance(node, Alternate):
        choices = [text for texts in below if texts is not None for text in texts]
        return None if None in below or len(choices) > _ALTERNATIVES_MAX else tuple(choices)
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
