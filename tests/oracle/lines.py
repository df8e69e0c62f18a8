"""Lines, and needles in them, one line at a time."""

import re


def each(text: bytes) -> list[tuple[int, int]]:
    """Begin and end of every line, its newline included."""
    return [match.span() for match in re.finditer(rb"[^\n]*\n|[^\n]+", text)]


def begin(text: bytes, at: int, floor: int = 0) -> int:
    return max(floor, text.rfind(b"\n", floor, at) + 1)


def with_needles(text: bytes, needles: list[bytes]) -> list[tuple[int, int]]:
    return [(a, b) for a, b in each(text) if any(n in text[a:b] for n in needles)]


def with_words(text: bytes, needles: list[bytes]) -> list[tuple[int, int]]:
    """Lines with a needle that no ASCII word character stands beside."""
    words = b"|".join(rb"(?<!\w)" + re.escape(n) + rb"(?!\w)" for n in needles)
    return [(a, b) for a, b in each(text) if re.search(words, text[a:b])]
