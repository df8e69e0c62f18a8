"""What comes before the text of a line: path, line number, column and byte offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.cli.render.color import RESET

if TYPE_CHECKING:
    from triseek.cli.render.look import Look


class Prelude:
    """The preludes of one file: for matches, and for lines of context."""

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


def _escaped(text: bytes) -> bytes:
    return text.replace(b"%", b"%%")
