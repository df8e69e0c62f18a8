"""The road that needs nothing: walk the tree, read every file, search it.

No index, no kernel, no other program. Files are read by a few threads in chunks that are handed
back in path order; only so many chunks are under way at a time, so memory is bounded by them and
by what matches. Closing the iterator ends the work where a file is read next.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from triseek.engine.backends import lines
from triseek.engine.backends.file import FileSearch, Searched, named_files
from triseek.errors import Cancelled, OutOfTime
from triseek.files.walk import walk
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import Future

    from triseek.engine.backends.base import Batch
    from triseek.model.search import BackendName, SearchRequest, Totals
    from triseek.query.pattern import Pattern

THREADS_MAX = 8
CHUNK_FILES = 64


class Scan:
    """Search a tree by reading it."""

    name: BackendName = "direct_scan"

    def __init__(self, root: str, *, threads: int | None = None) -> None:
        self.root = root
        self.threads = threads or min(THREADS_MAX, os.cpu_count() or 1)

    def search(self, request: SearchRequest, pattern: Pattern, totals: Totals) -> Iterator[Batch]:
        """Yield what matches, in path order.

        Raises:
            OutOfTime: as `model.budget.check`; what was found before was yielded.
            RepoNotDetected: The root is not there.
            InvalidQuery: A glob or a type of the scope is invalid.
            InvalidRequest: A path leads out of the root.
        """
        if request.max_count == 0:
            return
        walked = walk(self.root, request.scope, within=request.paths)
        totals.skipped += walked.skipped
        search = FileSearch(self.root, request, pattern)
        explicit = named_files(search.root, request.paths).files
        for chunk in self._each_chunk(walked.paths, search, explicit):
            for searched in chunk:
                searched.count_in(totals)
            found = [searched.found for searched in chunk if searched.found]
            yield from lines.batches(found, totals)

    def _each_chunk(
        self, paths: list[bytes], search: FileSearch, explicit: set[bytes]
    ) -> Iterator[list[Searched]]:
        """Yield what became of the files, chunk by chunk in order, a few chunks read ahead."""
        stop = Event()
        over: list[OutOfTime] = []

        def search_some(some: list[bytes]) -> list[Searched]:
            done: list[Searched] = []
            try:
                for path in some:
                    if stop.is_set():
                        break
                    done.append(search(path, explicit=path in explicit))
            except OutOfTime as error:
                over.append(error)
                stop.set()
            except Cancelled:
                if not stop.is_set():
                    raise  # nobody waits for the answer
            return done

        if len(paths) <= CHUNK_FILES:
            # In this thread, where Ctrl-C interrupts even a read that waits, as of a FIFO.
            yield search_some(paths)
            if over:
                raise over[0]
            return
        under_way: deque[Future[list[Searched]]] = deque()
        pool = ThreadPoolExecutor(self.threads, "triseek-scan")
        try:
            for begin in range(0, len(paths), CHUNK_FILES):
                some = paths[begin : begin + CHUNK_FILES]
                work = budget.carried(partial(search_some, some), stop)
                under_way.append(pool.submit(work))
                if len(under_way) > 2 * self.threads:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
            if over:
                raise over[0]
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
