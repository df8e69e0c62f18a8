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

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triseek.engine.search.backends import spanning
from triseek.engine.search.backends.base import Batch, FileRows
from triseek.errors import OutOfTime
from triseek.kernels.formats import ROW
from triseek.query import stray
from triseek.query.pattern import with_pattern
from triseek.query.regex.syntax import Assertion, Bytes, Chars, fold
from triseek.query.trigrams import literals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from triseek.model.search import SearchRequest, Totals
    from triseek.query.pattern import Pattern
    from triseek.query.regex.syntax import Node

NEWLINE = 10
NEEDLES_MAX = 4
"""Searching for up to this many strings is faster than running RE2 over a text."""
NO_ROWS = np.empty(0, ROW)
BATCH_FILES = 64
BATCH_ROWS = 10_000


class Span(NamedTuple):
    """One or more whole lines of a text: `text[begin:end]`."""

    begin: int
    end: int


@dataclass(slots=True)
class Progress:
    """State carried from one part of a text to the next."""

    owed: int = 0
    """Lines still to be shown after the last match."""
    count: int = 0
    """Matching rows so far (mode `count_matches` and multiline counts: matches)."""
    hits: int = 0
    """Matching rows so far; `max_count` limits this."""
    done: bool = False
    """Whether `max_count` was reached and nothing more is owed."""
    first_read: int = stray.FIRST_READ
    """Bytes that ripgrep reads of the file first, or another value of `query.stray`."""


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


def rows_of(
    data: bytes,
    pattern: Pattern,
    request: SearchRequest,
    *,
    first_line: int = 1,
    offset: int = 0,
    first_read: int = stray.FIRST_READ,
) -> tuple[np.ndarray, int]:
    """Return the rows of a whole text (`ROW`, `file` 0, `begin`/`end` into `data`) and its count.

    `first_line` and `offset` are the position of the text in its file. Modes without lines have
    no rows; `files` and `files_without_match` count at most 1.
    """
    progress = Progress(first_read=first_read)
    rows = extract(data, 0, pattern, request, progress)
    if not rows.begins:
        return NO_ROWS, progress.count
    return as_array(rows, data, request, first_line, offset), progress.count


def extract(
    data: bytes,
    start: int,
    pattern: Pattern,
    request: SearchRequest,
    progress: Progress,
) -> RowColumns:
    """Search `data[start:]` and return its rows; lines before `start` can only be context.

    `progress` comes from the part before, whose lines `data[:start]` were not shown. Parts are
    whole lines. For a pattern that may span lines there is only one part.
    """
    rows = RowColumns()
    if request.mode != "lines":
        _tally(data, start, pattern, request, progress)
        return rows
    if spans_lines(pattern, request):
        for begin, end, context in spanning.sunk(data, pattern, request):
            rows.add(begin, end, context=context)
            progress.count += not context
        return rows
    spans = hits(data, pattern, request, start)
    if request.before or request.after or request.passthru:
        by_line = request.passthru or pattern.sees_text_ends
        _show(spans, data, rows, request, progress, by_line=by_line)
    else:
        _show_matches(spans, rows, request, progress)
    return rows


def limit_reached_at(rows: np.ndarray, pattern: Pattern, request: SearchRequest) -> int | None:
    """Return the offset in its file at which `max_count` ended a search for lines.

    rows: `ROW`, all rows of one file.

    None if the search went on to the end of the file. With `invert`, ripgrep searches for the next
    match before it stops; its position cannot be derived from the rows, so None is returned.
    """
    if request.max_count is None or request.invert or request.passthru:
        return None
    matching = np.flatnonzero(~rows["context"])
    if len(matching) < request.max_count or spans_lines(pattern, request):
        return None
    if len(rows) - 1 - matching[request.max_count - 1] < request.after:
        return None
    last = rows[matching[-1]]
    return int(last["offset"] + last["end"] - last["begin"])


def hits(data: bytes, pattern: Pattern, request: SearchRequest, start: int = 0) -> Iterator[Span]:
    """Yield matching lines in order; with `invert`, the lines that do not match."""
    matching = _matching_lines(data, pattern, request, start)
    return _other_lines(data, matching, start) if request.invert else matching


def spans_lines(pattern: Pattern, request: SearchRequest) -> bool:
    """Return whether a match may depend on other lines, so the text must be searched whole.

    As in ripgrep, `-U` alone is not enough: a pattern that can neither match a newline nor assert
    one is searched line by line.
    """
    return request.pattern.multiline and _sees_newline(pattern)


@with_pattern
def _sees_newline(pattern: Pattern) -> bool:
    """Return whether a pattern can match a newline or assert line or text boundaries."""
    return fold(pattern.tree, _newline_here)


def _newline_here(node: Node, below: list[bool]) -> bool:
    if isinstance(node, Chars | Bytes):
        return any(low <= NEWLINE <= high for low, high in node.ranges)
    return any(below) or (isinstance(node, Assertion) and node.kind.startswith(("text_", "line_")))


