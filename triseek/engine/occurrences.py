"""Where words begin in text, be it prose or names in code; in bytes, which is quick."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.words import ENDINGS

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOSE = 0.25
"""What a longer word that only begins alike is worth: `port` in `portable`."""
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_FORMS = frozenset(ending.encode() for ending in (*ENDINGS, "", "or", "ors", "al", "able", "ings"))
_TAIL_MAX = 8


class Occurrence(NamedTuple):
    """A word found."""

    at: int
    """Where it begins; bytes."""
    worth: float
    """1 for a form of the word, else `LOOSE`."""


def occurrences(text: bytes, lower: bytes, stem: bytes, most: int) -> Iterator[Occurrence]:
    """Yield where words begin with a stem, at most so many.

    A word begins where no letter is before it, at a camel hump (`getCookie`), and after the
    capitals of an abbreviation (`HTTPServer`).

    text, lower: the same text, as it is and in lower case.
    """
    at = lower.find(stem)
    while at >= 0 and most:
        if _begins(text, lower, at):
            most -= 1
            yield Occurrence(at, _worth(text, lower, at + len(stem)))
        at = lower.find(stem, at + len(stem))


def _begins(text: bytes, lower: bytes, at: int) -> bool:
    if at == 0 or lower[at - 1] not in _LETTERS:
        return True
    if text[at] not in _UPPER:
        return False
    following = text[at + 1 : at + 2]
    return text[at - 1] not in _UPPER or (following.islower() and following.isalpha())


def _worth(text: bytes, lower: bytes, end: int) -> float:
    """What a word is worth whose stem ends here: whether the rest of it is an ending."""
    stop, capital = end, text[end - 1] in _UPPER
    last = min(len(lower), end + _TAIL_MAX)
    while stop < last and lower[stop] in _LETTERS and (capital or text[stop] not in _UPPER):
        stop += 1
    return 1.0 if lower[end:stop] in _FORMS else LOOSE
