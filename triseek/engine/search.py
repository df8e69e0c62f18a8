"""search: compile, plan, route, run, fall back, cap."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from triseek.engine.router import choose
from triseek.errors import (
    BackendFailure,
    FallbackFailure,
    FormatTooNew,
    IndexCorrupt,
    IndexUnavailable,
    InvalidQuery,
    TriseekError,
)
from triseek.model.search import Totals
from triseek.query.pattern import compile as compile_pattern
from triseek.query.plan import plan
from triseek.query.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from triseek.engine.backends.base import Backend, Batch
    from triseek.engine.engine import Engine
    from triseek.model.search import BackendName, Freshness, SearchRequest
    from triseek.query.pattern import Pattern

T = TypeVar("T")

FALLBACKS: dict[BackendName, tuple[BackendName, ...]] = {
    "indexed": ("ripgrep", "direct_scan"),
    "ripgrep": ("direct_scan",),
    "direct_scan": ("ripgrep",),
}
"""Which roads are tried after one has failed, in this order."""

ROAD_FAILED = (BackendFailure, IndexCorrupt, IndexUnavailable, FormatTooNew)
"""What another road can make good."""


class Search:
    """One search: iterate over its batches, once; `totals` are complete when there are no more.

    Raises on creation, before anything is read:
        InvalidQuery: The pattern, a glob or a type cannot be understood.
        InvalidRequest: A path leads out of the root.

    Raises while iterating:
        FallbackFailure: Every road failed.
        TriseekError: The one road that was asked for by name failed; its own error.
    """

    def __init__(self, engine: Engine, request: SearchRequest, *, remember: bool = True) -> None:
        self.request = request
        self.pattern: Pattern = compile_pattern(request.pattern)
        if self.pattern.needs_nul and not request.scope.text:
            raise InvalidQuery(
                "the pattern asks for a NUL byte, and a file that holds one is not searched",
                next_step="Add -a (--text) to search binary files as well.",
            )
        Scope.compile(request.scope)  # a bad glob is the user's mistake on every road
        self.plan = plan(self.pattern)
        state = engine.state(request, self.pattern, self.plan)
        self.route = choose(request, self.plan, state)
        self.totals = Totals()
        self._engine = engine
        self._remembers = remember
        self._batches = self._timed(self._capped(self._from_roads()))

    @property
    def freshness(self) -> Freshness:
        """How it is known that the answer is of the tree as it is now."""
        return self.totals.freshness

    @property
    def generation(self) -> int | None:
        """Of the index that answered; None when none did."""
        return self.totals.generation

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of how the pattern was read, one sentence each."""
        return tuple(self.pattern.notes)

    def __iter__(self) -> Iterator[Batch]:
        return self._batches

    def close(self) -> None:
        """Stop all work. Harmless when there is none."""
        self._batches.close()

    def _timed(self, batches: Generator[Batch, None, None]) -> Generator[Batch, None, None]:
        started = time.perf_counter()
        try:
            yield from batches
        finally:
            batches.close()
            self.totals.elapsed_ms = (time.perf_counter() - started) * 1e3

    def _capped(self, batches: Generator[Batch, None, None]) -> Generator[Batch, None, None]:
        """Pass on what `limit` leaves; if asked, go on to the end: totals count what it cut off."""
        left = self.request.limit
        truncated = False
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

    def _from_roads(self) -> Generator[Batch, None, None]:
        """Yield every batch, from another road where one fails, and no file twice."""
        given: list[bytes] = []
        failures: list[TriseekError] = []
        for name in self._roads():
            if failures:
                self.route = replace(
                    self.route, backend=name, fell_back="; ".join(map(str, failures))
                )
            # A road without an index reads the tree itself, as it is now.
            self.totals = Totals(freshness="swept")
            again = Counter(given)
            try:
                for batch in self._from_road(name):
                    fresh = _without(batch, again) if again else batch
                    given += fresh.paths
                    if fresh.paths:
                        yield fresh
            except ROAD_FAILED as error:
                failures.append(error)
            else:
                self._remember(given)
                return
        if len(failures) == 1:
            raise failures[0]
        raise FallbackFailure(
            "no road could answer: " + "; ".join(map(str, failures)),
            next_step=failures[-1].next_step,
        )

    def _remember(self, paths: list[bytes]) -> None:
        if not self._remembers:
            return
        spec = self.request.pattern
        self._engine.remember("|".join(spec.patterns), "literal" if spec.fixed else "regex", paths)

    def _roads(self) -> tuple[BackendName, ...]:
        """The road that was chosen, then those to fall back to; none from one asked for by name."""
        first = self.route.backend
        return (first,) if self.request.engine != "auto" else (first, *FALLBACKS[first])

    def _from_road(self, name: BackendName) -> Iterator[Batch]:
        backend: Backend = self._engine.backend(name)
        batches = backend.search(self.request, self.pattern, self.totals)
        try:
            yield from batches
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()


def _without(batch: Batch, again: Counter[bytes]) -> Batch:
    """Return the batch without files that have been given already; those are struck from `again`.

    A road that takes over begins anew: what an earlier one yielded before it failed comes again.
    """
    fresh = np.ones(len(batch.paths), bool)
    for number, path in enumerate(batch.paths):
        if again[path] > 0:
            again[path] -= 1
            fresh[number] = False
    return keep_files(batch, fresh)


def keep_files(batch: Batch, wanted: np.ndarray) -> Batch:
    """Return the batch with only the files (bool, one per path) that are wanted."""
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
    """Cut a batch to what `limit` leaves; return it, how much it used, and if anything was cut.

    A limit counts what is listed: matching rows; in the modes without rows, files.
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
    """Return whether a row stands directly behind the one before it."""
    before = rows[number - 1]
    return bool(before["offset"] + before["end"] - before["begin"] == rows["offset"][number])
