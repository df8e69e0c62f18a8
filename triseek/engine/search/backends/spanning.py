"""Search with matches that may span lines, with the rows of ripgrep's `MultiLine` searcher.

This follows grep-searcher 0.1.16 step by step, because its steps affect the output. After each
match it searches again as if the text began there. It joins matches with adjacent lines to one row.
`max_count` limits matches, not rows. Once that many were found, it checks context lines one by one
and shows those that match alone as matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.search.query import Query
    from triseek.query.pattern import Pattern

NEWLINE = 10
LOOK_AHEAD = 128
"""Bytes after a row that ripgrep sees when it locates the matches in the row."""


class Span(NamedTuple):
    """One or more whole lines of a text: `text[begin:end]`."""

    begin: int
    end: int


class SpanningRow(NamedTuple):
    """One row of the text."""

    begin: int
    end: int
    context: bool


def spanning_rows(data: bytes, query: Query) -> Iterator[SpanningRow]:
    """Yield the rows of a text in order."""
    return _MultiLine(data, query).run()


class SpanWindow(NamedTuple):
    """The text that is visible to a search for the matches in a row."""

    text: bytes
    first: int
    """Where the row begins in `text`: after a line end, if a line precedes it."""
    size: int
    """Length of the row; a match may begin in it and end after it."""


def seen_with_row(text: bytes, size: int, *, at_start: bool) -> SpanWindow:
    """Return the text that a pattern that may span lines sees with the row text[:size].

    text: the row and what follows it in its file; `LOOK_AHEAD` bytes of the latter are visible.
    at_start: Whether the row is the first of the file.
    """
    seen = text[: size + LOOK_AHEAD]
    # The only thing before a row that a match can see is a line end.
    return SpanWindow(seen, 0, size) if at_start else SpanWindow(b"\n" + seen, 1, size)


def located(seen: SpanWindow, pattern: Pattern) -> list[tuple[int, int]]:
    """Return the matches in a row, relative to its beginning; the last may end after the row."""
    first, spans = seen.first, []
    for start, stop in pattern.finditer(seen.text, first):
        if start - first >= seen.size:
            break
        spans.append((start - first, stop - first))
    return spans


def each_line(data: bytes, begin: int, end: int) -> Iterator[Span]:
    """Yield the lines between two line starts."""
    find = data.find
    while begin < end:
        stop = find(b"\n", begin, end) + 1 or end
        yield Span(begin, stop)
        begin = stop


def start_of_lines_before(data: bytes, begin: int, count: int, floor: int) -> int:
    """Return where the `count` lines before `begin` start, but not before `floor`."""
    start = begin
    for _ in range(count):
        if start <= floor:
            break
        start = data.rfind(b"\n", floor, start - 1) + 1 or floor
    return start


class _MultiLine:
    def __init__(self, data: bytes, query: Query) -> None:
        self.data = data
        self.pattern = query.pattern
        self.request = request = query.request
        self.limit = request.max_count
        self.only_first = request.mode in ("files", "files_without_match")
        self.count = 0
        """Number of matches found."""
        self.at = 0
        """Where the search continues."""
        self.visited = 0
        """End of the last row."""
        self.owed = 0
        """Lines still to be shown after the last match."""
        self.find_anew = self.pattern.finder(data, anew=True)

    @property
    def exhausted(self) -> bool:
        return self.limit is not None and self.count >= self.limit

    def run(self) -> Iterator[SpanningRow]:
        data, request, waiting = self.data, self.request, None
        while self.at < len(data):
            match = self.find()
            if request.invert:
                yield from self.inverted(match)
                continue
            if match is None:
                break
            self.advance(*match)
            begin, end = self.lines_of(*match)
            if self.only_first and begin < end:
                yield self.matched(begin, end)  # adjacent matches add nothing
                return
            if waiting is None:
                waiting = begin, end
            elif waiting[1] >= begin:
                waiting = waiting[0], end
            else:
                row, waiting = waiting, (begin, end)
                yield from self.context_before(row[0])
                yield self.matched(*row)
        if waiting is not None:
            yield from self.context_before(waiting[0])
            if waiting[0] < waiting[1]:  # a match after the final newline is not a row
                yield self.matched(*waiting)
        yield from self.passed(len(data)) if request.passthru else self.after(len(data))

    def find(self) -> tuple[int, int] | None:
        """Return the next match in the rest, as if the text began there."""
        if self.exhausted:
            return None
        match = self.find_anew(self.data, self.at)
        self.count += match is not None
        return match

    def advance(self, begin: int, end: int) -> None:
        self.at = end
        if begin == end and end < len(self.data):
            self.at += 1

    def lines_of(self, begin: int, end: int) -> tuple[int, int]:
        """Return the bounds of the lines that a match is in."""
        first = self.data.rfind(b"\n", 0, begin) + 1
        if end > first and self.data[end - 1] == NEWLINE:
            return first, end
        return first, self.data.find(b"\n", end) + 1 or len(self.data)

    def inverted(self, match: tuple[int, int] | None) -> Iterator[SpanningRow]:
        """Yield the lines up to a match as rows."""
        begin = self.at
        if match is None:
            self.at = end = len(self.data)
        else:
            line = self.lines_of(*match)
            end = line[0]
            self.advance(*line)
        if end <= begin:
            return
        yield from self.context_before(begin)
        for first, last in each_line(self.data, begin, end):
            yield self.matched(first, last)

    def matched(self, begin: int, end: int) -> SpanningRow:
        self.visited, self.owed = end, self.request.after
        return SpanningRow(begin, end, context=False)

    def context(self, begin: int, end: int) -> SpanningRow:
        self.visited = end
        return SpanningRow(begin, end, context=True)

    def context_before(self, until: int) -> Iterator[SpanningRow]:
        """Yield the lines of context up to a row."""
        if self.request.passthru:
            yield from self.passed(until)
            return
        yield from self.after(until)
        if not self.request.before or self.visited >= until:
            return
        begin = start_of_lines_before(self.data, until, self.request.before, self.visited)
        for first, last in each_line(self.data, begin, until):
            yield self.context(first, last)

    def after(self, until: int) -> Iterator[SpanningRow]:
        """Yield the lines owed after the previous match."""
        if self.owed == 0:
            return
        exhausted = self.exhausted
        for begin, end in each_line(self.data, self.visited, until):
            if exhausted and self.matches_alone(begin, end) is not self.request.invert:
                self.at, owed = end, self.owed
                yield self.matched(begin, end)
                self.owed = owed - 1
            else:
                self.owed -= 1
                yield self.context(begin, end)
            if self.owed == 0:
                return

    def passed(self, until: int) -> Iterator[SpanningRow]:
        """Yield all lines since the last row (--passthru)."""
        for begin, end in each_line(self.data, self.visited, until):
            yield self.context(begin, end)

    def matches_alone(self, begin: int, end: int) -> bool:
        line_end = b"\r\n" if self.request.pattern.crlf else b"\n"
        return self.pattern.matches(self.data[begin:end].removesuffix(line_end))
