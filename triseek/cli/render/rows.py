"""Write rows one by one: matches located, coloured and replaced, text cut to length.

This half of the grep-like format follows ripgrep's printer case by case, its oddities included
(the count of matches in a trimmed, over-long line, the column of a multi-line match), because
scripts compare bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from triseek.cli.render.clip import clipped, prefix_length
from triseek.cli.render.file_matches import (
    line_count,
    line_spans,
    located,
    may_hold_matches,
    seen_with,
)
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.cli.render.file_matches import FileMatches, RowLists, SearchCounts, Span
    from triseek.cli.render.replace import Replacer
    from triseek.cli.render.style import OutputStyle

SPACE = b"\t\n\x0b\x0c\r "
"""What --trim removes; never the line's own end."""


class Prelude:
    """The preludes of all lines of a search. Of pairs, the second is for lines of context."""

    def __init__(self, look: OutputStyle) -> None:
        self.look = look
        self._separators = (look.field_match_separator, look.field_context_separator)
        palette = look.palette
        line_on, column_on = (palette.line_on, palette.column_on) if palette else (b"", b"")
        ends = [(palette.reset if palette else b"") + escaped(text) for text in self._separators]
        self._numbers = [line_on + b"%d" + end for end in ends]
        self._columns = [column_on + b"%d" + end for end in ends]
        """Formats for `%`: a line number, and a column or offset, each with its separator."""

    def leads(self, path: bytes) -> tuple[bytes, bytes]:
        """Return a path and what follows it: before matches, before context."""
        look = self.look
        if not look.path or look.heading:
            return b"", b""
        shown, (match, context) = look.colored_path(path), self._separators
        return shown + (look.path_terminator or match), shown + (look.path_terminator or context)

    def figures(self, rows: RowLists) -> list[list[int]]:
        """Return the columns of numbers that are shown."""
        shown = [rows.numbers] if self.look.line_number else []
        return [*shown, rows.offsets] if self.look.byte_offset else shown

    def form(self, kind: int = 0) -> bytes:
        """Return the format for `%` with the values of `figures`: of matches, or (1) of context."""
        look = self.look
        return self._numbers[kind] * look.line_number + self._columns[kind] * look.byte_offset

    def fields(self, number: int, column: int | None, offset: int, *, context: bool) -> bytes:
        """Return what comes between the path and the text of one line."""
        look, kind, fields = self.look, int(context), b""
        if look.line_number:
            fields += self._numbers[kind] % number
        if look.column and column is not None:
            fields += self._columns[kind] % column
        if look.byte_offset:
            fields += self._columns[kind] % offset
        return fields


def escaped(text: bytes) -> bytes:
    """Return a text that is itself in a format for `%`."""
    return text.replace(b"%", b"%%")


