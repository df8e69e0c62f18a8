"""Search of the nearest vectors: HNSW and signed bytes against the exact answer."""

from __future__ import annotations

import importlib
import multiprocessing
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import numpy as np

from bench import machine
from bench.markdown import ms, table
from bench.memory import made
from bench.memory.timing import Times, resident, times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bench.progress import Progress

DIMENSION = 384
QUERIES = 200
COUNT = 10
"""Neighbours asked for."""
CONNECTIVITY, EXPANSION_ADD, EXPANSION_SEARCH = 16, 128, 96
"""Edges of a node of HNSW, and the candidates looked at when adding and searching."""
CHUNK = 10_000
"""Vectors that are added at a time."""


Search: TypeAlias = "Callable[[NDArray[np.float32]], list[int]]"
Built: TypeAlias = tuple[Search, int]
"""A search that returns row numbers, nearest first, and the bytes of its file."""


class Nearest(TypedDict):
    """One way of searching so many vectors, in a process of its own."""

    vectors: int
    way: str
    recall: float
    """Share of the true ten nearest among its ten."""
    search: Times
    build_s: float
    build_cpu_s: float
    resident_bytes: int
    """That the process holds more than before it built."""
    file_bytes: int
    """0 if it keeps nothing on disk beside the database."""
    load: float


def measure(sizes: Sequence[int], progress: Progress) -> list[Nearest]:
    """Measure each way at each size."""
    rows = []
    for size in sizes:
        for way in (exact, signed_bytes, hnsw):
            progress.say(f"{size:,} vectors: {way.__name__}")
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=context) as pool:
                rows.append(pool.submit(_measured, way, size).result())
    return rows


def _measured(way: Callable[[NDArray[np.float32]], Built], size: int) -> Nearest:
    from triseek.kernels import jit

    jit.warm(lambda *_: None)
    vectors = made.vectors(size, DIMENSION)
    queries = made.vectors(QUERIES, DIMENSION, made.SEED + 1)
    truth = [_top(vectors, query) for query in queries]
    before, wall, cpu = resident(), time.perf_counter(), time.process_time()
    search, file_bytes = way(vectors)
    built = time.perf_counter() - wall, time.process_time() - cpu
    held = resident() - before
    shares = [
        len(set(search(query)) & set(right.tolist())) / len(right)
        for query, right in zip(queries, truth, strict=True)
    ]
    return {
        "vectors": size, "way": way.__name__.replace("_", " "), "recall": float(np.mean(shares)),
        "search": times(search, list(queries)), "build_s": built[0], "build_cpu_s": built[1],
        "resident_bytes": held, "file_bytes": file_bytes, "load": machine.load(),
    }  # fmt: skip


def exact(vectors: NDArray[np.float32]) -> Built:
    """Compare with every vector in floating point: what the others are measured by."""
    return (lambda query: _top(vectors, query).tolist()), 0


def signed_bytes(vectors: NDArray[np.float32]) -> Built:
    """Search the memory's matrix of signed bytes, then compare the best by their vectors."""
    from triseek.memory.vectors.lane import _SPARE
    from triseek.memory.vectors.matrix import Matrix

    matrix = Matrix(vectors.shape[1])
    for begin in range(0, len(vectors), CHUNK):
        part = vectors[begin : begin + CHUNK]
        matrix.put(range(begin, begin + len(part)), part)

    def search(query: NDArray[np.float32]) -> list[int]:
        best = np.array(matrix.search(query, COUNT + _SPARE))
        rows: list[int] = best[_top(vectors[best], query)].tolist()
        return rows

    return search, 0


def hnsw(vectors: NDArray[np.float32]) -> Built:
    """Search a graph that usearch builds of 16-bit numbers, in one thread."""
    index_of = importlib.import_module("usearch.index")
    index = index_of.Index(
        ndim=vectors.shape[1], metric="ip", dtype="f16", connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD, expansion_search=EXPANSION_SEARCH,
    )  # fmt: skip
    for begin in range(0, len(vectors), CHUNK):
        part = vectors[begin : begin + CHUNK]
        index.add(np.arange(begin, begin + len(part)), part, threads=1)
    with tempfile.NamedTemporaryFile() as file:
        index.save(file.name)
        size = Path(file.name).stat().st_size

    def search(query: NDArray[np.float32]) -> list[int]:
        keys: list[int] = index.search(query, COUNT).keys.tolist()
        return keys

    return search, size


def section(measured: Sequence[Nearest]) -> Iterator[str]:
    """Yield the section about searching vectors."""
    yield "## The nearest of many vectors"
    yield (
        f"Vectors of {DIMENSION} numbers are made in {made.CLUSTERS} clusters; {QUERIES} others "
        f"ask for their {COUNT} nearest. “exact” compares all in floating point; “signed bytes” is "
        "what the memory does: all by bytes, then the best by their vectors; “hnsw” is "
        "usearch's graph of 16-bit numbers, without deletions or filters. Each row is a process of "
        "its own."
    )
    rows = [
        (
            f"{one['vectors']:,}", one["way"], f"{one['recall']:.3f}",
            *map(ms, (one["search"]["p50_ms"], one["search"]["p95_ms"])),
            ms(one["search"]["cpu_p50_ms"]), f"{one['build_s']:.1f}", f"{one['build_cpu_s']:.1f}",
            f"{one['resident_bytes'] / 1e6:,.0f}", f"{one['file_bytes'] / 1e6:,.0f}",
        )
        for one in measured
    ]  # fmt: skip
    head = (
        "vectors", "way", f"recall@{COUNT}", "p50 ms", "p95 ms", "CPU p50 ms", "build s",
        "build CPU s", "RSS MB", "file MB",
    )  # fmt: skip
    yield table(head, rows)


def _top(vectors: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return the rows nearest to a query, nearest first."""
    cosines = vectors @ query
    best = np.argpartition(-cosines, min(COUNT, len(cosines) - 1))[:COUNT]
    order: NDArray[np.int64] = best[np.argsort(-cosines[best], kind="stable")]
    return order
