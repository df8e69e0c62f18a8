r"""Exact evaluation of assertions between two bytes of a text.

These are Rust's rules (crate regex-automata, module `look`), which decode the character on either
side as UTF-8. If decoding fails, `\b` treats the neighbour as a non-word character; `\B` and the
two half boundaries do not hold at all, so that no match splits the encoding of a character.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from triseek.query.regex.unicode import is_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.query.regex.syntax import Assertion, LookKind

EDGE, WORD, OTHER, BROKEN = range(4)
"""What is on one side: nothing, a word character, another character, invalid UTF-8."""

NEAR_BYTES = 8
"""Bytes this far after a position affect no assertion there or at the next three positions."""

_SIDES = 4
_ASCII_SIDES = bytes(
    (WORD if chr(b).isalnum() or b == 0x5F else OTHER) if b < 0x80 else BROKEN for b in range(256)
)
_LF, _CR = 0x0A, 0x0D

WORD_LOOKS: dict[LookKind, Callable[[int, int], bool]] = {
    "word": lambda before, after: (before == WORD) != (after == WORD),
    "not_word": lambda before, after: (
        BROKEN not in (before, after) and (before == WORD) == (after == WORD)
    ),
    "word_start": lambda before, after: before != WORD and after == WORD,
    "word_end": lambda before, after: before == WORD and after != WORD,
    "word_start_half": lambda before, _: before not in (WORD, BROKEN),
    "word_end_half": lambda _, after: after not in (WORD, BROKEN),
}
"""Word assertion → whether it holds, given what is before and after the position."""


def holds(look: Assertion, text: bytes, at: int) -> bool:
    """Return whether `look` holds before byte `at` of `text`."""
    rule = WORD_LOOKS.get(look.kind)
    if rule is None:
        return _ANCHORS[look.kind](text, at)
    if look.unicode:
        return rule(_before(text, at), _after(text, at))
    before = _as_ascii(text[at - 1]) if at else EDGE
    return rule(before, _as_ascii(text[at]) if at < len(text) else EDGE)


def satisfied(looks: tuple[Assertion, ...], text: bytes) -> Sequence[int]:
    """Return, for every position of `text` and its end, a bit mask of the `looks` that hold."""
    masks = [0] * (len(text) + 1)
    for bit, look in enumerate(looks):
        if look.kind in WORD_LOOKS:
            table = _table(look.kind, 1 << bit)
            sides = _sides(text, unicode=look.unicode)
            masks = [mask | table[pair] for mask, pair in zip(masks, sides, strict=True)]
        else:
            rule = _ANCHORS[look.kind]
            for at in _candidates(text):
                if rule(text, at):
                    masks[at] |= 1 << bit
    return masks


def satisfied_anew(looks: tuple[Assertion, ...], text: bytes, at: int) -> Sequence[int]:
    """Return `satisfied` for the first positions from `at` on, as if the text began at `at`.

    The masks of all later positions are the same as in the whole text.
    """
    return satisfied(looks, text[at : at + NEAR_BYTES])[: min(4, len(text) - at + 1)]


@lru_cache(maxsize=256)
def _table(kind: LookKind, bit: int) -> tuple[int, ...]:
    rule = WORD_LOOKS[kind]
    return tuple(
        bit if rule(before, after) else 0 for before in range(_SIDES) for after in range(_SIDES)
    )


def _sides(text: bytes, *, unicode: bool) -> list[int]:
    """Return `before * 4 + after` for every position."""
    single = bytearray(text.translate(_ASCII_SIDES))
    if not unicode:
        single = single.replace(bytes((BROKEN,)), bytes((OTHER,)))
    before, after = bytearray((EDGE,)) + single, single + bytearray((EDGE,))
    if unicode and not text.isascii():
        for at, byte in enumerate(text):
            if byte >= 0x80:
                after[at] = _after(text, at)
                before[at + 1] = _before(text, at + 1)
    return [_SIDES * first + second for first, second in zip(before, after, strict=True)]


def _after(text: bytes, at: int) -> int:
    """Return the kind of the character that starts at `at`."""
    if at >= len(text):
        return EDGE
    if text[at] < 0x80:
        return _ASCII_SIDES[text[at]]
    return _decoded(text[at : at + _length(text[at])])


def _before(text: bytes, at: int) -> int:
    """Return the kind of the character that ends at `at`.

    Like Rust's `decode_last`, this steps back over continuation bytes and decodes from there. As in
    Rust, the decoded character may end before `at`.
    """
    if at == 0:
        return EDGE
    start = at - 1
    while start > max(at - 4, 0) and text[start] & 0xC0 == 0x80:
        start -= 1
    if text[start] < 0x80:
        return _ASCII_SIDES[text[start]]
    length = _length(text[start])
    return _decoded(text[start : start + length]) if start + length <= at else BROKEN


def _length(lead: int) -> int:
    """Return the length of a character that starts with this byte; 1 if no character does."""
    return 2 if 0xC0 <= lead < 0xE0 else 3 if 0xE0 <= lead < 0xF0 else 4 if lead >= 0xF0 else 1


@lru_cache(maxsize=4096)
def _decoded(spelling: bytes) -> int:
    try:
        return WORD if is_word(spelling.decode()) else OTHER
    except UnicodeDecodeError:
        return BROKEN


def _as_ascii(byte: int) -> int:
    side = _ASCII_SIDES[byte]
    return OTHER if side == BROKEN else side


def _candidates(text: bytes) -> list[int]:
    """Return the positions where an anchor may hold: both ends, and around line ends."""
    positions = {0, len(text)}
    for end in (b"\n", b"\r"):
        at = text.find(end)
        while at >= 0:
            positions.update((at, at + 1))
            at = text.find(end, at + 1)
    return sorted(positions)


def _line_start_crlf(text: bytes, at: int) -> bool:
    if at == 0 or text[at - 1] == _LF:
        return True
    return text[at - 1] == _CR and (at == len(text) or text[at] != _LF)


def _line_end_crlf(text: bytes, at: int) -> bool:
    if at == len(text) or text[at] == _CR:
        return True
    return text[at] == _LF and (at == 0 or text[at - 1] != _CR)


_ANCHORS: dict[LookKind, Callable[[bytes, int], bool]] = {
    "line_start": lambda text, at: at == 0 or text[at - 1] == _LF,
    "line_end": lambda text, at: at == len(text) or text[at] == _LF,
    "line_start_crlf": _line_start_crlf,
    "line_end_crlf": _line_end_crlf,
    "text_start": lambda _, at: at == 0,
    "text_end": lambda text, at: at == len(text),
}
