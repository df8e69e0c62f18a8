"""One repository, ready to answer: a method per verb."""

from __future__ import annotations

import os
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from triseek.engine.backends.file import named_files
from triseek.engine.backends.ripgrep import Ripgrep, find_rg
from triseek.engine.backends.scan import Scan
from triseek.engine.router import RepoState
from triseek.engine.search import Search
from triseek.errors import (
    FormatTooNew,
    IndexCorrupt,
    IndexUnavailable,
    RepoNotDetected,
    TriseekError,
)
from triseek.files.walk import walk
from triseek.kernels import cache
from triseek.store import manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.backends.base import Backend
    from triseek.engine.backends.indexed import Indexed
    from triseek.engine.router import Problem
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest


class Engine:
    """Searches below one root. Shared between threads; holds nothing that must be closed yet."""

    def __init__(self, root: str, *, index_dir: str | None = None) -> None:
        self.root = os.path.realpath(root)
        """Canonical and absolute."""
        if not os.path.isdir(self.root):  # noqa: PTH112
            raise RepoNotDetected(f"not a folder: {root}")
        self.index_dir = index_dir
        """Where this root's index is, or would be; None to search without one."""
        self._lock = Lock()
        self._indexed: Indexed | None = None

    def search(self, request: SearchRequest) -> Search:
        """Search file contents. See `Search` for what is raised, and when."""
        return Search(self, request)

    def list_files(self, scope: ScopeSpec, paths: tuple[str, ...] = ()) -> Iterator[bytes]:
        """Yield the files a search with this scope would look at, in path order."""
        return iter(walk(self.root, scope, within=paths).paths)

    def state(self, request: SearchRequest) -> RepoState:
        """Return what the router needs to know.

        Raises:
            InvalidRequest: A path of the request leads out of the root.
        """
        named = named_files(os.fsencode(self.root), request.paths)
        state = RepoState(
            kernels_ready=cache.is_ready(),
            rg_available=find_rg() is not None,
            only_files_named=bool(named.files) and not named.folders,
        )
        # What the index says of itself takes numpy and pyarrow: not before it is needed.
        if request.engine != "auto" or state.only_files_named or self.index_dir is None:
            return state
        try:
            if manifest.read(self.index_dir) is None:
                return state
            covers = state.kernels_ready and self.indexed().covers(request.scope, request.paths)
        except (IndexCorrupt, FormatTooNew, IndexUnavailable) as error:
            return replace(state, problem=_PROBLEMS[type(error)])
        return replace(state, has_index=True, index_covers=covers)

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
                self._indexed = Indexed(self.root, self.index_dir)
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