def _matching_lines(
    data: bytes, pattern: Pattern, request: SearchRequest, start: int
) -> Iterator[Span]:
    """Yield every matching line of `data[start:]`, in order."""
    if pattern.matches_every_line:
        return each_line(data, start, len(data))
    if not pattern.literals:
        needles = _required(pattern)
        if needles and not any(needle in data for needle in needles):
            return iter(())
        crlf = pattern.sees_crlf or (pattern.spec.crlf and not pattern.spec.multiline)
        alone = request.passthru and (pattern.spec.crlf or crlf or stray.looks_back(pattern))
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


def each_line(data: bytes, begin: int, end: int) -> Iterator[Span]:
    """Yield the lines between two line starts."""
    find = data.find
    while begin < end:
        stop = find(b"\n", begin, end) + 1 or end
        yield Span(begin, stop)
        begin = stop


def _tally(
    data: bytes, start: int, pattern: Pattern, request: SearchRequest, progress: Progress
) -> None:
    """Count rows, or the matches in them, as far as the mode needs."""
    only_whether = request.mode in ("files", "files_without_match")
    limit = 1 if only_whether else request.max_count
    if _takes_all_lines(pattern, request):
        _tally_lines(data, start, limit, progress)
        return
    if limit is not None and request.after and not only_whether:
        _tally_with_owed(data, start, pattern, request, progress)
        return
    # If matches may span lines, `max_count` limits the matches that are searched for.
    bounded = limit is not None and (only_whether or not spans_lines(pattern, request))
    for count in _counts(data, start, pattern, request, progress.first_read):
        progress.hits += 1
        progress.count += 1 if only_whether else count
        if bounded and progress.hits == limit:
            progress.done = True
            return


def _tally_with_owed(
    data: bytes, start: int, pattern: Pattern, request: SearchRequest, progress: Progress
) -> None:
    """Count up to `max_count`, then also the matches in the lines `after` the last match."""
    before = progress.count
    rows = extract(data, start, pattern, replace(request, mode="lines"), progress)
    places = zip(rows.begins, rows.ends, rows.context, strict=True)
    matching = [(begin, end) for begin, end, context in places if not context]
    progress.count = before + sum(
        _matches_of_row(data, begin, end, pattern, request, progress.first_read)
        for begin, end in matching
    )


def _matches_of_row(
    data: bytes, begin: int, end: int, pattern: Pattern, request: SearchRequest, first_read: int
) -> int:
    """Return how much a row adds to the count: 1, or the number of its matches."""
    if spans_lines(pattern, request):
        # A row whose match depends on the text before it may show no match.
        seen = data[begin : end + spanning.LOOK_AHEAD]
        row = spanning.seen_with_row(seen, end - begin, at_start=begin == 0)
        return max(1, len(spanning.located(row, pattern)))
    if request.mode == "count_matches" and not request.invert:
        return matches_in(data[begin:end], pattern, offset=begin, first_read=first_read)
    return 1


def _takes_all_lines(pattern: Pattern, request: SearchRequest) -> bool:
    """Return whether counting matching lines means counting all lines."""
    counts_matches = request.mode == "count_matches"
    plain = not (request.invert or counts_matches or request.after or spans_lines(pattern, request))
    return plain and pattern.matches_every_line


def _tally_lines(data: bytes, start: int, limit: int | None, progress: Progress) -> None:
    """Count all lines, up to a limit."""
    count = data.count(b"\n", start) + (len(data) > start and data[-1] != NEWLINE)
    if limit is not None:
        count = min(count, limit - progress.hits)
        progress.done = progress.hits + count == limit
    progress.hits += count
    progress.count += count


def _counts(
    data: bytes, start: int, pattern: Pattern, request: SearchRequest, first_read: int
) -> Iterator[int]:
    """Yield how much each row adds to the count."""
    spans: Iterator[Span]
    if spans_lines(pattern, request):
        rows = spanning.sunk(data, pattern, request)
        spans = (Span(row.begin, row.end) for row in rows if not row.context)
    else:
        spans = hits(data, pattern, request, start)
    return (_matches_of_row(data, begin, end, pattern, request, first_read) for begin, end in spans)


def matches_in(
    line: bytes, pattern: Pattern, *, offset: int, first_read: int = stray.FIRST_READ
) -> int:
    r"""Count the matches in a matching line, at least one.

    ripgrep leaves out an empty match at the very end of a text, and matches that it does not find
    again when it sees the lines before (`\A`). But a matching line counts as at least one.
    """
    text = body(line, crlf=pattern.spec.crlf)
    spans = pattern.spans(text, behind_line=stray.sees_back(line, offset, first_read))
    return max(1, sum(begin < len(line) for begin, _ in spans))


def _show_matches(
    spans: Iterator[Span], rows: RowColumns, request: SearchRequest, progress: Progress
) -> None:
    """Collect matching rows if no context is requested."""
    begins, ends = rows.begins, rows.ends
    room = None if request.max_count is None else request.max_count - progress.hits
    for begin, end in spans:
        begins.append(begin)
        ends.append(end)
        if len(begins) == room:
            progress.done = True
            break
    rows.context = [False] * len(begins)
    progress.hits += len(begins)
    progress.count += len(begins)


