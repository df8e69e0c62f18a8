"""The server in a process of its own, with warm kernels and watched roots."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from triseek import config
from triseek.compat.server import serve
from triseek.daemon.open_roots import OpenRoots
from triseek.engine.repositories.local import LocalRepositories
from triseek.engine.repositories.roots import Root, indexed_roots, named
from triseek.engine.roots import is_indexed
from triseek.errors import IndexUnavailable, TriseekError
from triseek.files.tree.root import resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.engine.service import Service
    from triseek.loopback.address import Address
    from triseek.model.code_search import CodeRequest, CodeResult

REFRESH_S = 5.0
"""Seconds after which the list of indexed roots is read again."""
WARM_S = 120.0
"""Seconds after which the server calls itself ready although its kernels could not be loaded."""


def run(address: Address, folders: Sequence[str], *, needs_token: bool) -> None:
    """Serve indexed folders until the process is told to end; all indexed ones if none is named.

    Raises:
        IndexUnavailable: A named folder has no index.
        RepoNotDetected: It is no folder.
        Busy, InvalidRequest, StateUnwritable: As `serve`.
    """
    roots = _roots(folders)
    settings = config.read()
    open_roots = OpenRoots(settings)
    started = time.monotonic()
    with contextlib.closing(open_roots):
        open_roots.start()
        source = IndexedRepositories(open_roots.service, roots)
        serve(
            source,
            address,
            needs_token=needs_token,
            is_ready=lambda: open_roots.is_warm or time.monotonic() - started > WARM_S,
        )


def _roots(folders: Sequence[str]) -> tuple[Root, ...] | None:
    """Return the named folders as repositories; None for all indexed ones."""
    if not folders:
        return None
    canonical = [resolve(folder).path for folder in folders]
    for folder in canonical:
        if not is_indexed(folder):
            raise IndexUnavailable(
                f"no index for {folder}", next_step=f"Run `triseek build {folder}`."
            )
    return named(dict.fromkeys(canonical))


class IndexedRepositories:
    """The `CodeSource` of some roots, or of all that are indexed at the time of a request."""

    name = "local"

    def __init__(self, service: Service, roots: tuple[Root, ...] | None) -> None:
        """Open the roots, so that they are watched from now on. roots: None for all indexed."""
        self._service = service
        self._are_all = roots is None
        self._roots = indexed_roots().roots if roots is None else roots
        self._local = LocalRepositories(service, self._roots)
        self._refreshed = time.monotonic()
        self._lock = threading.Lock()
        for root in self._roots:
            with contextlib.suppress(TriseekError):  # it is gone: searches say so
                service.engine(root.folder, exact=True)

    def search(self, request: CodeRequest) -> CodeResult:
        """Answer a query; see `CodeSource`."""
        return self._current().search(request)

    def repositories(self, query: str = "") -> CodeResult:
        """Return repositories; see `CodeSource`."""
        return self._current().repositories(query)

    def read(self, repository: str, path: bytes) -> bytes:
        """Return a file's content; see `CodeSource`."""
        return self._current().read(repository, path)

    def _current(self) -> LocalRepositories:
        with self._lock:
            if self._are_all and time.monotonic() - self._refreshed > REFRESH_S:
                self._refreshed = time.monotonic()
                roots = indexed_roots().roots
                if roots != self._roots:
                    self._roots = roots
                    self._local = LocalRepositories(self._service, roots)
            return self._local
