"""Matching lines from the chunks of content that Zoekt returns."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from triseek.model.code_search import CodeLine
from triseek.model.symbol import Symbol

Names = tuple[str, str, str, str]
"""Name, kind, parent and parent's kind of a symbol."""


class ChunkMatch(NamedTuple):
    """A match, by byte offsets in a chunk."""

    start: int
    end: int
    symbol: Names | None = None


class Chunk(NamedTuple):
    """Lines of a file that follow each other."""

    content: bytes
    offset: int
    """Byte offset of the content in the file."""
    number: int
    """Number of the first line, from 1."""
    matches: list[ChunkMatch]
    score: float = 0.0


def code_lines(
    chunk: Chunk, *, context: int = 0, before: bytes = b"", after: bytes = b""
) -> list[CodeLine]:
    """Return the lines of a chunk in which matches lie.

    A match that crosses line ends is in each of its lines. Offsets outside of the chunk are cut to
    it, and a match that overlaps an earlier one is dropped, so that no answer takes more time than
    it has bytes.

    Args:
        chunk: The content and its matches.
        context: Lines of the chunk around each line to return with it.
        before: Lines before the chunk, returned with its first line.
        after: Lines behind the chunk's first line; those behind its last one are returned with it.
    """
    texts = _split(chunk.content)
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    spans: dict[int, list[tuple[int, int]]] = {}
    symbols: dict[int, Symbol] = {}
    reached = 0
    for match in sorted(chunk.matches, key=lambda match: match[:2]):
        start, end = max(match.start, 0), min(match.end, len(chunk.content))
        if start < reached or start > end:
            continue
        reached = end
        first = bisect_right(starts, start, 0, len(texts)) - 1
        for index in range(first, len(texts)):
            begin = starts[index]
            if index > first and begin >= end:
                break
            size = len(texts[index])
            span = (min(max(start - begin, 0), size), min(end - begin, size))
            if index not in spans and match.symbol is not None and index == first:
                symbols[index] = _placed(match.symbol, texts[index], span, chunk, index, begin)
            spans.setdefault(index, []).append(span)
    preceding = tuple(_split(before)) if before else ()
    following = tuple(_split(after)[len(texts) - 1 :]) if after else ()
    return [
        CodeLine(
            number=chunk.number + index,
            text=texts[index],
            spans=tuple(spans[index]),
            offset=chunk.offset + starts[index],
            before=tuple(texts[max(0, index - context) : index])
            or (preceding if index == 0 else ()),
            after=tuple(texts[index + 1 : index + 1 + context])
            or (following if index == len(texts) - 1 else ()),
            symbol=symbols.get(index),
            score=chunk.score,
        )
        for index in sorted(spans)
    ]


def _split(content: bytes) -> list[bytes]:
    """Return the lines of a content without their line ends; there is at least one."""
    return content.removesuffix(b"\n").split(b"\n")


def _placed(
    names: Names, text: bytes, span: tuple[int, int], chunk: Chunk, index: int, begin: int
) -> Symbol:
    """Return a symbol at the place in its line that covers the match."""
    name = names[0].encode()
    at = text.rfind(name, 0, span[0] + len(name)) if name else -1
    if at < 0 or at + len(name) < span[1]:
        at, name = span[0], text[span[0] : span[1]]
    start = chunk.offset + begin + at
    number = chunk.number + index
    return Symbol(names[0], names[1], number, number, start, start + len(name), *names[2:])
