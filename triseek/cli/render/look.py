"""How results should look: every decision made, nothing left to ask the terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from triseek.cli.render.color import Palette


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What `cli.resolve` decided about the output."""

    path: bool
    """Show paths."""
    heading: bool = False
    """Show the path once, above the rows of its file, instead of on every row."""
    line_number: bool = False
    column: bool = False
    byte_offset: bool = False
    only_matching: bool = False
    per_match: bool = False
    """One row per match (--vimgrep)."""
    trim: bool = False
    max_columns: int | None = None
    """Longest line shown, in bytes, its terminator included."""
    max_columns_preview: bool = False
    context_separator: bytes | None = b"--"
    """Between rows that do not touch; `None`: nothing, not even a line."""
    match_separator: bytes = b":"
    field_context_separator: bytes = b"-"
    file_separator: bytes | None = None
    """Between files; `None`: nothing."""
    path_terminator: bytes = b""
    """NUL for --null."""
    path_separator: bytes = b""
    """One byte shown instead of `/`."""
    line_end: bytes = b"\n"
    palette: Palette | None = None
    """Colours; `None`: none at all."""
    replacement: bytes | None = None
    context: bool = False
    """Lines of context were asked for, so gaps are marked."""
    invert: bool = False
    """Rows are what does not match, so matches are in the context."""
    stats: bool = False
    clip: int = 0
    """In triseek's own terminal view: most characters shown of a line; 0: all."""

    def shown_path(self, path: bytes) -> bytes:
        """The path in the separators asked for."""
        return path.replace(b"/", self.path_separator) if self.path_separator else path

    def colored_path(self, path: bytes) -> bytes:
        """The path in its separators and colour."""
        shown = self.shown_path(path)
        return self.palette.path(shown) if self.palette else shown
