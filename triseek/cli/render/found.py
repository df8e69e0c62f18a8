"""What a renderer is given: the rows of one file, under the name to show."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from triseek.engine.backends import spanning
from triseek.query.stray import FIRST_READ, sees_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

    from triseek.engine.backends.base import Batch, Nul
    from triseek.query.pattern import Pattern


Span = tuple[int, int]


class Rows:
    """The columns of `ROW` (see engine/backends/base.py) as lists, row by row.

    A batch is turned into lists once, not file by file: that alone is half of the time it takes
    to print many small files.
    """

    __slots__ = ("begins", "contexts", "ends", "numbers", "offsets")

    def __init__(
        self,
        numbers: list[int],
        offsets: list[int],
        begins: list[int],
        ends: list[int],
        contexts: list[bool],
    ) -> None:
        self.numbers = numbers
        self.offsets = offsets
        self.begins = begins
        self.ends = ends
        self.contexts = contexts

    @classmethod
    def of(cls, rows: np.ndarray) -> Rows:
        """The rows of a batch."""
        fields = ("number", "offset", "begin", "end", "context")
        return cls(*(rows[name].tolist() for name in fields))

    @classmethod
    def none(cls) -> Rows:
        """No rows."""
        return cls([], [], [], [], [])

    def part(self, first: int, last: int) -> Rows:
        """The rows from `first` up to `last`."""
        return Rows(
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


class Found(NamedTuple):
    """What was found in one file, ready to be shown."""

    path: bytes
    """As the user will see it."""
    rows: Rows
    text: bytes
    """What the rows index."""
    hits: int
    """Matching lines, or matches where those were asked for."""
    pattern: Pattern | None
    """What was searched for; `None` where there is nothing to locate."""
    nul: Nul | None = None
    """The NUL byte behind which no row is shown; `None`: text."""
    size: int = 0
    """Bytes searched in this file; 0 when nobody asked."""
    multiline: bool = False
    """A match may span lines, so a row may be several lines."""
    text_end: int = 0
    """And then: where what a match may see of the file ends in `text`."""
    first_read: int = FIRST_READ
    """Bytes that ripgrep reads of the file first, or another value of `query.stray`."""


def located(
    found: Found, line: bytes, offset: int, *, line_end: bytes, context: bool = False
) -> list[Span]:
    r"""Where in a row the matches are, as ripgrep's printer finds them again.

    A line is searched without its end, so that `$` and `\s*` stop before it; what matches
    nothing at the very end of an unfinished line cannot be shown. Where matches span lines, a row
    is searched as it stands in its file, but a line of context (`-v`) by itself.

    offset: of the row in its file's text.
    """
    if found.pattern is None:
        return []
    if found.multiline:
        return _located_in_text(found, line, offset, found.pattern, alone=context)
    end = len(line)
    if line.endswith(b"\n"):
        end -= 2 if line_end == b"\r\n" and line.endswith(b"\r\n") else 1
    literals = found.pattern.literals
    if len(literals) == 1 and literals[0]:
        return _occurrences(line, literals[0], end)
    behind_line = not context and sees_back(line, offset, found.first_read)
    spans = found.pattern.spans(line[:end], behind_line=behind_line)
    return [span for span in spans if span[0] < len(line)]


def may_hold_matches(*, context: bool, invert: bool) -> bool:
    r"""Return whether ripgrep's printer looks for matches in a row.

    With `-v` even a chosen row may have one: behind `-m` ripgrep chooses rows without a search, and
    a line may match without its LF alone (`(?R:$)` behind a CR).
    """
    return invert or not context


def seen_with(
    found: Found, line: bytes, offset: int, *, line_end: bytes, context: bool = False
) -> spanning.Seen:
    """Return what the search for the matches in a row sees; see `located`."""
    if found.multiline:
        begin = found.rows.begins[bisect_left(found.rows.offsets, offset)]
        end = begin + len(line)
        ahead = line if context else found.text[begin : max(end, found.text_end)]
        return spanning.seen_with_row(ahead, len(line), at_start=context or offset == 0)
    end = len(line)
    if line.endswith(b"\n"):
        end -= 2 if line_end == b"\r\n" and line.endswith(b"\r\n") else 1
    if not context and sees_back(line, offset, found.first_read):
        return spanning.Seen(b"\n" + line[:end], 1, len(line))
    return spanning.Seen(line[:end], 0, len(line))


def _located_in_text(
    found: Found, line: bytes, offset: int, pattern: Pattern, *, alone: bool
) -> list[Span]:
    seen = seen_with(found, line, offset, line_end=b"\n", context=alone)
    spans = spanning.located(seen, pattern)
    return [(first, min(last, len(line))) for first, last in spans]


def _occurrences(line: bytes, literal: bytes, end: int) -> list[Span]:
    """Where a plain text stands: what `Pattern.spans` says, without asking it line by line."""
    spans, size = [], len(literal)
    at = line.find(literal, 0, end)
    while at >= 0:
        spans.append((at, at + size))
        at = line.find(literal, at + size, end)
    return spans


class Counts:
    """ripgrep's statistics, added up as files are shown."""

    def __init__(self) -> None:
        self.matches = 0
        self.matched_lines = 0
        self.files_matched = 0
        self.bytes_printed = 0


class Renderer(Protocol):
    """Shows the files of a search, one after the other."""

    counts: Counts

    def file(self, found: Found) -> None:
        """Show what was found in one file."""
        ...


@runtime_checkable
class BulkRenderer(Protocol):
    """A renderer that can show the files of a batch at once, where that looks no different."""

    counts: Counts

    @property
    def is_plain(self) -> bool:
        """Whether it looks no different."""
        ...

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Show what was found; `shown` says under which path."""
        ...


def line_spans(text: bytes) -> list[Span]:
    """Where each line begins and ends, its terminator included."""
    steps, begin = [], 0
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        steps.append((begin, end))
        begin = end
    return steps


def line_count(text: bytes) -> int:
    """How many lines, the last one with or without its end."""
    return text.count(b"\n") + (not text.endswith(b"\n"))
