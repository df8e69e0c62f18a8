"""One repository, ready to answer: a method per verb."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.backends.file import named_files
from triseek.engine.backends.ripgrep import Ripgrep, find_rg
from triseek.engine.backends.scan import Scan
from triseek.engine.index_status import index_status
from triseek.engine.reindex import reindex
from triseek.engine.router import RepoState
from triseek.engine.search import Search
from triseek.errors import (
    BackendFailure,
    FormatTooNew,
    IndexCorrupt,
    IndexUnavailable,
    TriseekError,
)
from triseek.files.root import resolve
from triseek.files.walk import walk
from triseek.kernels import cache
from triseek.model.index import IndexStatus, no_progress
from triseek.store import layout, manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from triseek.engine.backends.base import Backend
    from triseek.engine.backends.generation import Lender
    from triseek.engine.backends.indexed import Indexed
    from triseek.engine.frecency import Frecency, Use
    from triseek.engine.router import Problem
    from triseek.engine.trouble import Trouble
    from triseek.engine.watch import Watch
    from triseek.index.reader import Reader
    from triseek.model.index import BuildReport, Progress
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest, Skipped
    from triseek.query.pattern import Pattern
    from triseek.query.plan import Plan


SCORES = "frecency.json"
"""See `engine.frecency`, which is not imported where there are none."""


class Engine:
    """Searches below one root; shared between threads.

    Raises on creation:
        RepoNotDetected: There is no such folder.
    """

    def __init__(
        self,
        root: str,
        *,
        index_dir: str | None = None,
        is_cold: Callable[[], bool] = lambda: False,
        lender: Lender | None = None,
    ) -> None:
        """While `is_cold` says so, nothing waits for numba and the kernels to be loaded.

        lender: may know what the tree holds that the index does not; else a sweep tells.
        """
        self.root = resolve(root).path
        """Canonical and absolute."""
        self.index_dir = index_dir
        """Where this root's index is, or would be; None to search without one."""
        self.used = time.monotonic()
        """When it was last asked something."""
        self._is_cold = is_cold
        self._lender = lender
        self._lock = Lock()
        self._indexed: Indexed | None = None
        self._watch: Watch | None = None
        self._frecency: Frecency | None = None

    def search(self, request: SearchRequest, *, remember: bool = True) -> Search:
        """Search file contents. See `Search` for what is raised, and when.

        Without `remember` the answer does not count as found, for frecency.
        """
        self.used = time.monotonic()
        return Search(self, request, remember=remember)

    def list_files(
        self,
        scope: ScopeSpec,
        paths: tuple[str, ...] = (),
        *,
        sweep: bool = True,
        skipped: list[Skipped] | None = None,
    ) -> Iterator[bytes]:
        """Yield the files a search with this scope would look at, in path order.

        Without `sweep` an index is believed as it is, whatever has changed since it was written.
        What a walk could not list is added to `skipped`.
        """
        listed, faults = self._listed(scope, paths, sweep=sweep)
        if skipped is not None:
            skipped += faults
        return iter(listed)

    def _listed(
        self, scope: ScopeSpec, paths: tuple[str, ...], *, sweep: bool
    ) -> tuple[list[bytes], list[Skipped]]:
        """List from the index where it can say, else by a walk."""
        self.used = time.monotonic()
        if self.index_dir is not None and cache.is_ready() and not self._is_cold():
            try:
                return self.indexed().list_files(scope, paths, sweep=sweep)
            except (BackendFailure, IndexCorrupt, FormatTooNew, IndexUnavailable):
                pass
        walked = walk(self.root, scope, within=paths)
        return walked.paths, walked.skipped

    def build(self, *, progress: Progress = no_progress) -> BuildReport:
        """Index everything anew. See `reindex` for what is raised."""
        return reindex(self.root, self.index_dir, "full", progress)

    def update(self, *, progress: Progress = no_progress) -> BuildReport:
        """Index what changed; everything, where there is no usable index."""
        return reindex(self.root, self.index_dir, "incremental", progress)

    def status(self) -> IndexStatus:
        """Say what the index holds and whether that is what the tree holds."""
        if self.index_dir is None:
            return IndexStatus(root=self.root, index_dir="", present=False, fresh=False)
        return index_status(self.root, self.index_dir, self.indexed())

    def watch(self, cookies: str, folders_max: int = 1 << 15) -> Watch:
        """Learn of changes from the file system's events, from now on; takes as long as a sweep.

        cookies: a folder outside of the root, for this root alone (see `files.watcher`).
        folders_max: watches of this process, at most.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is no index to compare with.
            Unwatchable: The root cannot be watched, and why.
        """
        from triseek.engine.watch import Watch

        watch = Watch(self.indexed(), cookies, folders_max)
        with self._lock:
            self._watch = watch
        return watch

    @property
    def watched(self) -> Watch | None:
        """How the root is watched; None if it is not."""
        watch = self._watch
        return watch if watch is not None and watch.alive else None

    @property
    def trouble(self) -> Trouble | None:
        """Why answers take a sweep although the root is watched, or was; None if they do not."""
        watch = self._watch
        return watch.trouble if watch is not None else None

    def unwatch(self) -> None:
        """Sweep again for each answer."""
        with self._lock:
            watch, self._watch = self._watch, None
        if watch is not None:
            watch.close()

    def has_index(self) -> bool:
        """Whether there is an index, be it a broken one."""
        return self.index_dir is not None and os.path.exists(  # noqa: PTH110
            os.path.join(self.index_dir, layout.CURRENT)  # noqa: PTH118
        )

    @property
    def frecency(self) -> Frecency | None:
        """How often and how lately files were used; None without a state folder.

        Whoever keeps the root owns it (`Frecency.claim`); others see what was written down.
        """
        if self.index_dir is None:
            return None
        from triseek.engine.frecency import Frecency

        with self._lock:
            if self._frecency is None:
                self._frecency = Frecency(self.index_dir)
            return self._frecency

    def most_used_first(self, paths: Sequence[bytes]) -> list[bytes]:
        """Order paths by how often and how lately they were used; others stay as they are."""
        frecency = self._known_frecency()
        return list(paths) if frecency is None else frecency.order(paths)

    def scores(self) -> Mapping[bytes, float]:
        """Return how often and how lately files were used, as it is now; others have no score."""
        frecency = self._known_frecency()
        if frecency is None:
            return {}
        frecency.catch_up()
        return frecency.snapshot()

    def _known_frecency(self) -> Frecency | None:
        """The scores, if there are any to load or loaded."""
        folder = self.index_dir
        known = folder is not None and os.path.exists(os.path.join(folder, SCORES))  # noqa: PTH110, PTH118
        return self.frecency if known or self._frecency is not None else None

    def touch(self, use: Use, paths: Sequence[bytes]) -> None:
        """Count uses of files, where this process owns the scores."""
        frecency = self._frecency
        if frecency is not None:
            frecency.touch(use, paths)

    def release(self) -> None:
        """Let go of memory that searches have filled and can fill again."""
        with self._lock:
            indexed = self._indexed
        if indexed is not None:
            indexed.release()

    def remember(self, pattern: str, kind: str, paths: Sequence[bytes]) -> None:
        """Count the files of an answer as found, where this process owns the scores."""
        frecency = self._frecency
        if frecency is not None and frecency.owned:
            frecency.found(pattern, kind, paths)

    def check(self, *, progress: Progress = no_progress) -> int:
        """Walk every byte of the index; how many. See `store.check` for what is raised."""
        from triseek.store.check import check

        if self.index_dir is None:
            raise IndexUnavailable(f"no index for {self.root}")
        return check(self.index_dir, progress)

    @property
    def is_cold(self) -> bool:
        """Whether loading numba and the kernels has yet to be waited for."""
        return self._is_cold()

    def reader(self) -> Reader:
        """The current generation of the index.

        Raises:
            IndexUnavailable, IndexCorrupt, FormatTooNew: There is none that can be read.
        """
        return self.indexed().reader

    def state(self, request: SearchRequest, pattern: Pattern, plan: Plan) -> RepoState:
        """Return what the router needs to know.

        Raises:
            InvalidRequest: A path of the request leads out of the root.
        """
        named = named_files(os.fsencode(self.root), request.paths)
        state = RepoState(
            kernels_ready=(ready := cache.is_ready()),
            kernels_keepable=ready or cache.can_be_kept(),
            rg_available=find_rg() is not None,
            only_files_named=bool(named.files) and not named.folders,
            one_shot=self._is_cold(),
        )
        if request.engine != "auto" or state.only_files_named or self.index_dir is None:
            return state
        try:
            current = manifest.read(self.index_dir)
            if current is None:
                return state
            state = replace(state, has_index=True, bytes=current.text_bytes)
            # What more there is to know takes numba and pyarrow: not before it is needed.
            if not state.kernels_ready or state.one_shot:
                return state
            return replace(state, **self.indexed().outlook(request, pattern, plan.formula))
        except (IndexCorrupt, FormatTooNew, IndexUnavailable) as error:
            return replace(state, has_index=False, problem=_PROBLEMS[type(error)])

    def indexed(self) -> Indexed:
        """Return the road through the index, opened once.

        Raises:
            IndexUnavailable: There is no index.
        """
        if self.index_dir is None:
            raise IndexUnavailable(f"no index for {self.root}")
        from triseek.engine.backends.indexed import Indexed

        with self._lock:
            if self._indexed is None:
                self._indexed = Indexed(self.root, self.index_dir, self._lender)
            return self._indexed

    def backend(self, name: BackendName) -> Backend:
        """Return a road.

        Raises:
            IndexUnavailable: It is the index's and there is none.
        """
        if name == "direct_scan":
            return Scan(self.root)
        if name == "ripgrep":
            return Ripgrep(self.root)
        return self.indexed()


_PROBLEMS: dict[type[TriseekError], Problem] = {
    IndexCorrupt: "index_corrupt",
    FormatTooNew: "index_too_new",
    IndexUnavailable: "state_unreadable",
}
