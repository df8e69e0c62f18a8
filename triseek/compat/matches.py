"""Matches of a file in Zoekt's two forms: a line each, or chunks of neighbouring lines."""

from __future__ import annotations

import base64
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from triseek.compat.go_json import number, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from triseek.model.code_search import CodeFile, CodeLine
    from triseek.model.symbol import Symbol

Document: TypeAlias = dict[str, Any]
CONTEXT_BYTES_MAX = 16 << 20
"""Bytes of context that the lines of one file have in all; those behind have none.

Each line repeats the lines around it: a thousand on both sides make gigabytes of one file.
"""


class Content:
    """The content of a file, and where its lines begin and end; empty if it is not known."""

    def __init__(self, content: bytes | None) -> None:
        self.bytes = content or b""

    def line(self, line: CodeLine) -> tuple[bytes, int]:
        """Return a line with its end, and the byte offset behind it."""
        behind = line.offset + len(line.text)
        if not self.has(line):
            return line.text + b"\n", behind + 1
        end = self._end(behind)
        return self.bytes[line.offset : end], end

    def has(self, line: CodeLine) -> bool:
        """Return whether a line is there; otherwise the file has changed since it was searched."""
        behind = line.offset + len(line.text)
        return bool(self.bytes) and self.bytes[line.offset : behind] == line.text

    def above(self, offset: int, lines: int) -> int:
        """Return where `lines` more lines begin, above the one that begins at `offset`."""
        for _ in range(lines):
            if offset <= 0:
                break
            offset = self.bytes.rfind(b"\n", 0, offset - 1) + 1
        return min(offset, len(self.bytes))

    def below(self, offset: int, lines: int) -> int:
        """Return where `lines` more lines end, below the one that ends at `offset`."""
        for _ in range(lines):
            if offset >= len(self.bytes):
                break
            offset = self._end(offset)
        return min(offset, len(self.bytes))

    def _end(self, offset: int) -> int:
        return self.bytes.find(b"\n", offset) + 1 or len(self.bytes)


def limited(files: Sequence[CodeFile], most: int) -> Iterator[tuple[CodeFile, Sequence[CodeLine]]]:
    """Yield files and their lines until `most` matches have been shown; 0 is no limit."""
    left = most or sum(len(line.spans) for file in files for line in file.lines) + len(files) + 1
    for file in files:
        if left <= 0:
            return
        if not file.lines:
            yield file, ()
            left -= max(1, len(file.name_spans))
            continue
        lines: list[CodeLine] = []
        for line in file.lines:
            if left <= 0:
                break
            is_cut = len(line.spans) > left
            lines.append(line._replace(spans=line.spans[:left]) if is_cut else line)
            left -= len(line.spans)
        yield file, lines


def line_matches(
    file: CodeFile, lines: Sequence[CodeLine], content: Content, context: int
) -> list[Document]:
    """Return Zoekt's LineMatches of a file."""
    if not lines:
        return [_name_as_line(file)]
    documents: list[Document] = []
    left = CONTEXT_BYTES_MAX
    for line in lines:
        documents.append(_line(line, content, context if left > 0 else 0))
        left -= sum(len(documents[-1][side] or "") for side in ("Before", "After"))
    return documents


def _line(line: CodeLine, content: Content, context: int) -> Document:
    shown, end = content.line(line)
    before = after = None
    if context:
        before = content.bytes[content.above(line.offset, context) : line.offset]
        after = content.bytes[end : content.below(end, context)]
    return {
        "Line": _base64(shown),
        "LineStart": line.offset,
        "LineEnd": end,
        "LineNumber": line.number,
        "Before": None if before is None else _base64(before),
        "After": None if after is None else _base64(after),
        "FileName": False,
        "Score": number(line.score),
        "DebugScore": "",
        "LineFragments": [
            {
                "LineOffset": start,
                "Offset": line.offset + start,
                "MatchLength": stop - start,
                "SymbolInfo": None if at else _symbol(line.symbol),
            }
            for at, (start, stop) in enumerate(line.spans)
        ],
    }


