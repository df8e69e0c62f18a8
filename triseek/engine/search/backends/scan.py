"""The scan backend: walk the tree, read and search every file.

It needs no index, no kernel and no other program. A few threads read files in chunks, which are
returned in path order. The number of chunks in progress is limited, so memory is bounded by them
and by the matches. Closing the iterator stops the work before the next file is read.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, TypeVar

from triseek.engine.search.backends import lines
from triseek.engine.search.backends.file import FileSearch, Searched
from triseek.errors import Cancelled, OutOfTime
from triseek.files.tree.walk import walk_nearest
from triseek.model import budget

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

    from triseek.engine.search.backends.base import Batch
    from triseek.engine.search.query import Query
    from triseek.model.search import Totals

T = TypeVar("T")

THREADS = min(8, os.cpu_count() or 1)
CHUNK_FILES = 64
WALK_SHARE = 0.5
"""Share of the time for which files are listed before they are read, if there is a limit."""
PARTIAL = "the tree was not listed to its end; totals and order cover the files nearest to its root"


def search(query: Query, totals: Totals, *, threads: int = THREADS) -> Generator[Batch, None, None]:
    """Yield the results in path order.

    Raises:
        OutOfTime: as `model.budget.check`; earlier results have been yielded.
        RepoNotDetected: The root does not exist.
        InvalidQuery: A glob or a type of the scope is invalid.
        InvalidRequest: A path leads out of the root.
    """
    request = query.request
    if request.max_count == 0:
        return
    with budget.limited(WALK_SHARE * budget.left()):
        walked = walk_nearest(query.root, request.scope, within=request.paths)
    if walked.is_partial:
        totals.incomplete = PARTIAL
    totals.skipped += walked.skipped
    yield from search_files(query, totals, walked.paths, threads=threads)


def search_files(
    query: Query, totals: Totals, paths: list[bytes], *, threads: int = THREADS
) -> Generator[Batch, None, None]:
    """Yield the results in some files, which are in path order.

    Raises:
        OutOfTime: as `search`.
    """
    for chunk in _each_chunk(paths, query, threads):
        for searched in chunk:
            searched.count_in(totals)
        yield from lines.batches((each.found for each in chunk if each.found), totals)


def _each_chunk(paths: list[bytes], query: Query, threads: int) -> Iterator[list[Searched]]:
    """Yield the results of the files, chunk by chunk in order, reading a few chunks ahead."""
    search_file, explicit = FileSearch(query), frozenset(query.selection.files)
    stop = Event()
    over: list[OutOfTime] = []

    def search_some(some: list[bytes]) -> list[Searched]:
        done: list[Searched] = []
        try:
            for path in some:
                if stop.is_set():
                    break
                done.append(search_file(path, explicit=path in explicit))
        except OutOfTime as error:
            over.append(error)
            stop.set()
        except Cancelled:
            if not stop.is_set():
                raise  # no client waits for the answer
        return done

    if len(paths) <= CHUNK_FILES:
        # In this thread, so that Ctrl-C interrupts even a read that blocks, as of a FIFO.
        yield search_some(paths)
    else:
        tasks = (
            partial(search_some, paths[begin : begin + CHUNK_FILES])
            for begin in range(0, len(paths), CHUNK_FILES)
        )
        with ThreadPoolExecutor(threads, "triseek-scan") as pool:
            yield from in_order(tasks, pool, 2 * threads, stop)
    if over:
        raise over[0]


def in_order(
    tasks: Iterable[Callable[[], T]], pool: ThreadPoolExecutor, ahead: int, stop: Event
) -> Iterator[T]:
    """Run tasks on a pool, at most `ahead` of them before the reader; yield results in order.

    At the end, or when the iterator is closed, `stop` is set, and no task runs any more.
    """
    under_way: deque[Future[T]] = deque()
    try:
        for task in tasks:
            under_way.append(pool.submit(budget.carried(task, stop)))
            if len(under_way) > ahead:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        stop.set()
        for future in under_way:
            future.cancel()
        wait(under_way)
