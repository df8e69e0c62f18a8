"""The road through the index: candidate blocks, verified; what the index does not know, scanned.

The files of an answer come from three places: the oldest segment, which holds almost all of them
and is in path order; later segments, which hold what was updated since; and the tree itself, for
whatever changed after that. They are merged into one path order before anything is read.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
import time
from bisect import bisect_left
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from triseek import errors
from triseek.engine.absorb import changed_of
from triseek.engine.backends import lines, verify
from triseek.engine.backends.file import FileSearch, named_files
from triseek.engine.backends.generation import State
from triseek.files import walk
from triseek.files.ignore import excludes_see_folders
from triseek.files.root import open_folder
from triseek.files.watcher import WatchLimit
from triseek.index import merge
from triseek.index.reader import Reader
from triseek.index.update import commit_changed
from triseek.model import budget
from triseek.model.index import no_progress
from triseek.query.scope import Scope
from triseek.query.seen import Seen
from triseek.store import layout, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

    from triseek.engine.backends.base import Batch
    from triseek.engine.backends.generation import Lender
    from triseek.engine.dirt import Dirt
    from triseek.engine.tracker import Tracker
    from triseek.index.reader import View
    from triseek.model.index import BuildReport, Progress
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest, Skipped, Totals
    from triseek.query import grams
    from triseek.query.pattern import Pattern
    from triseek.store.table import Names

Array: TypeAlias = np.ndarray[Any, Any]

THREADS = min(8, os.cpu_count() or 1)
PART_BYTES = (1 << 18, 1 << 20, 1 << 21, 1 << 21, 4 << 20, 4 << 20, 8 << 20)
"""Candidate bytes of the first parts: small, so that the first results come at once."""
EARLY_PARTS = 2
"""Parts searched one by one where the first few results may be all that is wanted."""
EARLY_SHARE = 32
"""And then the first of so many shares of the blocks is looked at before all of them are."""
FEW_BLOCKS = 1 << 12
"""Blocks of an index that is too small for that to be worth anything."""
ODD_FLAGS = layout.FLAG_TRANSCODED | layout.FLAG_BINARY
"""Files of which the kernels cannot search what is on disk."""


class Indexed:
    """Search one root by its index; shared by all searches of the root, from any thread."""

    name: BackendName = "indexed"

    def __init__(self, root: str, index_dir: str, lender: Lender | None = None) -> None:
        """`lender` may know what the tree holds that a generation does not (see `State`)."""
        self.root = root
        self.index_dir = index_dir
        self._lender = lender
        self._lock = threading.Lock()
        self._state: State | None = None
        self._tracker: Tracker | None = None
        self._catching_up = threading.Lock()

    def covers(self, scope: ScopeSpec, paths: Sequence[str] = ()) -> bool:
        """Whether the index can answer for these files, if need be with a partial walk.

        It cannot for files the default walk leaves out, nor below a folder it did not enter, nor
        where git's global excludes see other paths than they did when it was built, or a relative
        path in a `.git` file leads elsewhere: ripgrep takes it from the working folder.
        """
        if Scope.compile(scope).widens_walk or scope.one_file_system:
            return False
        if scope.text or scope.binary:
            return False
        if scope.ignore_files or scope.no_ignore_files or (paths and scope.max_depth is not None):
            return False
        if Seen.of(scope).changes and excludes_see_folders(self.root, scope):
            return False  # it was built with what they see from the root
        if scope.here and self._current().other_excludes(os.fsencode(scope.here)):
            return False  # it was built with what is excluded from the root
        named = named_files(os.fsencode(self.root), paths)
        if named.files or named.missing:
            return False
        hidden = any(
            part.startswith(b".") for path in named.folders for part in path.split(b"/") if part
        )
        return not hidden and all(path in self._current().folders for path in named.folders)

    def outlook(
        self, request: SearchRequest, pattern: Pattern, formula: grams.Formula
    ) -> dict[str, Any]:
        """What the router asks of an index before it chooses: fields of its `RepoState`."""
        if request.mapped or not self.covers(request.scope, request.paths):
            return {"index_covers": False}
        spanning = lines.spans_lines(pattern, request)
        decided = not spanning and verify.Program.of(pattern, request) is not None
        found = [view.estimate(formula) for view in self._current().reader.views]
        total = sum(estimate.of for estimate in found)
        share = sum(estimate.blocks for estimate in found) / total if total else 0.0
        return {"index_covers": True, "kernels_decide": decided, "candidate_share": share}

    def search(self, request: SearchRequest, pattern: Pattern, totals: Totals) -> Iterator[Batch]:
        """Yield what matches in path order.

        Raises:
            IndexUnavailable: there is no index.
            IndexCorrupt, FormatTooNew: the index cannot be used.
            BackendFailure: the request is not one the index can answer.
            OutOfTime: as `model.budget.check`; what was found before was yielded.
        """
        budget.check()
        state = self._current()
        if request.mapped or not self.covers(request.scope, request.paths):
            raise errors.BackendFailure("the index does not hold the files this search asks for")
        if request.invert or request.passthru or request.mode == "files_without_match":
            raise errors.BackendFailure("the index cannot tell what does not match")
        if request.max_count == 0:
            return
        dirt = self._sweep(state, request.paths, verified=request.sweep)
        totals.freshness, totals.generation = dirt.freshness, state.reader.generation
        totals.dirty = dirt.count
        answer = _Answer(state, request, pattern, dirt, totals)
        yield from answer.batches()

    def list_files(
        self, scope: ScopeSpec, paths: Sequence[str] = (), *, sweep: bool = True
    ) -> tuple[list[bytes], list[Skipped]]:
        """Every file `rg --files` would list, in path order; and folders it could not list.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        state = self._current()
        if not self.covers(scope, paths):
            raise errors.BackendFailure("the index does not hold the files this asks for")
        dirt = self._sweep(state, paths, verified=sweep)
        named = sorted(named_files(os.fsencode(self.root), paths).folders)
        closed = state.closed(Scope.compile(scope), named, dirt)
        return state.listed(scope, paths, dirt), closed

    def find_files(
        self, scope: ScopeSpec, holding: Sequence[bytes]
    ) -> tuple[list[bytes], Reader, Dirt]:
        """Files of a scope whose path may hold all these texts, in path order; of what generation.

        Files the index does not know are among them whatever they are called.

        Raises:
            BackendFailure: the scope asks for files the index does not hold.
        """
        state = self._current()
        if not self.covers(scope):
            raise errors.BackendFailure("the index does not hold the files this asks for")
        dirt = self._sweep(state, (), verified=True)
        return state.listed(scope, (), dirt, holding), state.reader, dirt

    def _sweep(self, state: State, paths: Sequence[str], *, verified: bool) -> Dirt:
        """What changed.

        Raises:
            BackendFailure: Another road knows better: the tree could not be compared with the
                index, so that an edit might be missing from an answer; or a folder that was
                named is ignored by now.
        """
        dirt = state.sweep(verified=verified)
        if verified and dirt.freshness == "unverified":
            raise errors.BackendFailure(
                f"the tree could not be compared with its index: {dirt.problem}",
                next_step="Search again, or start the daemon, which is told what changes.",
            )
        named = named_files(os.fsencode(self.root), paths)
        if dirt.directories and not named.folders.issubset(dirt.directories):
            raise errors.BackendFailure("the index does not hold the files this asks for")
        return dirt

    @property
    def reader(self) -> Reader:
        """The current generation."""
        return self._current().reader

    def dirt(self) -> Dirt:
        """What the tree holds that the index does not know."""
        return self.look()[1]

    def look(self) -> tuple[Reader, Dirt]:
        """The current generation, and what the tree holds that it does not know."""
        state = self._current()
        return state.reader, state.sweep(verified=True)

    def track(self, tracker: Tracker) -> None:
        """Learn from a tree's events what changed, from now on; takes as long as a sweep.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index to compare with.
            WatchLimit: The tree has more folders than may be watched.
        """
        state = self._current()
        state.follow(tracker)
        with self._lock:
            self._tracker = tracker

    def untrack(self) -> None:
        """Sweep again for each answer."""
        with self._lock:
            self._tracker = None

    def catch_up(self) -> None:
        """Let the newest generation answer, followed as its predecessor was; else do nothing.

        Where it cannot be followed it answers all the same, by sweeps.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: It cannot be used; the old one answers on.
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
        """Write what is dirty to the index, where that is known without a walk.

        Returns None, and does nothing, where it takes a walk or there are more files than that.

        Raises:
            Busy: Another process is writing, or has written a generation not followed yet.
            StateUnwritable: The state folder cannot be written.
        """
        state, started_ns = self._current(), time.time_ns()
        dirt = state.sweep(verified=True)
        changed = changed_of(state.reader, dirt, started_ns) if dirt.count <= files_max else None
        if changed is None:
            return None
        return commit_changed(self.root, state.reader, changed, progress=progress)

    def merge_due(self) -> int:
        """Bytes of text in the segments that ought to become one now; 0 when none ought to."""
        views = self._current().reader.views
        return sum(merge.live_bytes(views[i]) for i in merge.due(self._current().reader) or ())

    def merge(self, stop: Callable[[], bool]) -> None:
        """Make one of the segments that ought to be, until `stop` says so.

        Raises: as `index.merge.merge_due`.
        """
        merge.merge_due(self.index_dir, stop=stop)

    def release(self) -> None:
        """Unmap, as far as memory goes, the posting lists that were read."""
        state = self._state
        for view in state.reader.views if state is not None else ():
            view.segment.postings.release()

    def reconcile(self) -> bool:
        """Sweep, whatever events said; whether they had missed nothing."""
        return self._current().reconcile()

    def _current(self) -> State:
        """The state of the current generation, opened anew when a writer has moved on.

        Of a tree that is followed the last generation answers until the next one is, too: with
        what changed since, the answers are the same.
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
        reader = Reader.open(self.index_dir)
        if reader is None:
            raise errors.IndexUnavailable(f"there is no index for {self.root}")
        return State(self.root, reader, self._lender)