def _name_as_line(file: CodeFile) -> Document:
    return {
        "Line": _base64(file.path),
        "LineStart": 0,
        "LineEnd": 0,
        "LineNumber": 0,
        "Before": None,
        "After": None,
        "FileName": True,
        "Score": number(file.score),
        "DebugScore": "",
        "LineFragments": [
            {
                "LineOffset": start,
                "Offset": start,
                "MatchLength": stop - start,
                "SymbolInfo": None,
            }
            for start, stop in _name_spans(file)
        ],
    }


def chunk_matches(
    file: CodeFile, lines: Sequence[CodeLine], content: Content, context: int
) -> list[Document]:
    """Return Zoekt's ChunkMatches: lines whose context overlaps are one chunk."""
    if not lines:
        return [_name_as_chunk(file)]
    groups: list[int] = []
    last = -1
    for line in lines:
        is_apart = not groups or last + context < line.number - context
        groups.append((groups[-1] if groups else 0) + is_apart)
        last = max(last, line.number + line.text.count(b"\n"))
    return [
        _chunk([line for line, _ in group], content, context)
        for _, group in groupby(zip(lines, groups, strict=True), key=lambda pair: pair[1])
    ]


def _chunk(lines: Sequence[CodeLine], content: Content, context: int) -> Document:
    first = lines[0]
    start, end = first.offset, content.line(lines[-1])[1]
    number_of_first = first.number
    if all(map(content.has, lines)):
        start, end = content.above(start, context), content.below(end, context)
        number_of_first -= content.bytes.count(b"\n", start, first.offset)
        shown = content.bytes[start:end]
    else:
        shown = b"".join(line.text + b"\n" for line in lines)
    best = max(lines, key=lambda line: line.score)
    symbols = [
        None if at else _symbol(line.symbol) for line in lines for at in range(len(line.spans))
    ]
    return {
        "DebugScore": "",
        "Content": _base64(shown),
        "Ranges": [
            end
            for line in lines
            for end in _ranges(line.text, line.spans, line.offset, line.number)
        ],
        "SymbolInfo": symbols if any(symbols) else None,
        "FileName": False,
        "ContentStart": {
            "ByteOffset": start,
            "LineNumber": number_of_first,
            "Column": 1,
        },
        "Score": number(best.score),
        "BestLineMatch": best.number,
    }


def _name_as_chunk(file: CodeFile) -> Document:
    return {
        "DebugScore": "",
        "Content": _base64(file.path),
        "Ranges": _ranges(file.path, _name_spans(file), 0, 1),
        "SymbolInfo": None,
        "FileName": True,
        "ContentStart": {"ByteOffset": 0, "LineNumber": 1, "Column": 1},
        "Score": number(file.score),
        "BestLineMatch": 0,
    }


def _name_spans(file: CodeFile) -> Sequence[tuple[int, int]]:
    """Return the matches in the name; all of it where nothing in the file was looked for."""
    return file.name_spans or ((0, len(file.path)),)


def _ranges(
    text: bytes, spans: Sequence[tuple[int, int]], offset: int, line: int
) -> list[Document]:
    """Return Zoekt's Ranges of the matches in a text; each of its bytes is looked at once.

    Args:
        text: Complete lines.
        spans: In ascending order.
        offset: Byte offset of the text in the file.
        line: Number of its first line.
    """
    ends: list[Document] = []
    at, column = 0, 1
    for place in (place for span in spans for place in span):
        passed = text[at:place]
        newline = passed.rfind(b"\n")
        if newline >= 0:
            line += passed.count(b"\n")
            column, passed = 1, passed[newline + 1 :]
        column += _characters(passed)
        at = max(at, place)
        ends.append({"ByteOffset": offset + place, "LineNumber": line, "Column": column})
    return [{"Start": ends[i], "End": ends[i + 1]} for i in range(0, len(ends), 2)]


def _characters(text: bytes) -> int:
    """Count characters as Go does: a byte that is not UTF-8 is one."""
    return len(text) if text.isascii() else len(text.decode("utf-8", "surrogateescape"))


def _symbol(symbol: Symbol | None) -> Document | None:
    if symbol is None:
        return None
    return {
        "Sym": text_of(symbol.name),
        "Kind": symbol.kind,
        "Parent": text_of(symbol.parent),
        "ParentKind": symbol.parent_kind,
    }


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
