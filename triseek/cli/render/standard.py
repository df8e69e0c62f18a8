"""The grep-like format: `path:line:text`, with all of ripgrep's variations, byte for byte.

Two ways through. When no match needs to be located (no colour, no column, no -o …) the rows of
a file are formatted in one comprehension: 200,000 lines are a fraction of a second. Otherwise
each row is taken apart by `render.rows`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.found import Counts, line_spans, row_values
from triseek.cli.render.prelude import Prelude
from triseek.cli.render.rows import Painter, RowWriter

if TYPE_CHECKING:
    import numpy as np

    from triseek.cli.render.found import Found
    from triseek.cli.render.look import Look
    from triseek.cli.render.output import Output
    from triseek.cli.render.replace import Replacer


class Standard:
    """Writes rows as lines."""

    def __init__(self, look: Look, out: Output, replacer: Replacer | None = None) -> None:
        self.counts = Counts()
        self._look = look
        self._out = out
        self._painter = Painter(look, replacer)
        self._bulk = not (
            self._painter.locates or look.trim or look.max_columns is not None or look.clip
        )

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
        self.counts.files_matched += found.hits > 0
        self.counts.bytes_printed += self._out.written - before

    def _opening(self, path: bytes) -> bytes:
        look, opening = self._look, b""
        if look.file_separator is not None and self._out.written:
            opening = look.file_separator + look.line_end
        if look.heading and look.path:
            opening += look.colored_path(path) + (look.path_terminator or look.line_end)
        return opening

    def _binary_note(self, found: Found) -> bytes:
        if not found.hits:
            return b""
        named = self._look.colored_path(found.path) + b": " if self._look.path else b""
        return named + b'binary file matches (found "\\0" byte around offset %d)\n' % (
            found.binary_at
        )

    # In bulk

    def _formatted(self, found: Found) -> bytes:
        rows, text = found.rows, found.text
        prelude = Prelude(self._look, found.path)
        numbers, offsets = rows["number"].tolist(), rows["offset"].tolist()
        begins, ends = rows["begin"].tolist(), rows["end"].tolist()
        contexts = rows["context"].tolist()
        if found.multiline:
            numbers, offsets, begins, ends, contexts = _single_lines(rows, text)
        if not numbers:
            return b""
        lines = _fill(prelude, text, numbers, offsets, begins, ends, contexts)
        self._mark_gaps(lines, offsets, begins, ends)
        if text[ends[-1] - 1 : ends[-1]] != b"\n":  # only a file's last line can lack its end
            lines.append(self._look.line_end)
        return b"".join(lines)

    def _mark_gaps(
        self, lines: list[bytes], offsets: list[int], begins: list[int], ends: list[int]
    ) -> None:
        """Put the separator before each line that does not touch the one before."""
        look = self._look
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
        look = self._look
        writer = RowWriter(self._painter, found)
        separator = None
        if look.context and look.context_separator is not None:
            separator = look.context_separator + look.line_end
        expected = -1
        for number, offset, begin, end, context in row_values(found.rows):
            if separator is not None and expected not in (-1, offset):
                writer.pieces.append(separator)
            writer.row(found.text[begin:end], number, offset, context=context)
            expected = offset + end - begin
        self.counts.matches += writer.matches
        self.counts.matched_lines += writer.matched_lines
        return b"".join(writer.pieces)


def _fill(
    prelude: Prelude,
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
    for number, offset, begin, end, context in row_values(rows):
        for place, (first, last) in enumerate(line_spans(text[begin:end])):
            line = (number + place, offset + first, begin + first, begin + last, context)
            for column, value in zip(columns, line, strict=True):
                column.append(value)  # type: ignore[arg-type]
    return columns
