"""Extract lines from a text: matching lines, context lines and line numbers.

It is plain Python over `bytes`, so it works before any kernel is compiled. The rules are
ripgrep's, checked against its output:

- A row is a line with its terminator. If matches may span lines, a row is a run of adjacent matches
  with all the lines they cover.
- `max_count` ends the search after that many rows. The lines `after` the last one are still shown;
  those that match are shown as matches but not counted.
- A match that begins at the very end of a text is not shown.
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from triseek.engine.search.backends import spanning
from triseek.engine.search.backends.base import Batch, FileRows
from triseek.engine.search.backends.spanning import NEWLINE, Span, each_line, start_of_lines_before
from triseek.errors import OutOfTime
from triseek.kernels.formats import ROW
from triseek.query import stray
from triseek.query.pattern import with_pattern
from triseek.query.trigrams import literals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.engine.search.query import Query
    from triseek.model.search import SearchRequest, Totals
    from triseek.query.pattern import Pattern

NEEDLES_MAX = 4
"""Searching for up to this many strings is faster than running RE2 over a text."""
NO_ROWS = np.empty(0, ROW)
BATCH_FILES = 64
ROWS_MAX_BYTES = 2 << 30
"""Maximum memory for the matching lines of one file and their rows."""
BATCH_ROWS = 10_000


@dataclass(slots=True)
class RowColumns:
    """Rows being collected: one list for each column of `ROW` that is not computed later."""

    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    context: list[bool] = field(default_factory=list)

    def add(self, begin: int, end: int, *, context: bool) -> None:
        """Append one row."""
        self.begins.append(begin)
        self.ends.append(end)
        self.context.append(context)


def rows_of(data: bytes, query: Query, first_read: int = stray.FIRST_READ) -> FileRows:
    """Return the rows of a whole text (`file` 0), as those of a file without a path.

    Modes without lines have no rows; `files` and `files_without_match` count at most 1.
    """
    search = LineSearch(query, first_read)
    rows = as_array(search.extract(data), data, query.request)
    return FileRows(b"", rows, data, search.count, first_read=first_read)


class LineSearch:
    """Searches a text, part after part, and counts its rows.

    first_read: Bytes that ripgrep reads of the file first, or another value of `query.stray`.
    """

    def __init__(self, query: Query, first_read: int = stray.FIRST_READ) -> None:
        self.owed = 0
        """Lines still to be shown after the last match."""
        self.count = 0
        """Matching rows so far (mode `count_matches` and multiline counts: matches)."""
        self.hits = 0
        """Matching rows so far; `max_count` limits this."""
        self.done = False
        """Whether `max_count` was reached and nothing more is owed."""
        self._query = query
        self._pattern = query.pattern
        self._request = query.request
        self._first_read = first_read
        self._data = b""
        self._rows = RowColumns()
        self._offset = 0
        """Where `_data` begins in the file."""
        self._line = 1
        """The line number there."""
        self._parts: list[FileRows] = []
        self._size = 0

    def add(self, data: bytes, start: int, offset: int) -> RowColumns:
        """Search the part of a file that begins at `offset`, as `extract`, and hold its rows.

        Raises:
            OSError: All rows and their text are larger than `ROWS_MAX_BYTES`.
        """
        if self._request.line_numbers:
            self._line += self._data.count(b"\n", 0, offset - self._offset)
        self._offset = offset
        rows = self.extract(data, start)
        if rows.begins:
            table = as_array(rows, data, self._request, self._line, offset)
            batch = gather([FileRows(b"", table, data, 0)])
            self._parts.append(FileRows(b"", batch.rows, batch.text, 0))
            self._size += batch.rows.nbytes + len(batch.text)
            if self._size > ROWS_MAX_BYTES:
                message = "too many lines match; ask for fewer with -m, or count them with -c"
                raise OSError(errno.EFBIG, message)
        return rows

    def joined(self) -> FileRows:
        """Return all rows that are held as those of one file without a path, and the count."""
        batch = gather(self._parts)
        batch.rows["file"] = 0
        return FileRows(b"", batch.rows, batch.text, self.count)

    def extract(self, data: bytes, start: int = 0) -> RowColumns:
        """Search `data[start:]` and return its rows; lines before `start` can only be context.

        Parts are whole lines; `data[:start]` are lines of the part before that were not shown. For
        a pattern that may span lines there is only one part.
        """
        request = self._request
        self._data, self._rows = data, RowColumns()
        if request.mode != "lines":
            self._tally(start)
        elif self._query.spans_lines:
            for begin, end, context in spanning.spanning_rows(data, self._query):
                self._rows.add(begin, end, context=context)
                self.count += not context
        elif request.before or request.after or request.passthru:
            self._show(hits(data, self._query, start))
        else:
            self._show_matches(hits(data, self._query, start))
        return self._rows

    def _tally(self, start: int) -> None:
        """Count rows, or the matches in them, as far as the mode needs."""
        request = self._request
        only_whether = request.mode in ("files", "files_without_match")
        limit = 1 if only_whether else request.max_count
        is_all = self._pattern.matches_every_line and request.mode != "count_matches"
        if is_all and not (request.invert or request.after or self._query.spans_lines):
            self._tally_lines(start, limit)
            return
        if limit is not None and request.after and not only_whether:
            self._tally_with_owed(start)
            return
        # If matches may span lines, `max_count` limits the matches that are searched for.
        bounded = limit is not None and (only_whether or not self._query.spans_lines)
        for begin, end in self._matching_rows(start):
            self.hits += 1
            self.count += 1 if only_whether else self._matches_of_row(begin, end)
            if bounded and self.hits == limit:
                self.done = True
                return

    def _tally_lines(self, start: int, limit: int | None) -> None:
        """Count all lines, up to a limit."""
        data = self._data
        count = data.count(b"\n", start) + (len(data) > start and data[-1] != NEWLINE)
        if limit is not None:
            count = min(count, limit - self.hits)
            self.done = self.hits + count == limit
        self.hits += count
        self.count += count

    def _tally_with_owed(self, start: int) -> None:
        """Count up to `max_count`, then also the matches in the lines `after` the last match."""
        before = self.count
        if self._query.spans_lines:
            as_lines = replace(self._query, request=replace(self._request, mode="lines"))
            rows = spanning.spanning_rows(self._data, as_lines)
            matching = [(row.begin, row.end) for row in rows if not row.context]
        else:
            self._show(hits(self._data, self._query, start))
            places = zip(self._rows.begins, self._rows.ends, self._rows.context, strict=True)
            matching = [(begin, end) for begin, end, context in places if not context]
            self._rows = RowColumns()
        self.count = before + sum(self._matches_of_row(*row) for row in matching)

    def _matching_rows(self, start: int) -> Iterator[tuple[int, int]]:
        if self._query.spans_lines:
            rows = spanning.spanning_rows(self._data, self._query)
            return ((row.begin, row.end) for row in rows if not row.context)
        return hits(self._data, self._query, start)

    def _matches_of_row(self, begin: int, end: int) -> int:
        """Return how much a row adds to the count: 1, or the number of its matches."""
        data, request = self._data, self._request
        if self._query.spans_lines:
            # A row whose match depends on the text before it may show no match.
            seen = data[begin : end + spanning.LOOK_AHEAD]
            row = spanning.seen_with_row(seen, end - begin, at_start=begin == 0)
            return max(1, len(spanning.located(row, self._pattern)))
        if request.mode == "count_matches" and not request.invert:
            return matches_in(data[begin:end], self._pattern, begin, self._first_read)
        return 1

    def _show_matches(self, spans: Iterator[Span]) -> None:
        """Collect matching rows if no context is requested."""
        limit = self._request.max_count
        begins, ends = self._rows.begins, self._rows.ends
        room = None if limit is None else limit - self.hits
        for begin, end in spans:
            begins.append(begin)
            ends.append(end)
            if len(begins) == room:
                self.done = True
                break
        self._rows.context = [False] * len(begins)
        self.hits += len(begins)
        self.count += len(begins)

    @property
    def _at_limit(self) -> bool:
        return self.hits == self._request.max_count

    def _show(self, spans: Iterator[Span]) -> None:
        """Collect matching rows and the lines around them.

        If ripgrep searches line by line, it searches for no match once `max_count` was reached, not
        even in the lines that are still shown.
        """
        by_line = self._request.passthru or self._pattern.sees_text_ends
        shown = 0
        for begin, end in spans:
            if by_line and self._at_limit:
                break
            shown = self._show_between(shown, begin)
            if self.done:
                return
            self._rows.add(begin, end, context=False)
            shown = end
            if self._count_hit():
                return
        size = len(self._data)
        if by_line and self._at_limit and self._request.invert:
            for line in each_line(self._data, shown, size):
                self._rows.add(*line, context=False)
                self.count += 1
        else:
            self._show_after(shown, size)
            self.done = self._has_enough

    def _count_hit(self) -> bool:
        """Count a row that was shown, and return whether it was the last to show.

        After the limit, it only reduces the number of owed lines.
        """
        if self._at_limit:
            self.owed -= 1
        else:
            self.hits += 1
            self.count += 1
            self.owed = 0 if self._request.passthru else self._request.after
        self.done = self._has_enough
        return self.done

    @property
    def _has_enough(self) -> bool:
        """Whether `max_count` was reached and nothing more is owed."""
        return self._at_limit and self.owed <= 0 and not self._request.passthru

    def _show_between(self, shown: int, begin: int) -> int:
        """Show the context lines between `shown` and a match at `begin`; return the new end.

        Set `done` if the limit was reached before and no more lines are owed.
        """
        shown = self._show_after(shown, begin)
        if self._at_limit:
            self.done = self.owed <= 0
            return shown
        if not self._request.passthru:
            shown = start_of_lines_before(self._data, begin, self._request.before, shown)
        for line in each_line(self._data, shown, begin):
            self._rows.add(*line, context=True)
        return begin

    def _show_after(self, shown: int, end: int) -> int:
        """Show the lines owed after the previous match, up to `end`; return where they end."""
        passthru = self._request.passthru
        if not (self.owed or passthru):
            return shown
        for line in each_line(self._data, shown, end):
            if not passthru:
                if self.owed <= 0:
                    break
                self.owed -= 1
            self._rows.add(*line, context=True)
            shown = line.end
        return shown


def limit_reached_at(rows: np.ndarray, query: Query) -> int | None:
    """Return the offset in its file at which `max_count` ended a search for lines.

    rows: `ROW`, all rows of one file.

    None if the search went on to the end of the file. With `invert`, ripgrep searches for the next
    match before it stops; its position cannot be derived from the rows, so None is returned.
    """
    request = query.request
    if request.max_count is None or request.invert or request.passthru:
        return None
    matching = np.flatnonzero(~rows["context"])
    if len(matching) < request.max_count or query.spans_lines:
        return None
    if len(rows) - 1 - matching[request.max_count - 1] < request.after:
        return None
    last = rows[matching[-1]]
    return int(last["offset"] + last["end"] - last["begin"])


def hits(data: bytes, query: Query, start: int = 0) -> Iterator[Span]:
    """Yield matching lines in order; with `invert`, the lines that do not match."""
    matching = _matching_lines(data, query, start)
    return _other_lines(data, matching, start) if query.request.invert else matching


def _matching_lines(data: bytes, query: Query, start: int) -> Iterator[Span]:
    """Yield every matching line of `data[start:]`, in order."""
    pattern = query.pattern
    if pattern.matches_every_line:
        return each_line(data, start, len(data))
    if not pattern.literals:
        needles = _required(pattern)
        if needles and not any(needle in data for needle in needles):
            return iter(())
        crlf = pattern.sees_crlf or (pattern.spec.crlf and not pattern.spec.multiline)
        alone = query.request.passthru and (pattern.spec.crlf or crlf or stray.looks_back(pattern))
        if alone or pattern.sees_text_ends:
            return _lines_by_pattern(data, pattern, start)
        return (_lines_one_by_one if crlf else _lines_with_matches)(data, pattern, start)
    if len(pattern.literals) == 1:
        return _lines_with(data, pattern.literals[0], start)
    return _lines_with_any(data, pattern.literals, start)


@with_pattern
def _required(pattern: Pattern) -> tuple[bytes, ...]:
    """Return strings of which each matching line holds at least one; none if they are too many."""
    needles = literals.required(pattern.tree)
    return needles if len(needles) <= NEEDLES_MAX else ()


def _lines_with(data: bytes, needle: bytes, at: int) -> Iterator[Span]:
    size, find, rfind = len(data), data.find, data.rfind
    while at < size:
        hit = find(needle, at)
        if hit < 0:
            return
        begin = rfind(b"\n", at, hit) + 1 or at
        at = find(b"\n", hit) + 1 or size
        yield Span(begin, at)


def _lines_with_any(data: bytes, needles: Sequence[bytes], at: int) -> Iterator[Span]:
    """Yield the lines that hold any needle; each next position of a needle is found once."""
    size, find, rfind = len(data), data.find, data.rfind
    ahead = {needle: place for needle in needles if (place := find(needle, at)) >= 0}
    while ahead and at < size:
        hit = min(ahead.values())
        begin = rfind(b"\n", at, hit) + 1 or at
        at = find(b"\n", hit) + 1 or size
        yield Span(begin, at)
        for needle, place in list(ahead.items()):
            if place < at and (place := find(needle, at)) < 0:
                del ahead[needle]
            else:
                ahead[needle] = place


def _lines_by_pattern(data: bytes, pattern: Pattern, at: int) -> Iterator[Span]:
    """Yield the lines that a pattern matches when each is searched alone."""
    size, find, matches = len(data), data.find, pattern.matches
    end = b"\r\n" if pattern.spec.crlf else b"\n"
    while at < size:
        begin, at = at, find(b"\n", at) + 1 or size
        if matches(data[begin:at].removesuffix(end)):
            yield Span(begin, at)


LineMatcher: TypeAlias = "Callable[[bytes, bool], bool]"
"""`(line, behind) -> matches`: line with its terminator; behind: whether a line precedes it."""


@with_pattern
def line_matcher(pattern: Pattern) -> LineMatcher:
    """Return a function that says whether ripgrep finds a match in a line.

    For a pattern that asserts the ends of a text, ripgrep searches the line without its terminator.
    With --crlf that is CR LF, so a line that ends in LF alone keeps it. For other patterns it
    searches the whole text, so a match may lie between CR and LF but not after LF.
    """
    crlf, matches, in_crlf = pattern.spec.crlf, pattern.matches, pattern.matches_in_crlf
    end = b"\r\n" if crlf and pattern.sees_text_ends else b"\n"

    def alone(line: bytes, behind: bool) -> bool:
        return matches(line.removesuffix(end), behind_line=behind)

    def by_crlf(line: bytes, behind: bool) -> bool:
        if in_crlf and line.endswith(b"\r\n"):
            return True
        return matches(body(line, crlf=True), behind_line=behind)

    def in_text(line: bytes, behind: bool) -> bool:
        text, first = (b"\n" + line, 1) if behind else (line, 0)
        match = pattern.finder(text)(text, first)
        return match is not None and (match[0] < len(text) or text[-1] != NEWLINE)

    if pattern.sees_text_ends:
        return alone
    if crlf and not pattern.spec.multiline:
        return by_crlf
    return in_text if pattern.sees_crlf else alone


def _lines_one_by_one(data: bytes, pattern: Pattern, at: int) -> Iterator[Span]:
    """Yield the matching lines for patterns that may match within a CR LF line end."""
    size, find, matches = len(data), data.find, line_matcher(pattern)
    sees_before = stray.sees_line_before(pattern)
    matched = True
    while at < size:
        begin, at = at, find(b"\n", at) + 1 or size
        line = data[begin:at]
        visible = sees_before and not matched and stray.sees_back(line, begin)
        matched = matches(line, visible)
        if matched:
            yield Span(begin, at)


def _lines_with_matches(data: bytes, pattern: Pattern, start: int) -> Iterator[Span]:
    """Yield the lines that hold a match, found by searching the whole text at once.

    This is for patterns that match no newline and depend on nothing outside a line but its ends.
    """
    size, find, rfind = len(data), data.find, data.rfind
    text = data[start:] if start else data
    at = start
    looks_back, sees_before = stray.looks_back(pattern), stray.sees_line_before(pattern)
    matched = start  # end of the last matching line
    for first, _ in pattern.finditer(text):
        first += start
        if first < at:
            continue  # another match in a line already yielded
        if first == size and (at == size or data[-1] == NEWLINE):
            return  # after the last line, or again in it
        begin = rfind(b"\n", at, first) + 1 or at
        at = find(b"\n", first) + 1 or size
        if looks_back and stray.is_stray(data, begin):
            # This match may depend on a line end that ripgrep does not see.
            line = data[begin:at]
            visible = sees_before and begin != matched and stray.sees_back(line, begin)
            if not visible and not pattern.matches(body(line, crlf=False)):
                continue
        matched = at
        yield Span(begin, at)


def body(line: bytes, *, crlf: bool) -> bytes:
    """Return a line without its terminator."""
    if not line.endswith(b"\n"):
        return line
    return line[:-2] if crlf and line.endswith(b"\r\n") else line[:-1]


def _other_lines(data: bytes, spans: Iterator[Span], start: int) -> Iterator[Span]:
    """Yield the lines of `data[start:]` that are in none of the spans."""
    at = start
    for begin, end in spans:
        yield from each_line(data, at, begin)
        at = end
    yield from each_line(data, at, len(data))


def matches_in(
    line: bytes, pattern: Pattern, offset: int, first_read: int = stray.FIRST_READ
) -> int:
    r"""Count the matches in a matching line, at least one.

    ripgrep leaves out an empty match at the very end of a text, and matches that it does not find
    again when it sees the lines before (`\A`). But a matching line counts as at least one.
    """
    text = body(line, crlf=pattern.spec.crlf)
    spans = pattern.spans(text, behind_line=stray.sees_back(line, offset, first_read))
    return max(1, sum(begin < len(line) for begin, _ in spans))


def as_array(
    rows: RowColumns, data: bytes, request: SearchRequest, first_line: int = 1, offset: int = 0
) -> np.ndarray:
    """Return collected rows as `ROW`, with line numbers if the request needs them.

    `first_line` and `offset` are the position of `data` in its file.
    """
    if not rows.begins:
        return NO_ROWS
    table = np.zeros(len(rows.begins), ROW)
    table["begin"] = rows.begins
    table["end"] = rows.ends
    table["context"] = rows.context
    table["offset"] = table["begin"] + np.uint64(offset)
    if request.line_numbers:
        steps = [data.count(b"\n", *edge) for edge in pairwise((0, *rows.begins))]
        table["number"] = np.cumsum(np.array(steps, np.uint64)) + np.uint64(first_line)
    return table


def tail(data: bytes, rows: RowColumns, request: SearchRequest) -> int:
    """Return the start of the lines that were not shown and may be needed by the next part."""
    shown = rows.ends[-1] if rows.ends else 0
    if request.passthru:
        return len(data)
    return start_of_lines_before(data, len(data), request.before, shown)


def batches(found: Iterable[FileRows], totals: Totals) -> Iterator[Batch]:
    """Join files into batches as they come, and count them in `totals`.

    Raises:
        OutOfTime: `found` raised it; the files before are yielded in a batch first.
    """
    waiting: list[FileRows] = []
    size = 0
    try:
        for file in found:
            waiting.append(file)
            size += len(file.rows)
            if len(waiting) == BATCH_FILES or size > BATCH_ROWS:
                yield counted(gather(waiting), totals)
                waiting, size = [], 0
    except OutOfTime:
        if waiting:
            yield counted(gather(waiting), totals)
        raise
    if waiting:
        yield counted(gather(waiting), totals)


def counted(batch: Batch, totals: Totals) -> Batch:
    """Add a batch to the totals and return it."""
    totals.files_matched += len(batch.paths)
    totals.lines += int(batch.counts.sum())
    return batch


def gather(files: Iterable[FileRows]) -> Batch:
    """Join the rows of several files into one batch with only the text that they need."""
    kept = list(files)
    sizes = [len(file.rows) for file in kept]
    rows = np.empty(sum(sizes), ROW)
    texts: list[bytes] = []
    shifts: list[int] = []
    at = size = 0
    ends: dict[int, int] = {}
    first_reads: dict[int, int] = {}
    for number, (file, count) in enumerate(zip(kept, sizes, strict=True)):
        mine, text, ahead = file.rows, file.text, file.ahead
        first = last = 0
        if file.first_read != stray.FIRST_READ:
            first_reads[number] = file.first_read
        if count:
            rows[at : at + count] = mine
            first, last = int(mine["begin"][0]), int(mine["end"][-1])
            if ahead:
                last = min(last + ahead, len(text))
                ends[number] = size + last - first
            texts.append(text[first:last])
        shifts.append(size - first)
        at += count
        size += last - first
    shift = np.repeat(np.array(shifts, np.int64), sizes).view(np.uint64)
    rows["begin"] += shift  # modulo 2^64: shifts may be negative
    rows["end"] += shift
    rows["file"] = np.repeat(np.arange(len(kept)), sizes)
    counts = np.array([file.count for file in kept], np.int64)
    nuls = {number: file.nul for number, file in enumerate(kept) if file.nul}
    paths = [file.path for file in kept]
    return Batch(paths, counts, rows, b"".join(texts), nuls, ends, first_reads)
