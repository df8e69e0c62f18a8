"""Rows in, bytes out: files of matches made up, and output that stays in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triseek.cli.render.file_matches import FileMatches, RowLists
from triseek.cli.render.standard import Standard
from triseek.engine.search.backends.base import ROW
from triseek.model.search import PatternSpec
from triseek.query.pattern import compile as compile_pattern
from triseek.terminal.command_context import Output

if TYPE_CHECKING:
    from triseek.cli.render.style import OutputStyle


class Kept(Output):
    """Output that stays in memory."""

    def flush(self) -> None:
        pass

    def all(self) -> bytes:
        return b"".join(self._pieces)


PATTERN = compile_pattern(PatternSpec(patterns=("x+",)))


def found_in(text: bytes, chosen: list[int]) -> FileMatches:
    """The chosen lines of a text; those without an x are context."""
    rows, offset = [], 0
    for number, line in enumerate(text.splitlines(keepends=True)):
        end = offset + len(line)
        if number in chosen:
            rows.append((0, number + 1, offset, offset, end, b"x" not in line))
        offset = end
    return FileMatches(b"a%b", RowLists.of(np.array(rows, ROW)), text, len(rows), PATTERN)


def rendered(look: OutputStyle, found: FileMatches) -> bytes:
    out = Kept()
    Standard(look, out).file(found)
    return out.all()
