"""The engine of one repository: one method for each verb."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.reindex_process import write_index
from triseek.engine.search.backends import ripgrep, scan
from triseek.engine.search.query import Query
from triseek.engine.search.router import BACKEND_FAILED, INDEX_UNUSABLE, PROBLEMS, RepoState, choose
from triseek.engine.search.search import Search
from triseek.errors import IndexUnavailable, TriseekError
from triseek.files.tree.root import resolve
from triseek.files.tree.walk import walk
from triseek.kernels import cache
from triseek.model.index import IndexStatus, no_progress
from triseek.store import layout, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from triseek.engine.frecency import Frecency, Use
    from triseek.engine.freshness.journal import ChangesSince, Clock, Trouble
    from triseek.engine.search.backends.base import Backend
    from triseek.engine.search.backends.indexed import Indexed
    from triseek.engine.watch import Watch
    from triseek.index.reader import IndexReader
    from triseek.model.index import BuildReport, Progress
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest, Skipped


SCORES = "frecency.json"
"""File name of the scores. `engine.frecency` is not imported if this file does not exist."""


class Engine:
    """Engine for one root; safe to share between threads.

    Raises on creation:
        RepoNotDetected: The root folder does not exist.
    """

    def __init__(
        self,
        root: str,
        *,
        index_dir: str | None = None,
        is_cold: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create the engine. While `is_cold()` is True, no call waits for the kernels to load."""
        self.root = resolve(root).path
        """Canonical absolute path of the root."""
        self.index_dir = index_dir
        """Folder of this root's index, which may not exist yet; None to search without an index."""
        self.used = time.monotonic()
        """Time of the last search or listing, by `time.monotonic`."""
        self._is_cold = is_cold
        self._lock = Lock()
        self._indexed: Indexed | None = None
        self._watch: Watch | None = None
        self._frecency: Frecency | None = None

    def search(self, request: SearchRequest, *, count_hits: bool = True) -> Search:
        """Search file contents; `Search` documents what it raises while iterating.

        Without `count_hits`, its hits do not count towards frecency.

        Raises:
            InvalidQuery: The pattern, a glob or a type cannot be understood.
            InvalidRequest: A path leads out of the root.
        """
        self.used = time.monotonic()
        query = Query.of(self.root, request)
        record = self.record_answer if count_hits else None
        return Search(query, choose(query, self.state(query)), self.backend, record)

    def list_files(
        self,
        scope: ScopeSpec,
        paths: tuple[str, ...] = (),
        *,
        sweep: bool = True,
        skipped: list[Skipped] | None = None,
    ) -> Iterator[bytes]:
        """Yield the files that a search with this scope would read, in path order.

        Without `sweep`, the index is used as it is; later changes to the tree are not seen.
        Files and folders that a walk could not list are appended to `skipped`.
        """
        self.used = time.monotonic()
        listing = None
        if self.index_dir is not None and cache.is_ready() and not self._is_cold():
            with suppress(*BACKEND_FAILED):
                listing = self.indexed().list_files(scope, paths, sweep=sweep)
        if listing is None:
            walked = walk(self.root, scope, within=paths)
            listing = walked.paths, walked.skipped
        if skipped is not None:
            skipped += listing[1]
        return iter(listing[0])

    def build(self, *, progress: Progress = no_progress) -> BuildReport:
        """Rebuild the whole index. `write_index` documents the errors."""
        return write_index(self.root, self.index_dir, "full", progress)

    def update(self, *, progress: Progress = no_progress) -> BuildReport:
        """Index what changed, or everything if there is no usable index."""
        return write_index(self.root, self.index_dir, "incremental", progress)

    def status(self) -> IndexStatus:
        """Verify the index and compare it with the tree. A damaged one is reported, not raised."""
        if self.index_dir is None:
            return IndexStatus(root=self.root, index_dir="", present=False, fresh=False)
        indexed = self.indexed()
        from triseek.index.reader import status_of

        try:
            reader = indexed.reader
            reader.verify()
            diff = indexed.tree_diff()
        except INDEX_UNUSABLE as error:
            missing = isinstance(error, IndexUnavailable) and "no index" in str(error)
            return IndexStatus(
                root=self.root,
                index_dir=self.index_dir,
                present=False,
                fresh=False,
                problem="" if missing else str(error),
            )
        fresh = diff.freshness != "unverified" and diff.count == 0
        return status_of(self.root, reader, dirty=diff.count, fresh=fresh)

    def watch(self, cookies: str, folders_max: int = 1 << 15) -> Watch:
        """Track changes by file-system events from now on. Starting takes as long as a sweep.

        cookies: a folder outside the root, used for this root only (see `files.watch.watcher`).
        folders_max: the maximum number of watches of this process.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index to compare with.
            Unwatchable: The root cannot be watched; the message says why.
        """
        from triseek.engine.watch import Watch

        watch = Watch(self.indexed(), cookies, folders_max)
        with self._lock:
            self._watch = watch
        return watch

    @property
    def watched(self) -> Watch | None:
        """The active watch of the root; None if it is not watched."""
        watch = self._watch
        return watch if watch is not None and watch.alive else None

    def since(
        self, clock: Clock | None = None, *, any_epoch: bool = False
    ) -> tuple[Clock | None, ChangesSince]:
        """Return the current clock and the changes since an earlier one.

        All earlier events are processed first. If the root is not watched, the clock is None and
        the changes are unknown.

        Args:
            clock: A clock returned by an earlier call.
            any_epoch: As for `Journal.since`.
        """
        from triseek.engine.freshness.journal import ChangesSince

        watch, unknown = self.watched, ChangesSince("unknown", "not_watched")
        if watch is None or self.is_cold or not self.has_index():
            return None, unknown
        try:
            _, dirty = self.indexed().look()
        except TriseekError:  # the search itself reports it
            return None, unknown
        if dirty.freshness != "synced":  # a sweep does not report its findings to the journal
            return None, unknown
        journal = watch.journal
        if clock is None:
            return journal.clock, unknown
        return journal.clock, journal.since(clock, any_epoch=any_epoch)

    @property
    def trouble(self) -> Trouble | None:
        """Why answers need a sweep although the root is or was watched; None if they do not."""
        watch = self._watch
        return watch.trouble if watch is not None else None

    def unwatch(self) -> None:
        """Stop watching the root. Each later answer takes a sweep."""
        with self._lock:
            watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def has_index(self) -> bool:
        """Return whether an index exists, even a broken one."""
        return self.index_dir is not None and os.path.exists(  # noqa: PTH110
            os.path.join(self.index_dir, layout.CURRENT)  # noqa: PTH118
        )

    @property
    def frecency(self) -> Frecency | None:
        """The frecency scores of the root's files; None without an index folder.

        The process that maintains the root owns the scores (`Frecency.claim`). Others read what
        was saved.
        """
        if self.index_dir is None:
            return None
        from triseek.engine.frecency import Frecency

        with self._lock:
            if self._frecency is None:
                self._frecency = Frecency(self.index_dir)
            return self._frecency

    def most_used_first(self, paths: Sequence[bytes]) -> list[bytes]:
        """Return paths by descending frecency, then those without a score in their given order."""
        frecency = self._known_frecency()
        return list(paths) if frecency is None else frecency.order(paths)

    def scores(self) -> Mapping[bytes, float]:
        """Return the current frecency scores by path. Files never used are not in it."""
        frecency = self._known_frecency()
        if frecency is None:
            return {}
        frecency.catch_up()
        return frecency.snapshot()

    def _known_frecency(self) -> Frecency | None:
        """Return the scores if they are loaded or can be loaded, else None."""
        folder = self.index_dir
        saved = folder is not None and os.path.exists(os.path.join(folder, SCORES))  # noqa: PTH110, PTH118
        return self.frecency if saved or self._frecency is not None else None

    def touch(self, use: Use, paths: Sequence[bytes]) -> None:
        """Count a use of each file, if this process owns the scores."""
        frecency = self._frecency
        if frecency is not None:
            frecency.touch(use, paths)

    def release(self) -> None:
        """Free the caches that searches fill and can fill again."""
        with self._lock:
            indexed = self._indexed
        if indexed is not None:
            indexed.release()

    def record_answer(self, paths: Sequence[bytes]) -> None:
        """Count the files of an answer as hits, if this process owns the scores."""
        if self._frecency is not None:
            self._frecency.record_answer(paths)

    def check(self, *, progress: Progress = no_progress) -> int:
        """Verify the whole index and return its bytes. `store.check` documents the errors."""
        from triseek.store.check import check

        if self.index_dir is None:
            raise IndexUnavailable(f"no index for {self.root}")
        return check(self.index_dir, progress)

    @property
    def is_cold(self) -> bool:
        """Whether using the kernels would mean waiting for numba and the kernels to load."""
        return self._is_cold()

    def reader(self) -> IndexReader:
        """Return a reader of the current index generation.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index that can be read.
        """
        return self.indexed().reader

    def state(self, query: Query) -> RepoState:
        """Return the state of the repository that the router needs."""
        named = query.selection
        state = RepoState(
            kernels_ready=(ready := cache.is_ready()),
            kernels_keepable=ready or cache.can_be_kept(),
            rg_available=ripgrep.find_rg() is not None,
            only_files_named=bool(named.files) and not named.folders,
            one_shot=self._is_cold(),
        )
        if query.request.engine != "auto" or state.only_files_named or self.index_dir is None:
            return state
        try:
            current = manifest.read(self.index_dir)
            if current is None:
                return state
            state = replace(state, problem="", bytes=current.text_bytes)
            # The rest needs numba and pyarrow, so it is loaded only if needed.
            if not state.kernels_ready or state.one_shot:
                return state
            return self.indexed().outlook(state, query)
        except INDEX_UNUSABLE as error:
            return replace(state, problem=PROBLEMS[type(error)])

    def indexed(self) -> Indexed:
        """Return the indexed backend, which is opened once.

        Raises:
            IndexUnavailable: There is no index.
        """
        if self.index_dir is None:
            raise IndexUnavailable(f"no index for {self.root}")
        from triseek.engine.search.backends.indexed import Indexed

        with self._lock:
            if self._indexed is None:
                self._indexed = Indexed(self.root, self.index_dir)
            return self._indexed

    def backend(self, name: BackendName) -> Backend:
        """Return the backend of that name.

        Raises:
            IndexUnavailable: The indexed backend was requested and there is no index.
            InvalidRequest: The zoekt backend was requested and no cluster is configured.
        """
        if name == "zoekt":
            from triseek.engine.search.backends import zoekt
            from triseek.zoekt.configured import cluster

            return partial(zoekt.search, source=cluster())
        if name == "direct_scan":
            return scan.search
        return ripgrep.search if name == "ripgrep" else self.indexed().search
