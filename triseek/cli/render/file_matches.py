"""The input of a renderer: the rows of one file, with the path to show."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from triseek.engine.search.backends import spanning
from triseek.query.stray import FIRST_READ, sees_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from triseek.engine.search.backends.base import Batch, Nul
    from triseek.query.pattern import Pattern


Span = tuple[int, int]


@dataclass(slots=True)
class RowLists:
    """The columns of `ROW` (see engine/search/backends/base.py) as lists, row by row.

    A batch is converted to lists once, not file by file: that alone would be half of the time it
    takes to print many small files.
    """

    numbers: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    contexts: list[bool] = field(default_factory=list)

    @classmethod
    def of(cls, rows: np.ndarray) -> RowLists:
        """Return the rows of a batch."""
        fields = ("number", "offset", "begin", "end", "context")
        return cls(*(rows[name].tolist() for name in fields))

    def part(self, first: int, last: int) -> RowLists:
        """Return the rows from `first` up to `last`."""
        return RowLists(
            self.numbers[first:last],
            self.offsets[first:last],
            self.begins[first:last],
            self.ends[first:last],
            self.contexts[first:last],
        )

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[tuple[int, int, int, int, bool]]:
        """Number, offset, begin, end and context of each row."""
        columns = (self.numbers, self.offsets, self.begins, self.ends, self.contexts)
        return zip(*columns, strict=True)


class FileMatches(NamedTuple):
    """The matches of one file, ready to be shown."""

    path: bytes
    """The path as it is shown to the user."""
    rows: RowLists
    text: bytes
    """The text that the rows index."""
    hits: int
    """Number of matching lines, or of matches if those were requested."""
    pattern: Pattern | None
    """The pattern searched for; None if there is nothing to locate."""
    nul: Nul | None = None
    """The NUL byte behind which no row is shown; None for text."""
    size: int = 0
    """Bytes searched in this file; 0 if not requested."""
    multiline: bool = False
    """A match may span lines, so a row may be several lines."""
    text_end: int = 0
    """With `multiline`: offset in `text` where the part of the file that a match may see ends."""
    first_read: int = FIRST_READ
    """Bytes that ripgrep reads of the file first, or another value of `query.stray`."""


def located(
    file: FileMatches, line: bytes, offset: int, *, line_end: bytes, context: bool = False
) -> list[Span]:
    r"""Return the spans of the matches in a row, as ripgrep's printer locates them again.

    A line is searched without its terminator, so that `$` and `\s*` stop before it; an empty match
    at the very end of an unterminated line cannot be shown. If matches may span lines, a row is
    searched together with what surrounds it in its file, but a line of context (`-v`) by itself.

    offset: Offset of the row in its file's text.
    """
    if file.pattern is None:
        return []
    if file.multiline:
        window = seen_with(file, line, offset, line_end=line_end, context=context)
        spans = spanning.located(window, file.pattern)
        return [(first, min(last, len(line))) for first, last in spans]
    end = _bare_length(line, line_end)
    literals = file.pattern.literals
    if len(literals) == 1 and literals[0]:
        return _occurrences(line, literals[0], end)
    behind_line = not context and sees_back(line, offset, file.first_read)
    spans = file.pattern.spans(line[:end], behind_line=behind_line)
    return [span for span in spans if span[0] < len(line)]


def may_hold_matches(*, context: bool, invert: bool) -> bool:
    r"""Return whether ripgrep's printer looks for matches in a row.

    With `-v` even a selected row may hold a match: after `-m` ripgrep selects rows without a
    search, and a line may match only without its LF (`(?R:$)` behind a CR).
    """
    return invert or not context


def seen_with(
    file: FileMatches, line: bytes, offset: int, *, line_end: bytes, context: bool = False
) -> spanning.SpanWindow:
    """Return the text that the search for the matches in a row sees; see `located`."""
    if file.multiline:
        begin = file.rows.begins[bisect_left(file.rows.offsets, offset)]
        end = begin + len(line)
        ahead = line if context else file.text[begin : max(end, file.text_end)]
        return spanning.seen_with_row(ahead, len(line), at_start=context or offset == 0)
    end = _bare_length(line, line_end)
    if not context and sees_back(line, offset, file.first_read):
        return spanning.SpanWindow(b"\n" + line[:end], 1, len(line))
    return spanning.SpanWindow(line[:end], 0, len(line))


def _bare_length(line: bytes, line_end: bytes) -> int:
    """Return the length of a line without its terminator."""
    if line.endswith(b"\n"):
        return len(line) - (2 if line_end == b"\r\n" and line.endswith(b"\r\n") else 1)
    return len(line)


def _occurrences(line: bytes, literal: bytes, end: int) -> list[Span]:
    """Return the spans of a literal: what `Pattern.spans` returns, without a call per line."""
    spans, size = [], len(literal)
    at = line.find(literal, 0, end)
    while at >= 0:
        spans.append((at, at + size))
        at = line.find(literal, at + size, end)
    return spans


@dataclass(slots=True)
class SearchCounts:
    """ripgrep's statistics, added up as files are shown."""

    matches: int = 0
    matched_lines: int = 0
    files_matched: int = 0
    bytes_printed: int = 0


class Renderer:
    """Shows the files of a search, one after the other; this one shows nothing (-q)."""

    is_plain = False
    """Whether `batch` may be used: its output is the same as that of `file`."""

    def __init__(self) -> None:
        self.counts = SearchCounts()

    def file(self, file: FileMatches) -> None:
        """Show the matches of one file."""
        self.counts.files_matched += file.hits > 0

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:  # noqa: ARG002
        """Show the matches of many files at once; `shown` returns the path to show for a file."""
        self.counts.files_matched += int((batch.counts > 0).sum())


def line_spans(text: bytes) -> list[Span]:
    """Return where each line begins and ends, its terminator included."""
    spans, begin = [], 0
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        spans.append((begin, end))
        begin = end
    return spans


def line_count(text: bytes) -> int:
    """Return the number of lines; the last one may lack its terminator."""
    return text.count(b"\n") + (not text.endswith(b"\n"))