class RowWriter:
    """Writes rows that need their matches located, or their text cut."""

    def __init__(self, look: OutputStyle, replacer: Replacer | None, counts: SearchCounts) -> None:
        """Create a writer.

        counts: To which the matches and matching lines are added.
        """
        self.prelude = Prelude(look)
        self.locates = bool(
            (look.palette and look.palette.marks)
            or look.column
            or look.per_match
            or look.only_matching
            or look.stats
            or look.clip
            or replacer
        )
        """Whether anything needs to know where in a line the matches are."""
        self._look = look
        self._replacer = replacer
        self._counts = counts
        self._file: FileMatches
        self._leads = (b"", b"")
        self._pieces: list[bytes] = []
        # The current row, as ripgrep's printer has it.
        self._spans: list[Span] = []
        self._original: list[Span] = []
        self._context = False

    def rows(self, file: FileMatches, gap: bytes | None) -> bytes:
        """Return the rows of a file as they are shown.

        gap: Separator of rows that are not adjacent; None for none.
        """
        self._file, self._leads, self._pieces = file, self.prelude.leads(file.path), []
        expected = -1
        for number, offset, begin, end, context in file.rows:
            budget.check()  # a file may have any number of rows, and the client may have left
            if gap is not None and expected not in (-1, offset):
                self._pieces.append(gap)
            self._context = context
            self._row(file.text[begin:end], number, offset)
            expected = offset + end - begin
        return b"".join(self._pieces)

    def _row(self, line: bytes, number: int, offset: int) -> None:
        """Write one row: a line, or in multi-line mode a run of lines."""
        look, file, context = self._look, self._file, self._context
        line_end, spans = look.line_end, []
        if self.locates and may_hold_matches(context=context, invert=look.invert):
            spans = located(file, line, offset, line_end=line_end, context=context)
        self._original = spans
        if not context:
            self._counts.matches += len(spans)
            self._counts.matched_lines += line_count(line)
        if self._replacer and spans:
            window = seen_with(file, line, offset, line_end=line_end, context=context)
            end = len(line) if file.multiline else len(window.text) - window.first
            replaced, spans = self._replacer.replaced(window, None if file.multiline else spans)
            line = replaced + line[end:]  # a line keeps its own end
        if look.clip and not file.multiline:
            line, spans = clipped(line, spans, look.clip)
        self._spans = spans
        lines = line_spans(line) if file.multiline and not context else [(0, len(line))]
        if not spans:
            for place, (begin, end) in enumerate(lines):
                self._prefix(number + place, None, offset + begin)
                self._write_line(line[begin:end])
        elif file.multiline and not context:
            self._marked_lines(line, lines, number, offset)
        else:
            self._marked_row(line, number, offset)

    def _marked_row(self, line: bytes, number: int, offset: int) -> None:
        look = self._look
        if not (look.only_matching or look.per_match):
            self._prefix(number, self._spans[0][0] + 1, offset)
            self._write_marked(line, self._spans)
            return
        for begin, end in self._spans:
            self._prefix(number, begin + 1, offset + begin)
            if look.only_matching:
                self._write_marked(line[begin:end], [(0, end - begin)])
            else:
                self._write_marked(line, [(begin, end)])

    def _marked_lines(self, text: bytes, lines: list[Span], number: int, offset: int) -> None:
        if self._look.per_match and not self._look.only_matching:
            self._first_lines(text, lines, number, offset)
            return
        for place, (begin, end) in enumerate(lines):
            if self._look.only_matching:
                end = self._trimmed(text, begin, end)
                begin = self._untrimmed(text, begin, end)
                for (first, _), shown in _overlaps(self._spans, begin, end):
                    self._prefix(number + place, first + 1, offset + first)
                    self._write_part(text, *shown, self._spans)
            else:
                self._prefix(number + place, self._spans[0][0] + 1, offset + begin)
                begin = self._untrimmed(text, begin, end)
                self._write_part(text, begin, end, self._spans)

    def _first_lines(self, text: bytes, lines: list[Span], number: int, offset: int) -> None:
        """Show a match of several lines by its first that is not too long (--vimgrep)."""
        ends = [end for _, end in lines]
        for span in self._spans:
            for place in range(bisect_right(ends, span[0]), len(lines)):
                begin, end = lines[place]
                if begin >= span[1]:
                    break
                self._prefix(number + place, max(0, span[0] - begin) + 1, offset + begin)
                end = self._trimmed(text, begin, end)
                if self._write_part(text, self._untrimmed(text, begin, end), end, [span]):
                    break

    # Pieces

    def _prefix(self, number: int, column: int | None, offset: int) -> None:
        context = self._context
        fields = self.prelude.fields(number, column, offset, context=context)
        self._pieces.append(self._leads[context] + fields)

    def _write_line(self, line: bytes) -> None:
        line = line[self._untrimmed(line, 0, len(line)) :]
        if self._too_long(len(line)):
            self._write_exceeded(line, 0, len(line), self._spans)
            return
        self._pieces.append(line)
        if not line.endswith(b"\n"):
            self._pieces.append(self._look.line_end)

    def _write_marked(self, line: bytes, spans: list[Span]) -> None:
        palette = self._look.palette
        if not (palette and palette.marks):
            self._write_line(line)
            return
        begin = self._untrimmed(line, 0, len(line))
        self._write_part(line, begin, len(line), spans, length=len(line))

    def _write_part(
        self, text: bytes, begin: int, end: int, spans: list[Span], length: int | None = None
    ) -> bool:
        """Write `text[begin:end]`; return False if it is too long and omitted.

        length: The length that counts, if it is another.
        """
        if self._too_long(end - begin if length is None else length):
            self._write_exceeded(text, begin, end, spans)
            return False
        self._paint(text, begin, end, spans)
        self._pieces.append(self._look.line_end)
        return True

    def _paint(self, text: bytes, begin: int, end: int, spans: list[Span]) -> None:
        """Write `text[begin:end]` without its line end, matches in colour.

        The colour stays on between adjacent matches, as in ripgrep.
        """
        end = self._trimmed(text, begin, end)
        palette, painting = self._look.palette, False
        if palette is None:
            self._pieces.append(text[begin:end])
            return
        for _, (first, last) in _overlaps(spans, begin, end):
            if first > begin or not painting:
                self._pieces += [palette.reset * painting, text[begin:first], palette.match_on]
            self._pieces.append(text[first:last])
            begin, painting = last, True
        if painting:
            self._pieces.append(palette.reset)
        self._pieces.append(text[begin:end])

    def _write_exceeded(self, text: bytes, begin: int, end: int, spans: list[Span]) -> None:
        look = self._look
        if look.max_columns_preview:
            upto = begin + prefix_length(text[begin:end], look.max_columns or 0)
            self._paint(text, begin, upto, spans)
            rest = bisect_left(spans, (end,)) - bisect_left(spans, (upto,))
            self._pieces.append(
                b" [... %d more %b]" % (rest, b"match" if rest == 1 else b"matches")
                if spans
                else b" [... omitted end of long line]"
            )
        elif self._original and not look.only_matching:
            self._pieces.append(b"[Omitted long line with %d matches]" % len(self._original))
        else:
            kind = b"context" if self._context else b"matching"
            self._pieces.append(b"[Omitted long %b line]" % kind)
        self._pieces.append(look.line_end)

    def _too_long(self, length: int) -> bool:
        limit = self._look.max_columns
        return limit is not None and length > limit

    def _trimmed(self, text: bytes, begin: int, end: int) -> int:
        """Return the end of a line without its terminator."""
        if end > begin and text[end - 1] == 0x0A:
            end -= 1
            if self._look.line_end == b"\r\n" and end > 0 and text[end - 1] == 0x0D:
                end -= 1
        return end

    def _untrimmed(self, text: bytes, begin: int, end: int) -> int:
        """Return the beginning of a line, with --trim behind its leading white space."""
        if not self._look.trim:
            return begin
        space = bytes(byte for byte in SPACE if byte not in self._look.line_end)
        return end - len(text[begin:end].lstrip(space))


def _overlaps(spans: list[Span], begin: int, end: int) -> Iterator[tuple[Span, Span]]:
    """Yield each match that has a part in `begin` to `end`, and that part."""
    for place in range(bisect_right(spans, begin, key=itemgetter(1)), len(spans)):
        span = spans[place]
        if span[0] >= end:
            return
        first, last = max(span[0], begin), min(span[1], end)
        if first < last:
            yield span, (first, last)
