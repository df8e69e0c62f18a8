"""The indexed backend: verify candidate blocks, and scan files that the index lacks.

The files of an answer come from three sources: the oldest segment, which holds almost all of them
and is in path order; later segments, which hold updates since; and the tree itself, for whatever
changed after that. They are merged into one path order before anything is read.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from bisect import bisect_left
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek import errors
from triseek.engine.freshness.tree_diff import changed_of
from triseek.engine.search.backends import lines, scan, verify
from triseek.engine.search.backends.file import FileSearch
from triseek.engine.search.backends.generation import State
from triseek.engine.search.query import Selection
from triseek.files.tree import walk
from triseek.files.tree.root import open_folder
from triseek.files.watch.inotify import WatchLimit
from triseek.index import merge
from triseek.index.reader import IndexReader
from triseek.index.update import commit_changed
from triseek.model import budget
from triseek.model.index import no_progress
from triseek.query.globs.scope import Excluded
from triseek.store import layout, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from triseek.engine.freshness.tracker import Tracker
    from triseek.engine.freshness.tree_diff import TreeDiff
    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.query import Query
    from triseek.engine.search.router import RepoState
    from triseek.index.reader import View
    from triseek.model.index import BuildReport, Progress
    from triseek.model.search import ScopeSpec, Skipped, Totals
    from triseek.store.table import StringColumn

Array: TypeAlias = np.ndarray[Any, Any]

PART_BYTES = (1 << 18, 1 << 20, 1 << 21, 1 << 21, 4 << 20, 4 << 20, 8 << 20)
"""Candidate bytes of the first parts: small, so that the first results come early."""
EARLY_PARTS = 2
"""Parts searched one by one if only the first few results may be wanted."""
EARLY_SHARE = 32
"""If so, the first of this many shares of the blocks is evaluated before all of them."""
FEW_BLOCKS = 1 << 12
"""An index with fewer blocks is too small for that to help."""
ODD_FLAGS = layout.FLAG_TRANSCODED | layout.FLAG_BINARY
"""Flags of files whose bytes on disk the kernels cannot search."""

_NOT_HELD = "the index does not hold the files this search asks for"


class Indexed:
    """Searches one root by its index; shared by all searches of the root, from any thread."""

    def __init__(self, root: str, index_dir: str) -> None:
        self.root = root
        self.index_dir = index_dir
        self._lock = threading.Lock()
        self._state: State | None = None
        self._tracker: Tracker | None = None
        self._catching_up = threading.Lock()

    def outlook(self, state: RepoState, query: Query) -> RepoState:
        """Return the state of the repository with what the router needs to know of the index."""
        current = self._current()
        if query.request.mapped or not current.holds(query.selection):
            return replace(state, index_covers=False)
        decided = verify.KernelProgram.of(query) is not None
        estimates = [view.estimate(query.plan.formula) for view in current.reader.views]
        total = sum(estimate.of for estimate in estimates)
        share = sum(estimate.blocks for estimate in estimates) / total if total else 0.0
        return replace(state, kernels_decide=decided, candidate_share=share)

    def search(self, query: Query, totals: Totals) -> Generator[Batch, None, None]:
        """Yield the results in path order.

        Raises:
            IndexUnavailable: there is no index.
            IndexCorrupt, FormatTooNew: the index cannot be used.
            BackendFailure: the index cannot answer this request.
            OutOfTime: as `model.budget.check`; earlier results have been yielded.
        """
        budget.check()
        if query.request.mapped:
            raise errors.BackendFailure(_NOT_HELD)
        if query.lists_misses:
            raise errors.BackendFailure("the index cannot tell what does not match")
        state, diff = self._compared(query.selection, verified=query.request.sweep)
        if query.request.max_count == 0:
            return
        totals.freshness, totals.generation = diff.freshness, state.reader.generation
        totals.dirty = diff.count
        yield from _Answer(state, query, diff, totals).batches()

    def list_files(
        self, scope: ScopeSpec, paths: Sequence[str] = (), *, sweep: bool = True
    ) -> tuple[list[bytes], list[Skipped]]:
        """Return the files `rg --files` would list, in path order, and the folders it could not.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        selection = Selection.of(self.root, scope, paths)
        state, diff = self._compared(selection, verified=sweep)
        return state.listed(selection, diff), state.closed(selection, diff)

    def find_files(
        self, scope: ScopeSpec, holding: Sequence[bytes]
    ) -> tuple[list[bytes], IndexReader, TreeDiff]:
        """Return a scope's files whose path may hold all these texts, with reader and tree diff.

        Files are in path order. Files not in the index are included whatever their name.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        selection = Selection.of(self.root, scope)
        state, diff = self._compared(selection, verified=True)

        def named(view: View) -> Array:
            every: Array = np.ones(len(view.names), np.bool_)
            for text in holding:
                every &= view.paths.containing(text)
            return every

        return state.listed(selection, diff, named), state.reader, diff

    def candidates(self, scope: ScopeSpec, keep: Callable[[View], Array]) -> list[bytes]:
        """Return the files of a scope that `keep` selects of each view, and those not in the index.

        They are in path order. `keep` returns bool[files] of a view.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        selection = Selection.of(self.root, scope)
        state, diff = self._compared(selection, verified=True)
        return state.listed(selection, diff, keep)

    def excluded(self, selection: Selection) -> list[Excluded]:
        """Return the entries that the index's walk, and listings since, have left out.

        Without `ScopeSpec.allowlist`, so are the files of the well-known hidden places.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        state, diff = self._compared(selection, verified=True)
        entries = [*state.excluded.entries, *diff.excluded]
        if not selection.spec.allowlist:
            views = state.reader.views
            hidden = (view.names.take(np.flatnonzero(view.allowlisted)) for view in views)
            paths = diff.allowlisted.union(*hidden)
            entries += [Excluded(path, is_dir=False, hidden=True) for path in paths]
        return entries

    def _compared(self, selection: Selection, *, verified: bool) -> tuple[State, TreeDiff]:
        """Return the current state, and what changed since its index was written.

        Raises:
            BackendFailure: Another backend must answer. The index does not hold these files, or a
                named folder is now ignored, or the tree could not be compared with the index, so
                that an answer might miss an edit.
        """
        state = self._current()
        if not state.holds(selection):
            raise errors.BackendFailure(_NOT_HELD)
        diff = state.sweep(verified=verified)
        if verified and diff.freshness == "unverified":
            raise errors.BackendFailure(
                f"the tree could not be compared with its index: {diff.problem}",
                next_step="Search again, or start the daemon, which is told what changes.",
            )
        if diff.directories and not set(selection.folders).issubset(diff.directories):
            raise errors.BackendFailure(_NOT_HELD)
        return state, diff

    @property
    def reader(self) -> IndexReader:
        """A reader of the current generation."""
        return self._current().reader

    def tree_diff(self) -> TreeDiff:
        """Return the difference between the tree and the index."""
        return self.look()[1]

    def look(self) -> tuple[IndexReader, TreeDiff]:
        """Return a reader of the current generation, and the tree diff against it."""
        state = self._current()
        return state.reader, state.sweep(verified=True)

    def track(self, tracker: Tracker) -> None:
        """Track changes by the tree's events from now on. Starting takes as long as a sweep.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index to compare with.
            WatchLimit: The tree has more folders than may be watched.
        """
        state = self._current()
        state.follow(tracker)
        with self._lock:
            self._tracker = tracker

    def untrack(self) -> None:
        """Stop tracking; each later answer takes a sweep."""
        with self._lock:
            self._tracker = None

    def catch_up(self) -> None:
        """Switch to the newest generation and follow it like its predecessor, if there is one.

        If it cannot be followed, it is used all the same, with sweeps.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: It cannot be used; the old one remains.
        """
        with self._catching_up:
            old, tracker = self._state, self._tracker
            if old is None or tracker is None or old.reader.manifest == self._manifest():
                return
            new = self._open()
            with contextlib.suppress(WatchLimit):
                new.follow(tracker, old)
            with self._lock:
                self._state = new

    def absorb(self, files_max: int, *, progress: Progress = no_progress) -> BuildReport | None:
        """Write changed files to the index if they are known without a walk.

        Return None and do nothing if a walk is needed or more than `files_max` files changed.

        Raises:
            Busy: Another process is writing, or has written a generation not yet followed.
            StateUnwritable: The state folder cannot be written.
        """
        state, started_ns = self._current(), time.time_ns()
        diff = state.sweep(verified=True)
        changed = changed_of(state.reader, diff, started_ns) if diff.count <= files_max else None
        if changed is None:
            return None
        return commit_changed(self.root, state.reader, changed, progress=progress)

    def merge_due(self) -> int:
        """Return the bytes of text in the segments that are due to be merged; 0 if none are."""
        views = self._current().reader.views
        return sum(views[i].text_bytes() for i in merge.due(self._current().reader) or ())

    def merge(self, stop: Callable[[], bool]) -> None:
        """Merge the segments that are due, until `stop()` is True.

        Raises: the errors of `index.merge.merge_due`.
        """
        merge.merge_due(self.index_dir, stop=stop)

    def release(self) -> None:
        """Release the memory of the posting lists that were read."""
        state = self._state
        for view in state.reader.views if state is not None else ():
            view.segment.postings.release()

    def reconcile(self) -> bool:
        """Sweep to check the events. Return whether they had missed nothing."""
        return self._current().reconcile()

    def _current(self) -> State:
        """Return the state of the current generation; reopen it if there is a newer one.

        For a followed tree, the previous generation is used until the new one is followed, too:
        with the changes since, its answers are the same.
        """
        with self._lock:
            current = self._manifest()
            state = self._state
            if state is not None and state.reader.manifest == current:
                return state
            if state is not None and state.is_followed:
                self._catch_up_behind()
                return state
            self._state = self._open()
            return self._state

    def _catch_up_behind(self) -> None:
        if self._catching_up.locked():
            return

        def run() -> None:
            with contextlib.suppress(errors.TriseekError, OSError, RuntimeError):
                self.catch_up()

        threading.Thread(target=run, name="triseek-catch-up", daemon=True).start()

    def _manifest(self) -> manifest.Manifest:
        current = manifest.read(self.index_dir)
        if current is None:
            raise errors.IndexUnavailable(f"there is no index for {self.root}")
        return current

    def _open(self) -> State:
        reader = IndexReader.open(self.index_dir)
        if reader is None:
            raise errors.IndexUnavailable(f"there is no index for {self.root}")
        return State(self.root, reader)


Part: TypeAlias = "Callable[[], verify.Verified]"
"""Searches one part of an answer."""


class _Loose(NamedTuple):
    """A file of an answer that is not from the oldest segment."""

    order: bytes
    """Its sort key, see `walk.path_order`."""
    part: Part


class _Answer:
    """One search on one state."""

    def __init__(self, state: State, query: Query, diff: TreeDiff, totals: Totals) -> None:
        self._state = state
        self._query = query
        self._diff = diff
        self._totals = totals
        self._formula = query.plan.formula
        self._directory = -1
        """Descriptor of the root while the search runs."""
        self._scan_file = FileSearch(query)
        request = query.request
        self._by_file = bool(request.before or request.after)
        """Whether matching files are read whole, as lines of context may lie in any block."""
        if self._by_file:
            of_files = replace(request, mode="files", before=0, after=0, max_count=None)
            query = replace(query, request=of_files)
        program = verify.KernelProgram.of(query)
        self._verifier = verify.Verifier(query, program) if program else None
        self._stops_early = request.ends_after is not None

    def batches(self) -> Iterator[Batch]:
        """Run the parts on a few threads and yield their results in order."""
        self._directory = open_folder(self._state.root)
        self._totals.skipped += self._state.closed(self._query.selection, self._diff)
        try:
            for done in _in_order(self._parts(), EARLY_PARTS if self._stops_early else 0):
                self._totals.bytes_searched += done.bytes_read
                self._totals.skipped += done.skipped
                for batch in done.batches:
                    yield lines.counted(batch, self._totals)
        finally:
            os.close(self._directory)

    def _parts(self) -> Iterator[Part]:
        """Yield the parts of the answer, in path order across all sources.

        Parts are made lazily, so a search for the first few results stops early.
        """
        view, sizes = self._state.reader.views[0], chain(PART_BYTES, repeat(PART_BYTES[-1]))

        def parts(candidates: verify.Candidates) -> Iterator[Part]:
            for part in verify.split(view, candidates, sizes):
                yield partial(self._verify, view, part)

        loose = deque(self._loose())
        for candidates in self._stretches(view):
            at = 0
            while loose:
                until = _insertion(view.names, candidates.files, loose[0].order)
                if until == len(candidates):
                    break
                yield from parts(candidates.part(at, until))
                yield loose.popleft().part
                at = until
            yield from parts(candidates.part(at, len(candidates)))
        yield from (file.part for file in loose)

    def _loose(self) -> list[_Loose]:
        """Return the files that do not come from the oldest segment, in path order."""
        loose = []
        for number, view in enumerate(self._state.reader.views[1:], 1):
            candidates = self._all_candidates(view, self._searchable(number))
            for k, path in enumerate(view.names.take(candidates.files)):
                part = partial(self._verify, view, candidates.part(k, k + 1))
                loose.append(_Loose(walk.path_order(path), part))
        extras = self._state.extras(self._query.selection, self._diff)
        self._totals.files_searched += len(extras)
        loose += [_Loose(walk.path_order(path), partial(self._scan, [path])) for path in extras]
        return sorted(loose, key=lambda file: file.order)

    def _searchable(self, number: int) -> Array:
        """Return bool[files]: a view's files to search; add them to the totals."""
        view = self._state.reader.views[number]
        chosen = self._state.chosen(view, self._query.selection, self._diff.masks[number])
        searchable: Array = chosen & (view.skip == layout.SKIP_NONE)
        self._totals.files_searched += int(np.count_nonzero(searchable))
        self._totals.skipped += view.skipped(chosen)
        return searchable

    def _all_candidates(self, view: View, searchable: Array) -> verify.Candidates:
        if not self._query.spans_lines:
            return verify.group(view, view.candidates(self._formula), searchable)
        # A pattern that spans lines may also match after a NUL, where the index holds nothing.
        binary = (view.flags & layout.FLAG_BINARY) != 0
        files = np.flatnonzero(searchable & (view.candidate_files(self._formula) | binary))
        return verify.whole_files(view, files)

    def _stretches(self, view: View) -> Iterator[verify.Candidates]:
        """Yield the candidates of the oldest segment in path order, one stretch at a time."""
        searchable = self._searchable(0)
        if self._query.spans_lines:
            yield self._all_candidates(view, searchable)
            return
        for blocks in self._blocks(view):
            yield from verify.groups(view, blocks, searchable)

    def _blocks(self, view: View) -> Iterator[Array]:
        """Yield candidate blocks; if the search may stop early, those of the first files first."""
        first = 0
        if self._stops_early and view.blocks >= FEW_BLOCKS:
            first = int(view.edges[view.block_file[view.blocks // EARLY_SHARE]])
            yield view.candidates(self._formula, below=first)
        blocks = view.candidates(self._formula)
        yield blocks[np.searchsorted(blocks, first) :]

    def _verify(self, view: View, candidates: verify.Candidates) -> verify.Verified:
        budget.check()
        verifier = self._verifier
        if verifier is None:
            return self._scan(view.names.take(candidates.files))
        odd = (view.flags[candidates.files] & ODD_FLAGS) != 0
        if self._by_file:
            done = verifier.verify(self._directory, view, candidates)
            keep = {path for batch in done.batches for path in batch.paths}
            keep.update(done.changed, view.names.take(candidates.files[odd]))
            return self._scan([path for path in view.names.take(candidates.files) if path in keep])
        if not odd.any():
            done = verifier.verify(self._directory, view, candidates)
            whole = done.changed
        else:
            # Files whose bytes on disk are not the searched text are read whole.
            plain = candidates.take(np.flatnonzero(~odd))
            done = verifier.verify(self._directory, view, plain)
            whole = view.names.take(candidates.files[odd]) + done.changed
        if not whole:
            return done
        rest = self._scan(sorted(whole, key=walk.path_order))
        batches = _merged(done.batches, rest.batches)
        return verify.Verified(batches, done.bytes_read + rest.bytes_read, rest.skipped)

    def _scan(self, paths: Sequence[bytes]) -> verify.Verified:
        """Search files by reading them whole."""
        searched = [self._scan_file(path) for path in paths]
        results = [file.found for file in searched if file.found]
        return verify.Verified(
            [lines.gather(results)] if results else [],
            sum(file.size for file in searched),
            [file.skipped for file in searched if file.skipped],
        )


def _merged(left: list[Batch], right: list[Batch]) -> list[Batch]:
    """Merge two lists of batches into one batch in path order."""
    if not right:
        return left
    files = [file for batch in (*left, *right) for file in batch.files()]
    return [lines.gather(sorted(files, key=lambda file: walk.path_order(file.path)))]


def _insertion(names: StringColumn, files: Array, order: bytes) -> int:
    """Return how many of `files` (ascending indices into `names`) sort before `order`."""
    return bisect_left(
        range(len(files)), order, key=lambda i: walk.path_order(names[int(files[i])])
    )


def _in_order(work: Iterator[Part], alone: int) -> Iterator[verify.Verified]:
    """Run tasks on a few threads, a little ahead of the reader, and yield results in order.

    alone: how many tasks to run one by one first, because the reader may stop after them.
    """
    for task in islice(work, alone):
        yield task()
    first = next(work, None)
    if first is None:
        return
    second = next(work, None)
    if second is None:
        yield first()
        return
    tasks = chain((first, second), work)
    yield from scan.in_order(tasks, _pool(), 2 * scan.THREADS, threading.Event())


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the thread pool of all searches: starting threads takes longer than a search."""
    return ThreadPoolExecutor(scan.THREADS, "triseek-verify")
