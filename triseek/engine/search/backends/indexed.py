"""The indexed backend: verify candidate blocks, and scan files that the index lacks.

The files of an answer come from three sources: the oldest segment, which holds almost all of them
and is in path order; later segments, which hold updates since; and the tree itself, for whatever
changed after that. They are merged into one path order before anything is read.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from bisect import bisect_left
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek import errors
from triseek.engine.freshness.tree_diff import changed_of
from triseek.engine.search.backends import lines, scan, verify
from triseek.engine.search.backends.file import FileSearch, named_files
from triseek.engine.search.backends.generation import State
from triseek.files.tree import walk
from triseek.files.tree.ignore import excludes_see_folders
from triseek.files.tree.root import open_folder
from triseek.files.watch.inotify import WatchLimit
from triseek.index import merge
from triseek.index.reader import IndexReader
from triseek.index.update import commit_changed
from triseek.model import budget
from triseek.model.index import no_progress
from triseek.query.globs.rule_paths import RulePrefix
from triseek.query.globs.scope import Scope
from triseek.store import layout, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from triseek.engine.freshness.tracker import Tracker
    from triseek.engine.freshness.tree_diff import TreeDiff
    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.router import RepoState
    from triseek.index.reader import View
    from triseek.model.index import BuildReport, Progress
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest, Skipped, Totals
    from triseek.query.pattern import Pattern
    from triseek.query.trigrams import formula
    from triseek.store.table import StringColumn

Array: TypeAlias = np.ndarray[Any, Any]

THREADS = min(8, os.cpu_count() or 1)
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

    name: BackendName = "indexed"

    def __init__(self, root: str, index_dir: str) -> None:
        self.root = root
        self.index_dir = index_dir
        self._lock = threading.Lock()
        self._state: State | None = None
        self._tracker: Tracker | None = None
        self._catching_up = threading.Lock()

    def outlook(
        self, known: RepoState, request: SearchRequest, pattern: Pattern, formula: formula.Formula
    ) -> RepoState:
        """Return the state of the repository with what the router needs to know of the index."""
        selection = _selection(self.root, request.scope, request.paths)
        if request.mapped or selection is None or not self._current().holds(*selection):
            return replace(known, index_covers=False)
        spanning = lines.spans_lines(pattern, request)
        decided = not spanning and verify.KernelProgram.of(pattern, request) is not None
        estimates = [view.estimate(formula) for view in self.reader.views]
        total = sum(estimate.of for estimate in estimates)
        share = sum(estimate.blocks for estimate in estimates) / total if total else 0.0
        return replace(known, kernels_decide=decided, candidate_share=share)

    def search(self, request: SearchRequest, pattern: Pattern, totals: Totals) -> Iterator[Batch]:
        """Yield the results in path order.

        Raises:
            IndexUnavailable: there is no index.
            IndexCorrupt, FormatTooNew: the index cannot be used.
            BackendFailure: the index cannot answer this request.
            OutOfTime: as `model.budget.check`; earlier results have been yielded.
        """
        budget.check()
        state = self._current()
        if request.mapped:
            raise errors.BackendFailure(_NOT_HELD)
        selection = self._selected(state, request.scope, request.paths)
        if request.invert or request.passthru or request.mode == "files_without_match":
            raise errors.BackendFailure("the index cannot tell what does not match")
        if request.max_count == 0:
            return
        diff = self._sweep(state, selection.folders, verified=request.sweep)
        totals.freshness, totals.generation = diff.freshness, state.reader.generation
        totals.dirty = diff.count
        answer = _Answer(state, selection, request, pattern, diff, totals)
        yield from answer.batches()

    def list_files(
        self, scope: ScopeSpec, paths: Sequence[str] = (), *, sweep: bool = True
    ) -> tuple[list[bytes], list[Skipped]]:
        """Return the files `rg --files` would list, in path order, and the folders it could not.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        state = self._current()
        selection = self._selected(state, scope, paths)
        diff = self._sweep(state, selection.folders, verified=sweep)
        return state.listed(*selection, diff), state.closed(*selection, diff)

    def find_files(
        self, scope: ScopeSpec, holding: Sequence[bytes]
    ) -> tuple[list[bytes], IndexReader, TreeDiff]:
        """Return a scope's files whose path may hold all these texts, with reader and tree diff.

        Files are in path order. Files not in the index are included whatever their name.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        state = self._current()
        selection = self._selected(state, scope, ())
        diff = self._sweep(state, (), verified=True)
        return state.listed(*selection, diff, holding), state.reader, diff

    def _selected(self, state: State, scope: ScopeSpec, paths: Sequence[str]) -> _Selection:
        """Return what a request selects.

        Raises:
            BackendFailure: The index, with a partial walk, cannot answer for it.
        """
        selection = _selection(self.root, scope, paths)
        if selection is None or not state.holds(*selection):
            raise errors.BackendFailure(_NOT_HELD)
        return selection

    def _sweep(self, state: State, folders: Sequence[bytes], *, verified: bool) -> TreeDiff:
        """Return what changed since the index was written.

        Raises:
            BackendFailure: Another backend must answer. Either the tree could not be compared with
                the index, so an answer might miss an edit, or a named folder is now ignored.
        """
        diff = state.sweep(verified=verified)
        if verified and diff.freshness == "unverified":
            raise errors.BackendFailure(
                f"the tree could not be compared with its index: {diff.problem}",
                next_step="Search again, or start the daemon, which is told what changes.",
            )
        if diff.directories and not set(folders).issubset(diff.directories):
            raise errors.BackendFailure(_NOT_HELD)
        return diff

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


class _Selection(NamedTuple):
    """The indexed files that a request selects."""

    scope: Scope
    folders: list[bytes]
    """The folders that it names, sorted; empty for the whole tree."""


def _selection(root: str, scope: ScopeSpec, paths: Sequence[str]) -> _Selection | None:
    """Return what a request selects; None if no index of the root can hold it.

    An index cannot for files that the default walk leaves out, nor if git's global excludes see
    other paths than when it was built.
    """
    compiled = Scope.compile(scope)
    if compiled.widens_walk or scope.one_file_system or scope.text or scope.binary:
        return None
    if scope.ignore_files or scope.no_ignore_files or (paths and scope.max_depth is not None):
        return None
    if RulePrefix.of(scope).changes and excludes_see_folders(root, scope):
        return None  # the index was built with the paths they see from the root
    named = named_files(os.fsencode(root), paths)
    if named.files or named.missing:
        return None
    if any(path.startswith(b".") or b"/." in path for path in named.folders):
        return None
    return _Selection(compiled, sorted(named.folders))


class _Work(NamedTuple):
    """One part of an answer; parts are in path order."""

    view: View | None
    candidates: verify.Candidates | None
    scan: list[bytes]


class _Loose(NamedTuple):
    """A file of an answer that is not from the oldest segment."""

    order: bytes
    """Its sort key, see `walk.path_order`."""
    work: _Work


class _Done(NamedTuple):
    """Result of one part."""

    batches: list[Batch]
    bytes_read: int
    skipped: list[Skipped]


class _Answer:
    """One search on one state."""

    def __init__(
        self,
        state: State,
        selection: _Selection,
        request: SearchRequest,
        pattern: Pattern,
        diff: TreeDiff,
        totals: Totals,
    ) -> None:
        self._state = state
        self._scope, self._paths = selection
        self._request = request
        self._pattern = pattern
        self._diff = diff
        self._totals = totals
        self._scan_file = FileSearch(state.root, request, pattern)
        self._spanning = lines.spans_lines(pattern, request)
        program = None if self._spanning else verify.KernelProgram.of(pattern, request)
        self._verifier = verify.Verifier(request, pattern, program) if program else None
        self._stops_early = request.limit is not None and not request.count_all

    def batches(self) -> Iterator[Batch]:
        """Run the parts on a few threads and yield their results in order."""
        directory = open_folder(self._state.root)
        self._totals.skipped += self._state.closed(self._scope, self._paths, self._diff)
        try:
            alone = EARLY_PARTS if self._stops_early else 0
            for done in _in_order(self._work(directory), alone):
                self._totals.bytes_searched += done.bytes_read
                self._totals.skipped += done.skipped
                for batch in done.batches:
                    yield lines.counted(batch, self._totals)
        finally:
            os.close(directory)

    def _work(self, directory: int) -> Iterator[Callable[[], _Done]]:
        for part in self._parts():
            if part.view is None or part.candidates is None:
                yield functools.partial(self._scan, part.scan)
            else:
                yield functools.partial(self._verify, directory, part.view, part.candidates)

    def _parts(self) -> Iterator[_Work]:
        """Yield the parts of the answer, in path order across all sources.

        Parts are made lazily, so a search for the first few results stops early.
        """
        view, sizes = self._state.reader.views[0], chain(PART_BYTES, repeat(PART_BYTES[-1]))
        loose = deque(self._loose())
        for candidates in self._stretches(view):
            at = 0
            while loose:
                until = _insertion(view.names, candidates.files, loose[0].order)
                if until == len(candidates):
                    break
                yield from self._cut(view, candidates.part(at, until), sizes)
                yield loose.popleft().work
                at = until
            yield from self._cut(view, candidates.part(at, len(candidates)), sizes)
        for file in loose:
            yield file.work

    def _cut(
        self, view: View, candidates: verify.Candidates, sizes: Iterator[int]
    ) -> Iterator[_Work]:
        for part in verify.split(view, candidates, sizes):
            yield _Work(view, part, [])

    def _loose(self) -> list[_Loose]:
        """Return the files that do not come from the oldest segment, in path order."""
        loose = []
        for number, view in enumerate(self._state.reader.views[1:], 1):
            candidates = self._all_candidates(view, self._searchable(number))
            for k, path in enumerate(view.names.take(candidates.files)):
                work = _Work(view, candidates.part(k, k + 1), [])
                loose.append(_Loose(walk.path_order(path), work))
        extras = self._state.extras(self._scope, self._paths, self._diff)
        self._totals.files_searched += len(extras)
        loose += [_Loose(walk.path_order(path), _Work(None, None, [path])) for path in extras]
        return sorted(loose, key=lambda file: file.order)

    def _searchable(self, number: int) -> Array:
        """Return bool[files]: a view's files to search; add them to the totals."""
        view = self._state.reader.views[number]
        chosen = self._state.chosen(view, self._scope, self._paths, self._diff.masks[number])
        searchable: Array = chosen & (view.skip == layout.SKIP_NONE)
        self._totals.files_searched += int(np.count_nonzero(searchable))
        self._totals.skipped += view.skipped(chosen)
        return searchable

    def _all_candidates(self, view: View, searchable: Array) -> verify.Candidates:
        formula = self._pattern.formula
        if not self._spanning:
            return verify.group(view, view.candidates(formula), searchable)
        # A pattern that spans lines may also match after a NUL, where the index holds nothing.
        binary = (view.flags & layout.FLAG_BINARY) != 0
        files = np.flatnonzero(searchable & (view.candidate_files(formula) | binary))
        return verify.whole_files(view, files)

    def _stretches(self, view: View) -> Iterator[verify.Candidates]:
        """Yield the candidates of the oldest segment in path order, one stretch at a time."""
        searchable = self._searchable(0)
        if self._spanning:
            yield self._all_candidates(view, searchable)
            return
        for blocks in self._blocks(view):
            yield from verify.groups(view, blocks, searchable)

    def _blocks(self, view: View) -> Iterator[Array]:
        """Yield candidate blocks; if the search may stop early, those of the first files first."""
        formula, first = self._pattern.formula, 0
        if self._stops_early and view.blocks >= FEW_BLOCKS:
            first = int(view.edges[view.block_file[view.blocks // EARLY_SHARE]])
            yield view.candidates(formula, below=first)
        blocks = view.candidates(formula)
        yield blocks[np.searchsorted(blocks, first) :]

    def _verify(self, directory: int, view: View, candidates: verify.Candidates) -> _Done:
        budget.check()
        odd = (view.flags[candidates.files] & ODD_FLAGS) != 0
        if self._verifier is None or self._spanning:
            return self._scan(view.names.take(candidates.files))
        if self._request.before or self._request.after:
            return self._with_context(directory, view, candidates, odd)
        if not odd.any():
            done = self._verifier.verify(directory, view, candidates)
            whole = done.changed
        else:
            # Files whose bytes on disk are not the searched text are read whole.
            plain = candidates.take(np.flatnonzero(~odd))
            done = self._verifier.verify(directory, view, plain)
            whole = view.names.take(candidates.files[odd]) + done.changed
        if not whole:
            return _Done(done.batches, done.bytes_read, [])
        rest = self._scan(sorted(whole, key=walk.path_order))
        batches = _merged(done.batches, rest.batches)
        return _Done(batches, done.bytes_read + rest.bytes_read, rest.skipped)

    def _with_context(
        self, directory: int, view: View, candidates: verify.Candidates, odd: Array
    ) -> _Done:
        """Search with context: its lines may lie in any block, so matching files are read whole."""
        assert self._verifier is not None  # noqa: S101 - `_verify` has seen to it
        done = self._verifier.for_files().verify(directory, view, candidates)
        keep = {path for batch in done.batches for path in batch.paths}
        keep.update(done.changed)
        keep.update(view.names.take(candidates.files[odd]))
        return self._scan([path for path in view.names.take(candidates.files) if path in keep])

    def _scan(self, paths: Sequence[bytes]) -> _Done:
        """Search files by reading them whole."""
        searched = [self._scan_file(path) for path in paths]
        results = [file.found for file in searched if file.found]
        return _Done(
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


def _in_order(work: Iterator[Callable[[], _Done]], alone: int) -> Iterator[_Done]:
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
    yield from scan.in_order(tasks, _pool(), 2 * THREADS, threading.Event())


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Return the thread pool of all searches: starting threads takes longer than a search."""
    return ThreadPoolExecutor(THREADS, "triseek-verify")
