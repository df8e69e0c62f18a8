"""Write rows one by one: matches located, coloured and replaced, text cut to length.

This half of the grep-like format follows ripgrep's printer case by case, its oddities included
(the count of matches in a trimmed, over-long line, the column of a multi-line match), because
scripts compare bytes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from triseek.cli.render.clip import clipped, prefix_length
from triseek.cli.render.file_matches import (
    line_count,
    line_spans,
    located,
    may_hold_matches,
    seen_with,
)
from triseek.cli.render.prelude import Prelude, PreludeStyle

if TYPE_CHECKING:
    from triseek.cli.render.file_matches import FileMatches, Span
    from triseek.cli.render.replace import Replacer
    from triseek.cli.render.style import OutputStyle
    from triseek.engine.search.backends.spanning import SpanWindow

SPACE = b"\t\n\x0b\x0c\r "
"""What --trim removes; never the line's own end."""


class Painter:
    """Settings for writing rows one by one that all files of a search share."""

    def __init__(self, look: OutputStyle, replacer: Replacer | None) -> None:
        self.look = look
        self.style = PreludeStyle(look)
        self.replacer = replacer
        self.colors = look.palette if look.palette and look.palette.marks else None
        self.locates = bool(
            self.colors
            or look.column
            or look.per_match
            or look.only_matching
            or look.stats
            or look.clip
            or replacer
        )
        """Whether anything needs to know where in a line the matches are."""


