"""Matches that may span lines: rows as ripgrep's `MultiLine` searcher has them.

This follows grep-searcher 0.1.16 step by step, because its steps show: it searches anew behind
each match, as if the text began there; it joins matches whose lines touch to one row; it bounds
matches, not rows, by `max_count`, and once that many were found looks at lines of context one by
one, to show those that match alone as matches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.search import SearchRequest
    from triseek.query.pattern import Pattern

LOOK_AHEAD = 128
"""Bytes behind a row that ripgrep sees where it locates the matches in it."""


class Sunk(NamedTuple):
    """One row."""

    begin: int
    end: int
    context: bool


def sunk(data: bytes, pattern: Pattern, request: SearchRequest) -> Iterator[Sunk]:
    """Yield the rows of a text, in order."""
    return _MultiLine(data, pattern, request).run()


class Seen(NamedTuple):
    """What a search for the matches in a row sees."""

    text: bytes
    first: int
    """Where the row begins in the text: behind the end of a line, if there is one before it."""
    size: int
    """Length of the row; a match may begin in it and end behind it."""


def seen_with_row(text: bytes, size: int, *, at_start: bool) -> Seen:
    """Return what is seen with the row text[:size] by a pattern that may span lines.

    text: the row, and what follows it in its file, of which `LOOK_AHEAD` bytes are seen.
    at_start: Whether the row is the first of the file.
    """
    seen = text[: size + LOOK_AHEAD]
    # The one thing before a row that a match can see is the end of a line.
    return Seen(seen, 0, size) if at_start else Seen(b"\n" + seen, 1, size)


def located(seen: Seen, pattern: Pattern) -> list[tuple[int, int]]:
    """Return the matches in a row, counted from its beginning; the last may end behind it."""
    first, found = seen.first, []
    for start, stop in pattern.finditer(seen.text, first):
        if start - first >= seen.size:
            break
        found.append((start - first, stop - first))
    return found


class _MultiLine:
    def __init__(self, data: bytes, pattern: Pattern, request: SearchRequest) -> None:
        self.data = data
        self.pattern = pattern
        self.request = request
        self.limit = request.max_count
        self.only_first = request.mode in ("files", "files_without_match")
        self.count = 0
        """Matches found."""
        self.at = 0
        """Where the search goes on."""
        self.visited = 0
        """Where the last row ends."""
        self.owed = 0
        """Lines still to be shown after the last match."""
        self.find_anew = pattern.finder_anew(data)

    @property
    def exhausted(self) -> bool:
        return self.limit is not None and self.count >= self.limit

    def run(self) -> Iterator[Sunk]:
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
                yield self.matched(begin, end)  # the matches that touch it tell nothing more
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
            if waiting[0] == waiting[1]:
                # At the very end of a text that ends a line: not a match, but not the end either.
                pass
            else:
                yield self.matched(*waiting)
        yield from self.passed(len(data)) if request.passthru else self.after(len(data))

    def find(self) -> tuple[int, int] | None:
        """Return the next match in what is left, as if the text began there."""
        if self.exhausted:
            return None
        found = self.find_anew(self.data, self.at)
        self.count += found is not None
        return found

    def advance(self, begin: int, end: int) -> None:
        self.at = end
        if begin == end and end < len(self.data):
            self.at += 1

    def lines_of(self, begin: int, end: int) -> tuple[int, int]:
        """Return the bounds of the lines a match is in."""
        first = self.data.rfind(b"\n", 0, begin) + 1
        if end > first and self.data[end - 1] == _NEWLINE:
            return first, end
        return first, self.data.find(b"\n", end) + 1 or len(self.data)

    def inverted(self, match: tuple[int, int] | None) -> Iterator[Sunk]:
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
        for first, last in self.lines(begin, end):
            yield self.matched(first, last)

    def matched(self, begin: int, end: int) -> Sunk:
        self.visited, self.owed = end, self.request.after
        return Sunk(begin, end, context=False)

    def context(self, begin: int, end: int) -> Sunk:
        self.visited = end
        return Sunk(begin, end, context=True)

    def lines(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        while begin < end:
            stop = self.data.find(b"\n", begin, end) + 1 or end
            yield begin, stop
            begin = stop

    def context_before(self, until: int) -> Iterator[Sunk]:
        """Yield the lines of context up to a row."""
        if self.request.passthru:
            yield from self.passed(until)
            return
        yield from self.after(until)
        if not self.request.before or self.visited >= until:
            return
        begin = until
        for _ in range(self.request.before):
            if begin <= self.visited:
                break
            begin = self.data.rfind(b"\n", self.visited, begin - 1) + 1 or self.visited
        for first, last in self.lines(begin, until):
            yield self.context(first, last)

    def after(self, until: int) -> Iterator[Sunk]:
        """Yield the lines owed to the match before."""
        if self.owed == 0:
            return
        exhausted = self.exhausted
        for begin, end in self.lines(self.visited, until):
            if exhausted and self.matches_alone(begin, end) is not self.request.invert:
                self.at, owed = end, self.owed
                yield self.matched(begin, end)
                self.owed = owed - 1
            else:
                self.owed -= 1
                yield self.context(begin, end)
            if self.owed == 0:
                return

    def passed(self, until: int) -> Iterator[Sunk]:
        """Yield all lines since the last row (--passthru)."""
        for begin, end in self.lines(self.visited, until):
            yield self.context(begin, end)

    def matches_alone(self, begin: int, end: int) -> bool:
        line_end = b"\r\n" if self.request.pattern.crlf else b"\n"
        return self.pattern.matches(self.data[begin:end].removesuffix(line_end))


_NEWLINE = 10
