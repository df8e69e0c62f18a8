"""One repository, ready to answer: a method per verb."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from triseek.engine.backends.file import named_files
from triseek.engine.backends.ripgrep import Ripgrep, find_rg
from triseek.engine.backends.scan import Scan
from triseek.engine.router import RepoState
from triseek.engine.search import Search
from triseek.errors import FormatTooNew, IndexCorrupt, IndexUnavailable, RepoNotDetected
from triseek.files.walk import walk
from triseek.kernels import cache
from triseek.store import manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.engine.backends.base import Backend
    from triseek.engine.router import Problem
    from triseek.model.search import BackendName, ScopeSpec, SearchRequest


class Engine:
    """Searches below one root. Shared between threads; holds nothing that must be closed yet."""

    def __init__(self, root: str, *, index_dir: str | None = None) -> None:
        self.root = os.path.realpath(root)
        """Canonical and absolute."""
        if not os.path.isdir(self.root):
            raise RepoNotDetected(f"not a folder: {root}")
        self.index_dir = index_dir
        """Where this root's index is, or would be; None to search without one."""

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
        has_index, problem = self._look_at_index()
        return RepoState(
            has_index=has_index,
            problem=problem,
            kernels_ready=cache.is_ready(),
            rg_available=find_rg() is not None,
            only_files_named=bool(named.files) and not named.folders,
        )

    def _look_at_index(self) -> tuple[bool, Problem]:
        """Return whether there is an index, and what is wrong with it if something is."""
        if self.index_dir is None:
            return False, ""
        try:
            return manifest.read(self.index_dir) is not None, ""
        except IndexCorrupt:
            return False, "index_corrupt"
        except FormatTooNew:
            return False, "index_too_new"
        except IndexUnavailable:
            return False, "state_unreadable"

    def backend(self, name: BackendName) -> Backend:
        """Return a road.

        Raises:
            IndexUnavailable: It is the index's and there is none.
        """
        if name == "direct_scan":
            return Scan(self.root)
        if name == "ripgrep":
            return Ripgrep(self.root)
        if self.index_dir is None or not self._look_at_index()[0]:
            raise IndexUnavailable(f"no index for {self.root}")
        from triseek.engine.backends.indexed import Indexed

        return Indexed(self.root, self.index_dir)
