"""Where the first n characters, as people count them, end.

`--max-columns-preview` cuts a line after so many grapheme clusters. ripgrep uses the full
segmentation of UAX #29; this keeps together what most texts need: combining marks, variation
selectors, joiners and what they join, skin tones, flags, and CR LF. Each byte that is not
UTF-8 counts as one.
"""

from __future__ import annotations

import unicodedata

JOINER = "\u200d"


def prefix_length(line: bytes, count: int) -> int:
    """How many bytes the first `count` grapheme clusters of a line take."""
    if count <= 0:
        return 0
    if line[: count + 1].isascii() and b"\r" not in line[: count + 1]:
        return min(count, len(line))
    text = line.decode(errors="surrogateescape")
    kept = "".join(cluster for cluster, _ in zip(clusters(text), range(count), strict=False))
    return len(kept.encode(errors="surrogateescape"))


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
    if cluster[-1] < " " or char < " ":
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
