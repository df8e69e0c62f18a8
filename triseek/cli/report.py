"""The sum of one command's searches: totals, road, freshness, and whether anything failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.model.search import Totals

if TYPE_CHECKING:
    from triseek.engine.search import Search
    from triseek.model.search import Route


class Report:
    """What the searches of one command said about themselves."""

    def __init__(self) -> None:
        self.totals = Totals()
        self.route: Route | None = None
        self.freshness = "unverified"
        self.generation: int | None = None
        self.notes: tuple[str, ...] = ()
        self.root = b""
        self.matched = False
        self.faulty = False
        """A file or operand could not be read."""

    def add(self, search: Search, root: bytes) -> None:
        """Take in a finished search."""
        mine, its = self.totals, search.totals
        mine.files_searched += its.files_searched
        mine.files_matched += its.files_matched
        mine.lines += its.lines
        mine.bytes_searched += its.bytes_searched
        mine.truncated = mine.truncated or its.truncated
        mine.skipped.extend(its.skipped)
        mine.incomplete = mine.incomplete or its.incomplete
        mine.elapsed_ms += its.elapsed_ms
        if its.dirty is not None:
            mine.dirty = (mine.dirty or 0) + its.dirty
        self.route = search.route
        self.freshness = search.freshness
        self.generation = search.generation
        self.notes += tuple(note for note in search.notes if note not in self.notes)
        self.root = self.root or root