def _show(
    spans: Iterator[Span],
    data: bytes,
    rows: RowColumns,
    request: SearchRequest,
    progress: Progress,
    *,
    by_line: bool,
) -> None:
    """Collect matching rows and the lines around them.

    by_line: Whether ripgrep searches line by line. If so, it searches for no match once `max_count`
    was reached, not even in the lines that are still shown.
    """
    shown = 0
    for begin, end in spans:
        if by_line and progress.hits == request.max_count:
            break
        shown = _show_between(data, rows, request, progress, shown, begin)
        if progress.done:
            return
        rows.add(begin, end, context=False)
        shown = end
        if _count_hit(request, progress):
            return
    if by_line and progress.hits == request.max_count:
        _show_unmatched(data, rows, request, progress, shown)
    else:
        _show_after(data, rows, request, progress, shown, len(data))
        progress.done = _has_enough(request, progress)


def _show_unmatched(
    data: bytes, rows: RowColumns, request: SearchRequest, progress: Progress, shown: int
) -> None:
    """Show the lines from `shown` on, without searching them for the pattern."""
    if not request.invert:
        _show_after(data, rows, request, progress, shown, len(data))
        progress.done = _has_enough(request, progress)
        return
    for line in each_line(data, shown, len(data)):
        rows.add(*line, context=False)
        progress.count += 1


def _count_hit(request: SearchRequest, progress: Progress) -> bool:
    """Count a row that was shown, and return whether it was the last to show.

    After the limit, it only reduces the number of owed lines.
    """
    if progress.hits == request.max_count:
        progress.owed -= 1
    else:
        progress.hits += 1
        progress.count += 1
        progress.owed = 0 if request.passthru else request.after
    progress.done = _has_enough(request, progress)
    return progress.done


def _has_enough(request: SearchRequest, progress: Progress) -> bool:
    """Return whether `max_count` was reached and nothing more is owed."""
    enough = progress.hits == request.max_count and progress.owed <= 0
    return enough and not request.passthru


def _show_between(
    data: bytes,
    rows: RowColumns,
    request: SearchRequest,
    progress: Progress,
    shown: int,
    begin: int,
) -> int:
    """Show the context lines between `shown` and a match at `begin`; return the new end.

    Set `done` if the limit was reached before and no more lines are owed.
    """
    shown = _show_after(data, rows, request, progress, shown, begin)
    if progress.hits == request.max_count:
        progress.done = progress.owed <= 0
        return shown
    if not request.passthru:
        shown = start_of_lines_before(data, begin, request.before, shown)
    for line in each_line(data, shown, begin):
        rows.add(*line, context=True)
    return begin


def _show_after(
    data: bytes, rows: RowColumns, request: SearchRequest, progress: Progress, shown: int, end: int
) -> int:
    """Show the lines owed after the previous match, up to `end`; return where they end."""
    if not (progress.owed or request.passthru):
        return shown
    for line in each_line(data, shown, end):
        if not request.passthru:
            if progress.owed <= 0:
                break
            progress.owed -= 1
        rows.add(*line, context=True)
        shown = line.end
    return shown


def start_of_lines_before(data: bytes, begin: int, count: int, floor: int) -> int:
    """Return where the `count` lines before `begin` start, but not before `floor`."""
    start = begin
    for _ in range(count):
        if start <= floor:
            break
        start = data.rfind(b"\n", floor, start - 1) + 1 or floor
    return start


def as_array(
    rows: RowColumns, data: bytes, request: SearchRequest, first_line: int = 1, offset: int = 0
) -> np.ndarray:
    """Return collected rows as `ROW`, with line numbers if the request needs them."""
    table = np.zeros(len(rows.begins), ROW)
    table["begin"] = rows.begins
    table["end"] = rows.ends
    table["context"] = rows.context
    table["offset"] = table["begin"] + np.uint64(offset)
    if request.line_numbers and rows.begins:
        table["number"] = _numbers(rows.begins, data, first_line)
    return table


def _numbers(begins: list[int], data: bytes, first_line: int) -> np.ndarray:
    """Return the line numbers of ascending line starts, by counting newlines between them."""
    steps = [data.count(b"\n", 0, begins[0])]
    steps += [data.count(b"\n", here, there) for here, there in pairwise(begins)]
    return np.cumsum(np.array(steps, np.uint64)) + np.uint64(first_line)


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
    over: OutOfTime | None = None
    try:
        for file in found:
            waiting.append(file)
            size += len(file.rows)
            if len(waiting) == BATCH_FILES or size > BATCH_ROWS:
                yield counted(gather(waiting), totals)
                waiting, size = [], 0
    except OutOfTime as error:
        over = error
    if waiting:
        yield counted(gather(waiting), totals)
    if over is not None:
        raise over


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
