"""The interface of all backends and the data types of their results.

A backend yields `Batch`es of a few files each, in path order (component by component, as
`rg --sort path` orders), with rows in line order. The same request gives the same rows on every
backend; `tests/contracts/backend.py` tests this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from triseek.kernels.formats import ROW
from triseek.query.stray import FIRST_READ

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from triseek.engine.search.query import Query
    from triseek.model.search import Totals


class Nul(NamedTuple):
    """What ripgrep reports of a file in which it met a NUL byte (see `binary`)."""

    offset: int
    """Offset of the first NUL that was met."""
    stopped: bool
    """Whether the search ended there; if not, NULs count as line ends and the search continues."""
    shown: int
    """Number of rows before the NUL was met. There are more rows only if the request asked for
    them (`past_nul`)."""
    searched: int
    """Bytes that ripgrep reports as searched, in its statistics."""
    gap: bool = False
    """Whether, in a search with context, the first row after those is not adjacent to the last."""


class FileRows(NamedTuple):
    """The rows of one file."""

    path: bytes
    """Path relative to the root, `/`-separated, as raw bytes of the file system."""
    rows: np.ndarray
    """`ROW`; empty if the request asked only for counts."""
    text: bytes
    """The text that `begin` and `end` index."""
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody calls
    """Matching lines (`count_matches`: matches) in this file, `max_count` applied."""
    nul: Nul | None = None
    """None for text files and in modes without rows."""
    ahead: int = 0
    """Bytes of `text` after the last row that matches in it may see. If not 0, rows lie in `text`
    as they do in the file."""
    first_read: int = FIRST_READ
    """Bytes that ripgrep reads of the file first, or another value of `query.stray`."""


@dataclass(slots=True)
class Batch:
    """The results of a few files."""

    paths: list[bytes]
    """Files with at least one matching line (mode `files_without_match`: with none)."""
    counts: np.ndarray
    """int64, one per path."""
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, ROW))
    text: bytes = b""
    nuls: dict[int, Nul] = field(default_factory=dict)
    """For binary files, by number of the path: what to report of their NUL."""
    ends: dict[int, int] = field(default_factory=dict)
    """If matches may span lines, by number of the path: the end of the file's part of `text`."""
    first_reads: dict[int, int] = field(default_factory=dict)
    """By number of the path: `FileRows.first_read`, if it is not `FIRST_READ`."""

    def files(self) -> Iterator[FileRows]:
        """Yield the rows of the batch, file by file."""
        bounds = np.searchsorted(self.rows["file"], np.arange(len(self.paths) + 1))
        edges = bounds.tolist()
        for number, (path, count) in enumerate(zip(self.paths, self.counts.tolist(), strict=True)):
            rows = self.rows[edges[number] : edges[number + 1]]
            end = self.ends.get(number)
            ahead = 0 if end is None or not len(rows) else end - int(rows["end"][-1])
            first = self.first_reads.get(number, FIRST_READ)
            yield FileRows(path, rows, self.text, count, self.nuls.get(number), ahead, first)


Backend: TypeAlias = "Callable[[Query, Totals], Generator[Batch, None, None]]"
"""`backend(query, totals)` yields the results in path order and updates `totals` along the way.

It raises `BackendFailure` if it cannot answer. `request.limit` is applied by the caller
(`engine.search.search`), which stops iterating; closing the iterator must stop all work.
"""