class _Work(NamedTuple):
    """One part of an answer; parts are in path order."""

    view: View | None
    candidates: verify.Candidates | None
    scan: list[bytes]


class _Loose(NamedTuple):
    """One file of an answer on its own."""

    order: bytes
    """Its place among the others, see `walk.path_order`."""
    work: _Work


class _Done(NamedTuple):
    """What came of one part."""

    batches: list[Batch]
    bytes_read: int
    skipped: list[Skipped]


class _Answer:
    """One search against one state."""

    def __init__(
        self, state: State, request: SearchRequest, pattern: Pattern, dirt: Dirt, totals: Totals
    ) -> None:
        self._state = state
        self._request = request
        self._pattern = pattern
        self._dirt = dirt
        self._totals = totals
        self._scope = Scope.compile(request.scope)
        named = named_files(os.fsencode(state.root), request.paths)
        self._paths = sorted(named.folders)
        self._scan_file = FileSearch(state.root, request, pattern)
        self._spanning = lines.spans_lines(pattern, request)
        program = None if self._spanning else verify.Program.of(pattern, request)
        self._verifier = verify.Verifier(request, pattern, program) if program else None
        self._stops_early = request.limit is not None and not request.count_all

    def batches(self) -> Iterator[Batch]:
        """Run the parts on a few threads and yield what they find, in order."""
        directory = open_folder(self._state.root)
        self._totals.skipped += self._state.closed(self._scope, self._paths, self._dirt)
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
        """Cut the answer into parts, in path order across all sources.

        Nothing is made before it is asked for: a search for the first few results stops early.
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
        """Files that do not come from the oldest segment, in path order."""
        loose = []
        for number, view in enumerate(self._state.reader.views[1:], 1):
            found = self._all_candidates(view, self._searchable(number))
            for k, path in enumerate(view.names.take(found.files)):
                work = _Work(view, found.part(k, k + 1), [])
                loose.append(_Loose(walk.path_order(path), work))
        extras = self._state.extras(self._scope, self._paths, self._dirt)
        self._totals.files_searched += len(extras)
        loose += [_Loose(walk.path_order(path), _Work(None, None, [path])) for path in extras]
        return sorted(loose, key=lambda file: file.order)

    def _searchable(self, number: int) -> Array:
        """bool[files]: what is to be searched of a view; it is added to the totals."""
        view = self._state.reader.views[number]
        chosen = self._state.chosen(view, self._scope, self._paths, self._dirt.masks[number])
        searchable: Array = chosen & (view.skip == layout.SKIP_NONE)
        self._totals.files_searched += int(np.count_nonzero(searchable))
        self._totals.skipped += view.skipped(chosen)
        return searchable

    def _all_candidates(self, view: View, searchable: Array) -> verify.Candidates:
        formula = self._pattern.formula
        if not self._spanning:
            return verify.group(view, view.candidates(formula), searchable)
        # Behind a NUL, where the index holds nothing, a pattern that spans lines may match too.
        binary = (view.flags & layout.FLAG_BINARY) != 0
        files = np.flatnonzero(searchable & (view.candidate_files(formula) | binary))
        return verify.whole_files(view, files)

    def _stretches(self, view: View) -> Iterator[verify.Candidates]:
        """The candidates of the oldest segment, in path order, a stretch at a time."""
        searchable = self._searchable(0)
        if self._spanning:
            yield self._all_candidates(view, searchable)
            return
        for blocks in self._blocks(view):
            yield from verify.groups(view, blocks, searchable)

    def _blocks(self, view: View) -> Iterator[Array]:
        """Candidate blocks; for a search that may stop early those of the first files alone."""
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
            # Their bytes on disk are not what is searched: those files are read whole.
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
        """Lines around a match may lie in any block: files that match are read whole."""
        assert self._verifier is not None  # noqa: S101 - `_verify` has seen to it
        done = self._verifier.for_files().verify(directory, view, candidates)
        keep = {path for batch in done.batches for path in batch.paths}
        keep.update(done.changed)
        keep.update(view.names.take(candidates.files[odd]))
        return self._scan([path for path in view.names.take(candidates.files) if path in keep])

    def _scan(self, paths: Sequence[bytes]) -> _Done:
        """Search files by reading them whole."""
        searched = [self._scan_file(path) for path in paths]
        found = [file.found for file in searched if file.found]
        return _Done(
            [lines.gather(found)] if found else [],
            sum(file.size for file in searched),
            [file.skipped for file in searched if file.skipped],
        )


def _merged(left: list[Batch], right: list[Batch]) -> list[Batch]:
    """Two lists of batches as one batch, in path order."""
    if not right:
        return left
    files = [file for batch in (*left, *right) for file in batch.files()]
    return [lines.gather(sorted(files, key=lambda file: walk.path_order(file.path)))]


def _insertion(names: Names, files: Array, order: bytes) -> int:
    """How many of `files` (rising numbers of names in path order) stand before `order`."""
    return bisect_left(
        range(len(files)), order, key=lambda i: walk.path_order(names[int(files[i])])
    )


def _in_order(work: Iterator[Callable[[], _Done]], alone: int) -> Iterator[_Done]:
    """Run work on a few threads, a little ahead of the reader, and give results in order.

    alone: how many pieces to run one by one first, because the reader may want no more.
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
    under_way: deque[Future[_Done]] = deque()
    stop = threading.Event()

    def submit(task: Callable[[], _Done]) -> Future[_Done]:
        return _pool().submit(budget.carried(task, stop))

    try:
        under_way.extend((submit(first), submit(second)))
        for task in work:
            under_way.append(submit(task))
            if len(under_way) > 2 * THREADS:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        stop.set()
        for future in under_way:
            future.cancel()
        wait(under_way)


@functools.cache
def _pool() -> ThreadPoolExecutor:
    """Threads shared by all searches of the process: starting some takes longer than a search."""
    return ThreadPoolExecutor(THREADS, "triseek-verify")
