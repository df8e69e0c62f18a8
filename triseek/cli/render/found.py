"""What a renderer is given: the rows of one file, under the name to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    import numpy as np

    from triseek.query.pattern import Pattern


class Found(NamedTuple):
    """What was found in one file, ready to be shown."""

    path: bytes
    """As the user will see it."""
    rows: np.ndarray
    """`ROW`s, see engine/backends/base.py."""
    text: bytes
    """What the rows index."""
    count: int
    pattern: Pattern
    binary_at: int | None = None
    """Offset of the NUL because of which the rows may be cut short; `None`: text."""
    size: int = 0
    """Bytes searched in this file; 0 when nobody asked."""


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
