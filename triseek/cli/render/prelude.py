"""What comes before the text of a line: path, line number, column and byte offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.cli.render.file_matches import RowLists
    from triseek.cli.render.style import OutputStyle


class PreludeStyle:
    """The common parts of the preludes of all files, in pairs: for matches, for context."""

    def __init__(self, look: OutputStyle) -> None:
        self.look = look
        self.separators = (look.field_match_separator, look.field_context_separator)
        line_on = look.palette.line_on if look.palette else b""
        column_on = look.palette.column_on if look.palette else b""
        reset = look.palette.reset if look.palette else b""
        self.numbers = [
            line_on + b"%d" + reset + _escaped(separator) for separator in self.separators
        ]
        self.columns = [
            column_on + b"%d" + reset + _escaped(separator) for separator in self.separators
        ]
        """Formats for `%`: a line number, and a column or offset, each with its separator."""

    def lead(self, path: bytes, kind: int = 0) -> bytes:
        """Return the path and what follows it: before matches, or (1) before context."""
        look = self.look
        if not look.path or look.heading:
            return b""
        return look.colored_path(path) + (look.path_terminator or self.separators[kind])


class Prelude:
    """The preludes of one file."""

    def __init__(self, style: PreludeStyle, path: bytes) -> None:
        self._style = style
        self._look = style.look
        self.paths = (style.lead(path), style.lead(path, 1))

    def figures(self, rows: RowLists) -> list[list[int]]:
        """Return the columns of numbers that are shown."""
        shown = [rows.numbers] if self._look.line_number else []
        return [*shown, rows.offsets] if self._look.byte_offset else shown

    def formats(self) -> list[bytes]:
        """Return the formats for `%` with the values of `figures` and the text."""
        kinds = enumerate(self.paths)
        return [_escaped(path) + self.format_of_figures(kind) + b"%b" for kind, path in kinds]

    def format_of_figures(self, kind: int = 0) -> bytes:
        """Return the format for `%` with the values of `figures`: of matches, or (1) of context."""
        look, style = self._look, self._style
        return style.numbers[kind] * look.line_number + style.columns[kind] * look.byte_offset

    def written(self, number: int, column: int | None, offset: int, *, context: bool) -> bytes:
        """Return the prelude of one line."""
        look, style, kind = self._look, self._style, int(context)
        prelude = self.paths[kind]
        if look.line_number:
            prelude += style.numbers[kind] % number
        if look.column and column is not None:
            prelude += style.columns[kind] % column
        if look.byte_offset:
            prelude += style.columns[kind] % offset
        return prelude


def _escaped(text: bytes) -> bytes:
    return text.replace(b"%", b"%%")
