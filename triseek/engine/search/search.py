"""Run one search: compile, plan, choose a backend, run it, fall back, apply the limit."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from triseek.engine.search.router import BACKEND_FAILED, choose
from triseek.errors import FallbackFailure, InvalidQuery, TriseekError
from triseek.model.search import Totals
from triseek.query.globs.scope import Scope
from triseek.query.pattern import compile as compile_pattern
from triseek.query.plan import plan

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from triseek.engine.search.backends.base import Backend, Batch
    from triseek.engine.search.router import RepoState
    from triseek.model.search import BackendName, Freshness, SearchRequest
    from triseek.query.pattern import Pattern
    from triseek.query.plan import Plan

T = TypeVar("T")

FALLBACKS: dict[BackendName, tuple[BackendName, ...]] = {
    "indexed": ("ripgrep", "direct_scan"),
    "ripgrep": ("direct_scan",),
    "direct_scan": ("ripgrep",),
}
"""The backends to try after one has failed, in this order."""


class Repository(Protocol):
    """What a search needs of its repository: `Engine`, which imports this module."""

    def state(self, request: SearchRequest, pattern: Pattern, plan: Plan) -> RepoState:
        """Return the state of the repository that the router needs."""

    def backend(self, name: BackendName) -> Backend:
        """Return the backend of that name."""

    def remember(self, pattern: str, kind: str, paths: Sequence[bytes]) -> None:
        """Record a query and the files of its answer."""


class Search:
    """One search. Iterate over its batches once; `totals` is complete after the last one.

    Raises on creation, before anything is read:
        InvalidQuery: The pattern, a glob or a type cannot be understood.
        InvalidRequest: A path leads out of the root.

    Raises while iterating:
        FallbackFailure: More than one backend was tried and all failed.
        TriseekError: The only backend, requested by name, failed; this is its error.
    """

    def __init__(
        self, repository: Repository, request: SearchRequest, *, remember: bool = True
    ) -> None:
        self.request = request
        self.pattern: Pattern = compile_pattern(request.pattern)
        if self.pattern.needs_nul and not request.scope.text:
            raise InvalidQuery(
                "the pattern asks for a NUL byte, and a file that holds one is not searched",
                next_step="Add -a (--text) to search binary files as well.",
            )
        Scope.compile(request.scope)  # raises for a bad glob, whatever the backend
        self.plan = plan(self.pattern)
        self.route = choose(request, self.plan, repository.state(request, self.pattern, self.plan))
        self.totals = Totals()
        self._repository = repository
        self._remembers = remember
        self._batches = self._timed(self._capped(self._from_backends()))

    @property
    def freshness(self) -> Freshness:
        """How the answer was checked to match the current tree."""
        return self.totals.freshness

    @property
    def generation(self) -> int | None:
        """The generation of the index that answered; None if no index was used."""
        return self.totals.generation

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on how the pattern was interpreted, one sentence each."""
        return tuple(self.pattern.notes)

    def __iter__(self) -> Iterator[Batch]:
        return self._batches

    def close(self) -> None:
        """Stop the search. Does nothing if it has ended."""
        self._batches.close()

    def _timed(self, batches: Generator[Batch, None, None]) -> Generator[Batch, None, None]:
        started = time.perf_counter()
        try:
            yield from batches
        finally:
            batches.close()
            self.totals.elapsed_ms = (time.perf_counter() - started) * 1e3

    def _capped(self, batches: Generator[Batch, None, None]) -> Generator[Batch, None, None]:
        """Yield batches up to `limit`. With `count_all`, read on so that totals count the rest."""
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
                for batch in self._from_backend(name):
                    fresh = _without(batch, already) if already else batch
                    yielded += fresh.paths
                    if fresh.paths:
                        yield fresh
            except BACKEND_FAILED as error:
                failures.append(error)
            else:
                self._remember(yielded)
                return
        if len(failures) == 1:
            raise failures[0]
        raise FallbackFailure(
            "no backend could answer: " + "; ".join(map(str, failures)),
            next_step=failures[-1].next_step,
        )

    def _remember(self, paths: list[bytes]) -> None:
        if not self._remembers:
            return
        spec = self.request.pattern
        self._repository.remember(
            "|".join(spec.patterns), "literal" if spec.fixed else "regex", paths
        )

    def _backends(self) -> tuple[BackendName, ...]:
        """Return the chosen backend and its fallbacks; no fallback if it was requested by name."""
        first = self.route.backend
        return (first,) if self.request.engine != "auto" else (first, *FALLBACKS[first])

    def _from_backend(self, name: BackendName) -> Iterator[Batch]:
        backend = self._repository.backend(name)
        batches = backend.search(self.request, self.pattern, self.totals)
        try:
            yield from batches
        finally:
            close = getattr(batches, "close", None)
            if close is not None:
                close()


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
