"""Run one search: ask its backend, fall back on others, apply the limit."""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from triseek.engine.search.router import BACKEND_FAILED
from triseek.errors import FallbackFailure, TriseekError
from triseek.model.search import Totals

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from triseek.engine.search.backends.base import Backend, Batch
    from triseek.engine.search.query import Query
    from triseek.model.search import BackendName, Route, SearchRequest

T = TypeVar("T")

FALLBACKS: dict[BackendName, tuple[BackendName, ...]] = {
    "indexed": ("ripgrep", "direct_scan"),
    "ripgrep": ("direct_scan",),
    "direct_scan": ("ripgrep",),
    "zoekt": (),
}
"""The backends to try after one has failed, in this order."""


class Search:
    """One search. Iterate over its batches once; `totals` is complete after the last one.

    Raises while iterating:
        FallbackFailure: More than one backend was tried and all failed.
        TriseekError: The only backend, requested by name, failed; this is its error.
    """

    def __init__(
        self,
        query: Query,
        route: Route,
        backend: Callable[[BackendName], Backend],
        record: Callable[[list[bytes]], None] | None,
    ) -> None:
        """Prepare a search; nothing is read yet.

        backend: Returns the backend of a name. Raises as the backends.
        record: Called at the end with the paths of all files that were yielded; may be None.
        """
        self.query = query
        self.request = query.request
        self.route = route
        self.totals = Totals()
        self._backend = backend
        self._record = record
        self._batches = self._capped(self._from_backends())

    def __iter__(self) -> Iterator[Batch]:
        return self._batches

    def close(self) -> None:
        """Stop the search. Does nothing if it has ended."""
        self._batches.close()

    def _capped(self, batches: Generator[Batch, None, None]) -> Generator[Batch, None, None]:
        """Yield batches up to `limit`. With `count_all`, read on so that totals count the rest."""
        started, left, truncated = time.perf_counter(), self.request.limit, False
        try:
            for batch in batches:
                if left is None:
                    yield batch
                    continue
                kept, used, cut = cut_batch(batch, left, self.request)
                left -= used
                truncated = truncated or cut
                if kept.paths:
                    yield kept
                if truncated and not self.request.count_all:
                    self.totals.incomplete = "stopped at the limit; totals cover what was searched"
                    return
        finally:
            batches.close()
            self.totals.truncated = truncated
            self.totals.elapsed_ms = (time.perf_counter() - started) * 1e3

    def _from_backends(self) -> Generator[Batch, None, None]:
        """Yield all batches; if a backend fails, continue with the next and yield no file twice."""
        yielded: list[bytes] = []
        failures: list[TriseekError] = []
        for name in self._backends():
            if failures:
                self.route = replace(
                    self.route, backend=name, fell_back="; ".join(map(str, failures))
                )
            # A backend without an index reads the current tree.
            self.totals = Totals(freshness="swept")
            already = Counter(yielded)
            try:
                with closing(self._backend(name)(self.query, self.totals)) as batches:
                    for batch in batches:
                        fresh = _without(batch, already) if already else batch
                        yielded += fresh.paths
                        if fresh.paths:
                            yield fresh
            except BACKEND_FAILED as error:
                failures.append(error)
            else:
                if self._record is not None:
                    self._record(yielded)
                return
        if len(failures) == 1:
            raise failures[0]
        raise FallbackFailure(
            "no backend could answer: " + "; ".join(map(str, failures)),
            next_step=failures[-1].next_step,
        )

    def _backends(self) -> tuple[BackendName, ...]:
        """Return the chosen backend and its fallbacks; no fallback if it was requested by name."""
        first = self.route.backend
        return (first,) if self.request.engine != "auto" else (first, *FALLBACKS[first])


def _without(batch: Batch, already: Counter[bytes]) -> Batch:
    """Return the batch without the files already yielded, and remove these from `already`.

    A fallback backend starts from the beginning, so it repeats what the failed one had yielded.
    """
    fresh = np.ones(len(batch.paths), bool)
    for number, path in enumerate(batch.paths):
        if already[path] > 0:
            already[path] -= 1
            fresh[number] = False
    return keep_files(batch, fresh)


def keep_files(batch: Batch, wanted: np.ndarray) -> Batch:
    """Return the batch with only the files selected by `wanted` (bool, one per path)."""
    if wanted.all():
        return batch
    numbers = np.cumsum(wanted) - 1

    def kept(values: dict[int, T]) -> dict[int, T]:
        return {int(numbers[old]): value for old, value in values.items() if wanted[old]}

    rows = batch.rows[wanted[batch.rows["file"]]].copy()
    rows["file"] = numbers[rows["file"]]
    return replace(
        batch,
        paths=[path for path, keep in zip(batch.paths, wanted.tolist(), strict=True) if keep],
        counts=batch.counts[wanted],
        rows=rows,
        nuls=kept(batch.nuls),
        ends=kept(batch.ends),
        first_reads=kept(batch.first_reads),
    )


def cut_batch(batch: Batch, left: int, request: SearchRequest) -> tuple[Batch, int, bool]:
    """Cut a batch to `left` results; return it, how many it used and whether anything was cut.

    The limit counts matching rows, or files in the modes without rows.
    """
    if request.mode != "lines":
        keep = np.arange(len(batch.paths)) < left
        return keep_files(batch, keep), int(keep.sum()), not keep.all()
    matches = np.flatnonzero(~batch.rows["context"])
    if len(matches) <= left:
        return batch, len(matches), False
    if left == 0:
        return keep_files(batch, np.zeros(len(batch.paths), bool)), 0, True
    last = int(matches[left - 1])
    stop = last + 1
    file = batch.rows["file"][last]
    owed = int(matches[left]) if request.passthru else min(int(matches[left]), stop + request.after)
    while stop < owed and _follows(batch.rows, stop) and batch.rows["file"][stop] == file:
        stop += 1
    rows = batch.rows[:stop]
    counts = batch.counts.copy()
    counts[file] = int(np.count_nonzero(~rows["context"][rows["file"] == file]))
    nuls = {number: nul for number, nul in batch.nuls.items() if number < file}
    kept = replace(batch, counts=counts, rows=rows, nuls=nuls)
    return keep_files(kept, np.arange(len(batch.paths)) <= file), left, True


def _follows(rows: np.ndarray, number: int) -> bool:
    """Return whether a row directly follows the one before it in the file."""
    before = rows[number - 1]
    return bool(before["offset"] + before["end"] - before["begin"] == rows["offset"][number])