class RowWriter:
    """Writes the rows of one file that need their matches located, or their text cut."""

    def __init__(self, painter: Painter, file: FileMatches) -> None:
        self.pieces: list[bytes] = []
        self.matches = 0
        self.matched_lines = 0
        self._look = painter.look
        self._colors = painter.colors
        self._locates = painter.locates
        self._replacer = painter.replacer
        self._file = file
        self._multiline = file.multiline
        self._prelude = Prelude(painter.style, file.path)
        # The current row, as ripgrep's printer has it.
        self._spans: list[Span] = []
        self._original: list[Span] = []
        self._context = False
        self._painting = False

    def row(self, line: bytes, number: int, offset: int, *, context: bool) -> None:
        """Write one row: a line, or in multi-line mode a run of lines."""
        look = self._look
        self._context = context
        self._spans = self._original = self._located(line, offset)
        if not context:
            self.matches += len(self._spans)
            self.matched_lines += line_count(line)
        if self._replacer and self._spans:
            window = self._seen(line, offset)
            end = len(line) if self._multiline else len(window.text) - window.first
            spans = None if self._multiline else self._spans
            replaced, self._spans = self._replacer.replaced(window, spans)
            line = replaced + line[end:]  # a line keeps its own end
        if look.clip and not self._multiline:
            line, self._spans = clipped(line, self._spans, look.clip)
        several = self._multiline and not context
        if not self._spans:
            self._plain_rows(line, number, offset, several=several)
        elif several:
            self._marked_lines(line, number, offset)
        else:
            self._marked_row(line, number, offset)

    def _located(self, line: bytes, offset: int) -> list[Span]:
        """Return the matches in a row."""
        look, context = self._look, self._context
        if not self._locates or not may_hold_matches(context=context, invert=look.invert):
            return []
        return located(self._file, line, offset, line_end=look.line_end, context=context)

    def _seen(self, line: bytes, offset: int) -> SpanWindow:
        """Return the text that the search for the matches in a row sees."""
        end, context = self._look.line_end, self._context
        return seen_with(self._file, line, offset, line_end=end, context=context)

    def _plain_rows(self, line: bytes, number: int, offset: int, *, several: bool) -> None:
        if not several:
            self._prefix(number, None, offset)
            self._write_line(line)
            return
        for place, (begin, end) in enumerate(line_spans(line)):
            self._prefix(number + place, None, offset + begin)
            self._write_line(line[begin:end])

    def _marked_row(self, line: bytes, number: int, offset: int) -> None:
        look = self._look
        if look.only_matching:
            for begin, end in self._spans:
                self._prefix(number, begin + 1, offset + begin)
                self._write_marked(line[begin:end], [(0, end - begin)])
        elif look.per_match:
            for begin, end in self._spans:
                self._prefix(number, begin + 1, offset + begin)
                self._write_marked(line, [(begin, end)])
        else:
            self._prefix(number, self._spans[0][0] + 1, offset)
            self._write_marked(line, self._spans)

    def _marked_lines(self, text: bytes, number: int, offset: int) -> None:
        look = self._look
        if look.only_matching:
            self._only_matching_lines(text, number, offset)
            return
        if look.per_match:
            self._first_lines(text, number, offset)
            return
        cursor = [0]
        for place, (begin, end) in enumerate(line_spans(text)):
            self._prefix(number + place, self._spans[0][0] + 1, offset + begin)
            begin = self._untrimmed(text, begin, end)
            if self._too_long(end - begin):
                self._write_exceeded(text, begin, end, self._spans, cursor)
            else:
                self._paint(text, begin, end, self._spans, cursor)
                self.pieces.append(look.line_end)

    def _only_matching_lines(self, text: bytes, number: int, offset: int) -> None:
        spans, cursor = self._spans, [0]
        for place, (begin, end) in enumerate(line_spans(text)):
            end = self._trimmed(text, begin, end)
            begin = self._untrimmed(text, begin, end)
            while begin < end:
                first, last = spans[cursor[0]]
                if last <= begin:
                    if cursor[0] + 1 == len(spans):
                        break
                    cursor[0] += 1
                elif begin < first:
                    begin = min(end, first)
                else:
                    upto = min(end, last)
                    self._prefix(number + place, first + 1, offset + first)
                    self._write_part(text, begin, upto, cursor)
                    begin = upto

    def _write_part(self, text: bytes, begin: int, end: int, cursor: list[int]) -> None:
        if self._too_long(end - begin):
            self._write_exceeded(text, begin, end, self._spans, cursor)
            return
        self.pieces.append(self._painted(text[begin:end]))
        self.pieces.append(self._look.line_end)

    def _first_lines(self, text: bytes, number: int, offset: int) -> None:
        """Show a match of several lines by its first that is not too long (--vimgrep)."""
        lines = line_spans(text)
        ends = [end for _, end in lines]
        for span in self._spans:
            for place in range(bisect_right(ends, span[0]), len(lines)):
                begin, end = lines[place]
                if begin >= span[1]:
                    break
                self._prefix(number + place, max(0, span[0] - begin) + 1, offset + begin)
                if self._write_first_line(text, begin, end, span):
                    break

    def _write_first_line(self, text: bytes, begin: int, end: int, span: Span) -> bool:
        """Write a line of a match; return False if it is too long and omitted."""
        end = self._trimmed(text, begin, end)
        begin = self._untrimmed(text, begin, end)
        if self._too_long(end - begin):
            self._write_exceeded(text, begin, end, [span], [0])
            return False
        first, last = max(begin, span[0]), min(end, span[1])
        if first < last:
            self.pieces += [text[begin:first], self._painted(text[first:last]), text[last:end]]
        else:
            self.pieces.append(text[begin:end])
        self.pieces.append(self._look.line_end)
        return True

    # Pieces

    def _prefix(self, number: int, column: int | None, offset: int) -> None:
        self.pieces.append(self._prelude.written(number, column, offset, context=self._context))

    def _write_line(self, line: bytes) -> None:
        line = line[self._untrimmed(line, 0, len(line)) :]
        if self._too_long(len(line)):
            self._write_exceeded(line, 0, len(line), self._spans, [0])
            return
        self.pieces.append(line)
        if not line.endswith(b"\n"):
            self.pieces.append(self._look.line_end)

    def _write_marked(self, line: bytes, spans: list[Span]) -> None:
        if not self._colors:
            self._write_line(line)
            return
        begin = self._untrimmed(line, 0, len(line))
        if self._too_long(len(line)):
            self._write_exceeded(line, begin, len(line), spans, [0])
            return
        self._paint(line, begin, len(line), spans, [0])
        self.pieces.append(self._look.line_end)

    def _paint(
        self, text: bytes, begin: int, end: int, spans: list[Span], cursor: list[int]
    ) -> None:
        """Write `text[begin:end]` without its line end, matches in colour."""
        end = self._trimmed(text, begin, end)
        if not spans or not self._look.palette:
            self.pieces.append(text[begin:end])
            return
        while begin < end:
            first, last = spans[cursor[0]]
            if last <= begin:
                if cursor[0] + 1 < len(spans):
                    cursor[0] += 1
                    continue
                self._brush(on=False)
                self.pieces.append(text[begin:end])
                break
            self._brush(on=begin >= first)
            upto = min(end, first if begin < first else last)
            self.pieces.append(text[begin:upto])
            begin = upto
        self._brush(on=False)

    def _brush(self, *, on: bool) -> None:
        """Turn the match colour on or off once for adjacent matches, as ripgrep does."""
        palette = self._look.palette
        if on is not self._painting and palette:
            self.pieces.append(palette.match_on if on else palette.reset)
            self._painting = on

    def _painted(self, text: bytes) -> bytes:
        palette = self._look.palette
        return palette.match_on + text + palette.reset if palette else text

    def _write_exceeded(
        self, text: bytes, begin: int, end: int, spans: list[Span], cursor: list[int]
    ) -> None:
        look = self._look
        if look.max_columns_preview:
            upto = begin + prefix_length(text[begin:end], look.max_columns or 0)
            self._paint(text, begin, upto, spans, cursor)
            rest = bisect_left(spans, (end,)) - bisect_left(spans, (upto,))
            self.pieces.append(
                b" [... %d more %b]" % (rest, b"match" if rest == 1 else b"matches")
                if spans
                else b" [... omitted end of long line]"
            )
        elif self._original and not look.only_matching:
            self.pieces.append(b"[Omitted long line with %d matches]" % len(self._original))
        else:
            kind = b"context" if self._context else b"matching"
            self.pieces.append(b"[Omitted long %b line]" % kind)
        self.pieces.append(look.line_end)

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
