"""The grep-like format: `path:line:text`, with all of ripgrep's variations, byte for byte.

There are three code paths. If no match needs to be located (no colour, no column, no -o …), the
rows of a file are formatted in one comprehension: 200,000 lines take a fraction of a second. If
nothing stands between files either, as in a pipe, so are the rows of many files: otherwise
thousands with a line or two each would cost more to print than to find. In all other cases
`render.rows` writes each row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from triseek.cli.render.file_matches import Renderer, RowLists, line_spans
from triseek.cli.render.rows import RowWriter, escaped
from triseek.engine.search.backends.file import detail
from triseek.terminal.command_context import Output

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.cli.render.file_matches import FileMatches
    from triseek.cli.render.replace import Replacer
    from triseek.cli.render.rows import Prelude
    from triseek.cli.render.style import OutputStyle
    from triseek.engine.search.backends.base import Batch, Nul


class Standard(Renderer):
    """Renderer that writes rows as lines."""

    def __init__(self, look: OutputStyle, out: Output, replacer: Replacer | None = None) -> None:
        super().__init__()
        self._look = look
        self._out = out
        self._rows = RowWriter(look, replacer, self.counts)
        self._unpainted = None
        if look.stats and look.palette and look.palette.reset:
            # Statistics count what is printed without its colours.
            plain = replace(look, palette=look.palette.unseen())
            self._unpainted = Standard(plain, Output(lambda _: None), replacer)
        self._bulk = not (self._rows.locates or look.trim or look.max_columns is not None)
        self.is_plain = self._bulk and not (
            look.heading or look.context or look.file_separator is not None
        )

    def batch(self, batch: Batch, shown: Callable[[bytes], bytes]) -> None:
        """Write the rows of many files, as `file` does for each; for rows of single lines only.

        shown: Returns the path to show for a file.
        """
        if len(batch.rows):
            text = b"".join(_all_filled(self._rows.prelude, batch, shown))
            self._out.write(text)
            self.counts.bytes_printed += len(text)
        super().batch(batch, shown)

    def file(self, file: FileMatches) -> None:
        """Write the rows of one file, after the separator from the file before."""
        before, nul = self._out.written, file.nul
        shown = file if nul is None else file._replace(rows=file.rows.part(0, nul.shown))
        if len(shown.rows):
            self._out.write(self._opening(file.path))
            rows = self._formatted(shown) if self._bulk else self._rows.rows(shown, self._gap())
            self._out.write(rows)
        if nul is not None:
            self._end_binary(file, nul)
        super().file(file)
        self.counts.bytes_printed += self._out.written - before
        if self._unpainted:
            self._unpainted.file(file)
            self.counts.bytes_printed = self._unpainted.counts.bytes_printed

    def _end_binary(self, file: FileMatches, nul: Nul) -> None:
        """Write the message for the rows behind a NUL; statistics count the first of these rows."""
        if nul.gap and (separator := self._gap()) is not None:
            self._out.write(separator)
        if file.hits:
            named = self._look.colored_path(file.path) + b": " if self._look.path else b""
            self._out.write(named + detail(nul).encode() + b"\n")
        hidden = file._replace(rows=file.rows.part(nul.shown, nul.shown + 1))
        if len(hidden.rows) and self._rows.locates:
            self._rows.rows(hidden, None)  # only to be counted

    def _opening(self, path: bytes) -> bytes:
        look, opening = self._look, b""
        if look.file_separator is not None and self._out.written:
            opening = look.file_separator + look.line_end
        if look.heading and look.path:
            opening += look.colored_path(path) + (look.path_terminator or look.line_end)
        return opening

    def _gap(self) -> bytes | None:
        """Return the separator of rows that are not adjacent; None for none."""
        look = self._look
        if not look.context or look.context_separator is None:
            return None
        return look.context_separator + look.line_end

    # In bulk

    def _formatted(self, file: FileMatches) -> bytes:
        rows, text = file.rows, file.text
        if file.multiline:
            rows = _single_lines(rows, text)
        lines = _filled(self._rows.prelude, file.path, text, rows)
        self._mark_gaps(lines, rows)
        last = rows.ends[-1]
        if text[last - 1 : last] != b"\n":  # only a file's last line can lack its end
            lines.append(self._look.line_end)
        return b"".join(lines)

    def _mark_gaps(self, lines: list[bytes], rows: RowLists) -> None:
        """Put the separator before each line that is not adjacent to the one before."""
        separator = self._gap()
        if separator is None:
            return
        expected = rows.offsets[0]
        columns = zip(rows.offsets, rows.begins, rows.ends, strict=True)
        for place, (offset, begin, end) in enumerate(columns):
            if offset != expected:
                lines[place] = separator + lines[place]
            expected = offset + end - begin


def _filled(prelude: Prelude, path: bytes, text: bytes, rows: RowLists) -> list[bytes]:
    """Format all lines of a file; the loops of every plain search are here."""
    texts = [text[begin:end] for begin, end in zip(rows.begins, rows.ends, strict=True)]
    figures, leads = prelude.figures(rows), prelude.leads(path)
    if not figures and True not in rows.contexts:
        return [leads[0] + line for line in texts]
    forms = [escaped(lead) + prelude.form(kind) + b"%b" for kind, lead in enumerate(leads)]
    values = zip(*figures, texts, strict=True)
    if True in rows.contexts:
        return [forms[kind] % value for kind, value in zip(rows.contexts, values, strict=True)]
    form = forms[0]
    return [form % value for value in values]


def _all_filled(prelude: Prelude, batch: Batch, shown: Callable[[bytes], bytes]) -> list[bytes]:
    """Format all lines of a batch."""
    rows, text = RowLists.of(batch.rows), batch.text
    owners = batch.rows["file"]
    of_files = [prelude.leads(shown(path))[0] for path in batch.paths]
    texts = [text[begin:end] for begin, end in zip(rows.begins, rows.ends, strict=True)]
    _end_all(texts, owners, prelude.look.line_end)
    figures = prelude.figures(rows)
    leads = [of_files[owner] for owner in owners.tolist()]
    if not figures:
        return [lead + line for lead, line in zip(leads, texts, strict=True)]
    form = b"%b" + prelude.form() + b"%b"
    return [form % value for value in zip(leads, *figures, texts, strict=True)]


def _end_all(texts: list[bytes], owners: np.ndarray, line_end: bytes) -> None:
    """Add a line end to the last line of each file if it has none."""
    last = np.flatnonzero(np.append(owners[1:] != owners[:-1], True))
    for place in last.tolist():
        if not texts[place].endswith(b"\n"):
            texts[place] += line_end


def _single_lines(rows: RowLists, text: bytes) -> RowLists:
    """Split the rows of a multi-line search into single lines."""
    lines = RowLists()
    for number, offset, begin, end, context in rows:
        for place, (first, last) in enumerate(line_spans(text[begin:end])):
            lines.numbers.append(number + place)
            lines.offsets.append(offset + first)
            lines.begins.append(begin + first)
            lines.ends.append(begin + last)
            lines.contexts.append(context)
    return lines
