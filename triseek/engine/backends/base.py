"""The contract every road meets, and the one shape of what it finds.

A road yields `Batch`es: a few files each, in path order (component by component, as
`rg --sort path` orders), rows in line order. The same request gives the same rows on every
road; `tests/contracts/backend.py` holds each of them to that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from triseek.kernels.rows import ROW
from triseek.query.stray import FIRST_READ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.model.search import BackendName, SearchRequest, Totals
    from triseek.query.pattern import Pattern


class Nul(NamedTuple):
    """What ripgrep says of a file because of a NUL byte it has met (`engine.backends.binary`)."""

    offset: int
    """Where the first NUL stands that was met."""
    stopped: bool
    """Whether the search ended there; else NULs count as line ends and the file is searched on."""
    shown: int
    """Rows that come before the NUL was met. There are more only if the request asked for them
    (`past_nul`)."""
    searched: int
    """Bytes that ripgrep says it searched, in its statistics."""
    gap: bool = False
    """Whether the first row behind those, in a search with context, does not touch the last."""


class FileRows(NamedTuple):
    """The rows of one file."""

    path: bytes
    """Relative to the root, `/`-separated, raw bytes as the file system has them."""
    rows: np.ndarray
    """`ROW`; empty when only counts were asked for."""
    text: bytes
    """What `begin` and `end` index."""
    count: int  # type: ignore[assignment] # hides tuple.count, which nobody calls
    """Matching lines (`count_matches`: matches) in this file, `max_count` applied."""
    nul: Nul | None = None
    """None for text, and where the mode has no rows."""
    ahead: int = 0
    """Bytes of `text` behind the last row that matches in it may see; rows then lie in `text` as
    they do in the file."""
    first_read: int = FIRST_READ
    """Bytes that ripgrep reads of the file first, or another value of `query.stray`."""


@dataclass(slots=True)
class Batch:
    """What was found in a few files."""

    paths: list[bytes]
    """Files with at least one matching line (mode `files_without_match`: without)."""
    counts: np.ndarray
    """int64, one per path."""
    rows: np.ndarray = field(default_factory=lambda: np.empty(0, ROW))
    text: bytes = b""
    nuls: dict[int, Nul] = field(default_factory=dict)
    """By number of the path: what is to be said of those that are binary."""
    ends: dict[int, int] = field(default_factory=dict)
    """By number of the path, where matches may span lines: where the file's part of `text` ends."""
    first_reads: dict[int, int] = field(default_factory=dict)
    """By number of the path: `FileRows.first_read` where it is not `FIRST_READ`."""

    def files(self) -> Iterator[FileRows]:
        """Take the batch apart, file by file."""
        bounds = np.searchsorted(self.rows["file"], np.arange(len(self.paths) + 1))
        edges = bounds.tolist()
        for number, (path, count) in enumerate(zip(self.paths, self.counts.tolist(), strict=True)):
            rows = self.rows[edges[number] : edges[number + 1]]
            end = self.ends.get(number)
            ahead = 0 if end is None or not len(rows) else end - int(rows["end"][-1])
            first = self.first_reads.get(number, FIRST_READ)
            yield FileRows(path, rows, self.text, count, self.nuls.get(number), ahead, first)


class Backend(Protocol):
    """One way to answer a request. Raises `BackendFailure` when it cannot."""

    name: BackendName

    def search(self, request: SearchRequest, pattern: Pattern, totals: Totals) -> Iterator[Batch]:
        """Yield what matches in path order, and fill `totals` as it goes.

        `request.limit` is applied by the caller (`engine.search`), which stops iterating;
        closing the iterator must stop all work.
        """
        ...
