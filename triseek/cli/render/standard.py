"""The grep-like format: `path:line:text`, with all of ripgrep's variations, byte for byte.

Two ways through. When no match needs to be located (no colour, no column, no -o …) the rows of
a file are formatted in one comprehension: 200,000 lines are a fraction of a second. Otherwise
each row is taken apart; that half follows ripgrep's printer case by case, its oddities included
(the count of matches in a trimmed, over-long line, the column of a multi-line match), because
scripts compare bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.color import RESET
from triseek.cli.render.found import Counts
from triseek.cli.render.graphemes import prefix_length

if TYPE_CHECKING:
    import numpy as np

    from triseek.cli.render.found import Found
    from triseek.cli.render.look import Look
    from triseek.cli.render.output import Output
    from triseek.cli.render.replace import Replacer
    from triseek.query.pattern import Pattern

Span = tuple[int, int]
SPACE = b"\t\n\x0b\x0c\r "


class Standard:
    """Writes rows as lines."""

    def __init__(self, look: Look, out: Output, replacer: Replacer | None = None) -> None:
        self.counts = Counts()
        self.look = look
        self._out = out
        self.replacer = replacer
        self.colors = look.palette if look.palette and look.palette.marks else None
        self.locates = bool(
            self.colors
            or look.column
            or look.per_match
            or look.only_matching
            or look.stats
            or replacer
        )
        self._bulk = not (self.locates or look.trim or look.max_columns is not None or look.clip)

    def file(self, found: Found) -> None:
        """Write the rows of one file, after whatever separates it from the one before."""
        before = self._out.written
        if len(found.rows):
            self._out.write(self._opening(found.path))
            if self._bulk:
                self._out.write(self._formatted(found))
            else:
                self._out.write(self._taken_apart(found))
        if found.binary_at is not None:
            self._out.write(self._binary_note(found))
        self.counts.files_matched += found.count > 0
        self.counts.bytes_printed += self._out.written - before

    def _opening(self, path: bytes) -> bytes:
        look, opening = self.look, b""
        if look.file_separator is not None and self._out.written:
            opening = look.file_separator + look.line_end
        if look.heading and look.path:
            opening += look.colored_path(path) + (look.path_terminator or look.line_end)
        return opening

    def _binary_note(self, found: Found) -> bytes:
        if not found.count:
            return b""
        named = self.look.colored_path(found.path) + b": " if self.look.path else b""
        return named + b'binary file matches (found "\\0" byte around offset %d)\n' % (
            found.binary_at
        )

    # In bulk

    def _formatted(self, found: Found) -> bytes:
        rows, text = found.rows, found.text
        prelude = _Prelude(self.look, found.path)
        numbers, offsets = rows["number"].tolist(), rows["offset"].tolist()
        begins, ends = rows["begin"].tolist(), rows["end"].tolist()
        contexts = rows["context"].tolist()
        if self.look.multiline:
            numbers, offsets, begins, ends, contexts = _single_lines(rows, text)
        if not numbers:
            return b""
        lines = _fill(prelude, text, numbers, offsets, begins, ends, contexts)
        self._mark_gaps(lines, offsets, begins, ends)
        if text[ends[-1] - 1 : ends[-1]] != b"\n":  # only a file's last line can lack its end
            lines.append(self.look.line_end)
        return b"".join(lines)

    def _mark_gaps(
        self, lines: list[bytes], offsets: list[int], begins: list[int], ends: list[int]
    ) -> None:
        """Put the separator before each line that does not touch the one before."""
        look = self.look
        if not look.context or look.context_separator is None:
            return
        separator = look.context_separator + look.line_end
        expected = offsets[0]
        for place, offset in enumerate(offsets):
            if offset != expected:
                lines[place] = separator + lines[place]
            expected = offset + ends[place] - begins[place]

    # Row by row

    def _taken_apart(self, found: Found) -> bytes:
        look = self.look
        writer = _RowWriter(self, found)
        separator = None
        if look.context and look.context_separator is not None:
            separator = look.context_separator + look.line_end
        expected = -1
        for number, offset, begin, end, context in _values(found.rows):
            if separator is not None and expected not in (-1, offset):
                writer.pieces.append(separator)
            writer.row(found.text[begin:end], number, offset, context=context)
            expected = offset + end - begin
        self.counts.matches += writer.matches
        self.counts.matched_lines += writer.matched_lines
        return b"".join(writer.pieces)


class _Prelude:
    """What comes before the text of a line: path, line number, column and byte offset."""

    def __init__(self, look: Look, path: bytes) -> None:
        self.look = look
        shown = look.colored_path(path) if look.path and not look.heading else b""
        self.paths = [
            shown + (look.path_terminator or separator) if shown else b""
            for separator in (look.match_separator, look.field_context_separator)
        ]
        self.separators = [look.match_separator, look.field_context_separator]
        line_on = look.palette.line_on if look.palette else b""
        column_on = look.palette.column_on if look.palette else b""
        reset = RESET if look.palette else b""
        self._numbers = [line_on + b"%d" + reset + _escaped(each) for each in self.separators]
        self._columns = [column_on + b"%d" + reset + _escaped(each) for each in self.separators]

    def formats(self) -> list[bytes]:
        """For `%` with number, offset and text, as far as they are shown: match, context."""
        made = []
        for kind in (0, 1):
            number = self._numbers[kind] if self.look.line_number else b""
            offset = self._columns[kind] if self.look.byte_offset else b""
            made.append(_escaped(self.paths[kind]) + number + offset + b"%b")
        return made

    def written(self, number: int, column: int | None, offset: int, *, context: bool) -> bytes:
        """The prelude of one line."""
        look, kind = self.look, int(context)
        made = self.paths[kind]
        if look.line_number:
            made += self._numbers[kind] % number
        if look.column and column is not None:
            made += self._columns[kind] % column
        if look.byte_offset:
            made += self._columns[kind] % offset
        return made


class _RowWriter:
    """Writes the rows of one file that need their matches located, or their text cut."""

    def __init__(self, printer: Standard, found: Found) -> None:
        self.pieces: list[bytes] = []
        self.matches = 0
        self.matched_lines = 0
        self._look = printer.look
        self._colors = printer.colors
        self._locates = printer.locates
        self._replacer = printer.replacer
        self._pattern: Pattern = found.pattern
        self._prelude = _Prelude(self._look, found.path)
        # The row at hand, as ripgrep's printer has it.
        self._spans: list[Span] = []
        self._original: list[Span] = []
        self._context = False
        self._painting = False

    def row(self, line: bytes, number: int, offset: int, *, context: bool) -> None:
        """Write one row: a line, or in multi-line mode a run of lines."""
        look = self._look
        self._context = context
        self._spans = self._original = self._located(line)
        if not context:
            self.matches += len(self._spans)
            self.matched_lines += _line_count(line)
        if self._replacer and self._spans:
            trimmed = line if look.multiline else line[: self._trimmed(line, 0, len(line))]
            line, self._spans = self._replacer.replaced(trimmed, self._spans)
        several = look.multiline and not context
        if not self._spans:
            self._plain_rows(line, number, offset, several=several)
        elif several:
            self._marked_lines(line, number, offset)
        else:
            self._marked_row(line, number, offset)

    def _located(self, line: bytes) -> list[Span]:
        """The matches in a row; a line that was chosen for not matching has none."""
        look = self._look
        if not self._locates or self._context is not look.invert:
            return []
        upto = len(line) if look.multiline else self._trimmed(line, 0, len(line))
        return [span for span in self._pattern.spans(line[:upto]) if span[0] < len(line)]

    def _plain_rows(self, line: bytes, number: int, offset: int, *, several: bool) -> None:
        if not several:
            self._prefix(number, None, offset)
            self._write_line(line)
            return
        for place, (begin, end) in enumerate(_steps(line)):
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
            for span in self._spans:
                self._first_line_of(span, text, number, offset)
            return
        cursor = [0]
        for place, (begin, end) in enumerate(_steps(text)):
            self._prefix(number + place, self._spans[0][0] + 1, offset + begin)
            begin = self._untrimmed(text, begin, end)
            if self._too_long(end - begin):
                self._write_exceeded(text, begin, end, self._spans, cursor)
            else:
                self._paint(text, begin, end, self._spans, cursor)
                self.pieces.append(look.line_end)

    def _only_matching_lines(self, text: bytes, number: int, offset: int) -> None:
        spans, cursor = self._spans, [0]
        for place, (begin, end) in enumerate(_steps(text)):
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

    def _first_line_of(self, span: Span, text: bytes, number: int, offset: int) -> None:
        """--vimgrep shows a match of several lines by its first."""
        for place, (begin, end) in enumerate(_steps(text)):
            if begin >= span[1]:
                break
            if end <= span[0]:
                continue
            self._prefix(number + place, max(0, span[0] - begin) + 1, offset + begin)
            end = self._trimmed(text, begin, end)
            begin = self._untrimmed(text, begin, end)
            if self._too_long(end - begin):
                self._write_exceeded(text, begin, end, [span], [0])
                continue
            first, last = max(begin, span[0]), min(end, span[1])
            if first < last:
                self.pieces += [text[begin:first], self._painted(text[first:last]), text[last:end]]
            else:
                self.pieces.append(text[begin:end])
            self.pieces.append(self._look.line_end)
            break

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
        if not spans or not self._colors:
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
        """Touching matches are painted in one stroke, as ripgrep does."""
        if on is not self._painting and self._colors:
            self.pieces.append(self._colors.match_on if on else RESET)
            self._painting = on

    def _painted(self, text: bytes) -> bytes:
        return self._colors.match_on + text + RESET if self._colors else text

    def _write_exceeded(
        self, text: bytes, begin: int, end: int, spans: list[Span], cursor: list[int]
    ) -> None:
        look = self._look
        if look.max_columns_preview:
            upto = begin + prefix_length(text[begin:end], look.max_columns or 0)
            self._paint(text, begin, upto, spans, cursor)
            rest = sum(1 for span in spans if upto <= span[0] < end)
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
        """The end of a line without its terminator."""
        if end > begin and text[end - 1] == 0x0A:
            end -= 1
            if self._look.line_end == b"\r\n" and end > 0 and text[end - 1] == 0x0D:
                end -= 1
        return end

    def _untrimmed(self, text: bytes, begin: int, end: int) -> int:
        """The beginning of a line, for --trim without its white space."""
        if not self._look.trim:
            return begin
        space = bytes(byte for byte in SPACE if byte not in self._look.line_end)
        return end - len(text[begin:end].lstrip(space))


def _values(rows: np.ndarray) -> zip[tuple[int, int, int, int, bool]]:
    return zip(
        rows["number"].tolist(),
        rows["offset"].tolist(),
        rows["begin"].tolist(),
        rows["end"].tolist(),
        rows["context"].tolist(),
        strict=True,
    )


def _fill(
    prelude: _Prelude,
    text: bytes,
    numbers: list[int],
    offsets: list[int],
    begins: list[int],
    ends: list[int],
    contexts: list[bool],
) -> list[bytes]:
    """Format all lines of a file: the loops under every plain search, one per combination."""
    look, formats = prelude.look, prelude.formats()
    spans = zip(begins, ends, strict=True)
    if True in contexts:
        chosen = [formats[context] for context in contexts]
    else:
        chosen = [formats[0]] * len(contexts)
    if look.line_number and look.byte_offset:
        return [
            form % (number, offset, text[begin:end])
            for form, number, offset, (begin, end) in zip(
                chosen, numbers, offsets, spans, strict=True
            )
        ]
    if look.line_number or look.byte_offset:
        figures = numbers if look.line_number else offsets
        return [
            form % (figure, text[begin:end])
            for form, figure, (begin, end) in zip(chosen, figures, spans, strict=True)
        ]
    if True in contexts:
        return [
            prelude.paths[context] + text[begin:end]
            for context, (begin, end) in zip(contexts, spans, strict=True)
        ]
    prefix = prelude.paths[0]
    return [prefix + text[begin:end] for begin, end in spans]


def _single_lines(
    rows: np.ndarray, text: bytes
) -> tuple[list[int], list[int], list[int], list[int], list[bool]]:
    """The rows of a multi-line search, each line by itself."""
    columns: tuple[list[int], list[int], list[int], list[int], list[bool]] = ([], [], [], [], [])
    for number, offset, begin, end, context in _values(rows):
        for place, (first, last) in enumerate(_steps(text[begin:end])):
            line = (number + place, offset + first, begin + first, begin + last, context)
            for column, value in zip(columns, line, strict=True):
                column.append(value)  # type: ignore[arg-type]
    return columns


def _steps(text: bytes) -> list[Span]:
    """Where each line begins and ends, its terminator included."""
    steps, begin = [], 0
    while begin < len(text):
        end = text.find(b"\n", begin) + 1 or len(text)
        steps.append((begin, end))
        begin = end
    return steps


def _line_count(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n"))


def _escaped(text: bytes) -> bytes:
    return text.replace(b"%", b"%%")
