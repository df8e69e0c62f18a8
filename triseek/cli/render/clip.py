"""Long lines on a terminal: a window around the first match, its edges marked."""

from __future__ import annotations

Span = tuple[int, int]
MARK = "…".encode()


def clipped(line: bytes, spans: list[Span], most: int) -> tuple[bytes, list[Span]]:
    """At most `most` bytes of a line, and where the spans are in what is left."""
    bare = line.rstrip(b"\r\n")
    if len(bare) <= most:
        return line, spans
    first = spans[0][0] if spans else 0
    begin = max(0, min(first - most // 4, len(bare) - most))
    begin, end = _whole(bare, begin), _whole(bare, begin + most)
    lead, tail = MARK if begin else b"", MARK if end < len(bare) else b""
    kept = [
        (max(start, begin) - begin + len(lead), min(stop, end) - begin + len(lead))
        for start, stop in spans
        if start < end and stop > begin
    ]
    return lead + bare[begin:end] + tail + b"\n", kept


def _whole(line: bytes, at: int) -> int:
    """`at`, or the place just before it where a character begins."""
    at = min(at, len(line))
    for back in range(4):
        if at - back <= 0 or at == len(line) or line[at - back] & 0xC0 != 0x80:
            return max(0, at - back)
    return at
