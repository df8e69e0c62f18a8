"""Cut long lines: to a window around a match on a terminal, to grapheme clusters for a preview.

`--max-columns-preview` cuts a line after so many grapheme clusters. ripgrep uses the full
segmentation of UAX #29; this module keeps together what most texts need: combining marks, variation
selectors, joiners and what they join, skin tones, flags, and CR LF. Invalid UTF-8 counts as
ripgrep's U+FFFD do: one for each truncated beginning of a character, one for each other byte.
"""

from __future__ import annotations

import codecs
import unicodedata

Span = tuple[int, int]
MARK = "…".encode()
JOINER = "\u200d"


def prefix_length(line: bytes, count: int) -> int:
    """Return how many bytes the first `count` grapheme clusters of a line take."""
    if count <= 0:
        return 0
    if line[: count + 1].isascii() and b"\r" not in line[: count + 1]:
        return min(count, len(line))
    text = line.decode(errors=_SIZED)
    prefix = "".join(cluster for cluster, _ in zip(clusters(text), range(count), strict=False))
    return sum(map(_size, prefix))


_SIZED = "triseek-sized"
_SURROGATE = 0xDC00


def _sized(error: UnicodeError) -> tuple[str, int]:
    """Decode an invalid sequence to a lone surrogate that encodes the sequence's length."""
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
    """Split a text into grapheme clusters."""
    parts: list[str] = []
    for char in text:
        if parts and _continues(parts[-1], char):
            parts[-1] += char
        else:
            parts.append(char)
    return parts


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


def clipped(line: bytes, spans: list[Span], most: int) -> tuple[bytes, list[Span]]:
    """Return at most `most` bytes of a line with marks at the cuts, and the spans in the result."""
    bare = line.rstrip(b"\r\n")
    if len(bare) <= most:
        return line, spans
    first = spans[0][0] if spans else 0
    begin = max(0, min(first - most // 4, len(bare) - most))
    begin, end = _whole(bare, begin), _whole(bare, begin + most)
    lead, tail = MARK if begin else b"", MARK if end < len(bare) else b""
    shown = [
        (max(start, begin) - begin + len(lead), min(stop, end) - begin + len(lead))
        for start, stop in spans
        if start < end and stop > begin
    ]
    return lead + bare[begin:end] + tail + b"\n", shown


def _whole(line: bytes, at: int) -> int:
    """Return `at`, or the last place before it where a character begins."""
    at = min(at, len(line))
    for back in range(4):
        if at - back <= 0 or at == len(line) or line[at - back] & 0xC0 != 0x80:
            return max(0, at - back)
    return at
