"""Where the first n characters, as people count them, end.

`--max-columns-preview` cuts a line after so many grapheme clusters. ripgrep uses the full
segmentation of UAX #29; this keeps together what most texts need: combining marks, variation
selectors, joiners and what they join, skin tones, flags, and CR LF. What is not UTF-8 counts as
ripgrep's U+FFFD do: one for each beginning of a character that is cut off, one for each other byte.
"""

from __future__ import annotations

import codecs
import unicodedata

JOINER = "\u200d"


def prefix_length(line: bytes, count: int) -> int:
    """How many bytes the first `count` grapheme clusters of a line take."""
    if count <= 0:
        return 0
    if line[: count + 1].isascii() and b"\r" not in line[: count + 1]:
        return min(count, len(line))
    text = line.decode(errors=_SIZED)
    kept = "".join(cluster for cluster, _ in zip(clusters(text), range(count), strict=False))
    return sum(map(_size, kept))


_SIZED = "triseek-sized"
_SURROGATE = 0xDC00


def _sized(error: UnicodeError) -> tuple[str, int]:
    """Stand a lone surrogate for an invalid sequence, and keep its length in it."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return chr(_SURROGATE + error.end - error.start), error.end


codecs.register_error(_SIZED, _sized)


def _size(char: str) -> int:
    """Return how many bytes a character stands for."""
    return ord(char) - _SURROGATE if _is_invalid(char) else len(char.encode())


def _is_invalid(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def clusters(text: str) -> list[str]:
    """Take a text apart into grapheme clusters."""
    found: list[str] = []
    for char in text:
        if found and _continues(found[-1], char):
            found[-1] += char
        else:
            found.append(char)
    return found


def _continues(cluster: str, char: str) -> bool:
    if cluster == "\r":
        return char == "\n"
    if cluster[-1] < " " or char < " " or _is_invalid(cluster[-1]):
        return False
    if char == JOINER or unicodedata.category(char) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= char <= "\U0001f3ff":  # skin tones
        return True
    if cluster[-1] == JOINER and len(cluster) > 1:
        return unicodedata.category(char) == "So"
    return _flag(char) and len(cluster) == 1 and _flag(cluster)


def _flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
