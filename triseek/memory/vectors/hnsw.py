"""An approximate index of the vectors of a large palace: a navigable graph (Malkov and Yashunin).

It is worth its while only where the exact scan takes too long: see docs/decisions/0043. The files
are disposable. One that is missing, damaged, of another embedder or far behind is not used, and the
scan answers instead, until `update` has written it anew. usearch crashes on some damaged files, so
that a file is loaded only if its checksum is right.
"""

from __future__ import annotations

import contextlib
import importlib.util
import threading
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash

from triseek import private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.memory.vectors import rows
from triseek.memory.vectors.matrix import Matrix
from triseek.store import atomic

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

    from triseek.store.sqlite import Database

FROM = 200_000
"""Vectors of a palace from which on it gets a graph: the scan takes 8 ms there."""
BYTES_MAX = 2 << 30
"""Of one file; larger palaces are scanned."""
BEHIND_MAX = 2_000
"""Vectors written after a graph that are scanned beside it; with more, all are scanned."""
OPEN_MAX = 2
"""Graphs in memory."""
_OVERFETCH = 4
"""Drawers asked for where only one may be wanted: a filter passes over the others."""
_DEAD_MAX = 1.3
"""Vectors in a graph for each that the palace has; one with more is made anew."""
_DESCRIPTION_MAX = 4_096
"""Bytes of the file that describes a graph."""
_LINKS, _BREADTH = 16, 128
"""Neighbours of a vector, and vectors looked at when one is added or searched."""


def require() -> None:
    """Raise InvalidRequest if the package usearch is not installed."""
    if importlib.util.find_spec("usearch") is None:
        raise InvalidRequest(
            "memory.vector_index = hnsw needs the Python package usearch",
            next_step="Run `pip install 'triseek[hnsw]'`, or set it to exact.",
        )


class Graphs:
    """The graphs of one memory, by palace. Thread-safe."""

    def __init__(self, folder: str, embedder: str, dimension: int) -> None:
        """Open nothing yet.

        Args:
            folder: Where the files lie; made with the first.
            embedder: The identity of the embedder whose vectors are indexed.
            dimension: Numbers of a vector.
        """
        self._folder, self._embedder, self._dimension = Path(folder), embedder, dimension
        self._lock = threading.Lock()
        self._open: OrderedDict[int, tuple[Any, Matrix]] = OrderedDict()

    def search(
        self,
        connection: sqlite3.Connection,
        palace: int,
        query: np.ndarray,
        count: int,
        only: Collection[int] | None,
        without: Collection[int],
    ) -> list[int] | None:
        """Return drawers near a query; None if there is no graph to answer with.

        Some of the nearest may be missing, but none that was written after the graph. For the
        parameters see `Matrix.search`.
        """
        with self._lock:
            current = self._current(connection, palace)
            if current is None:
                return None
            graph, later = current
            most = min(count * _OVERFETCH, len(graph))
            keys = graph.search(query.astype(np.float32), most, threads=1).keys.tolist()
            added = later.search(query, count, only=only, without=without)
        allowed = None if only is None else frozenset(only)
        hidden = frozenset(without)
        near = [key for key in keys if key not in hidden and (allowed is None or key in allowed)]
        is_enough = len(near) >= count or most == len(graph)
        return list(dict.fromkeys(near[:count] + added)) if is_enough else None

    def update(self, database: Database) -> None:
        """Write the graphs of all large palaces anew where they are missing or behind.

        Takes a millisecond for each vector. Raises as `Database`, and:
            StateUnwritable: A file cannot be written.
        """
        with database.read() as connection:
            counts = rows.counts(connection, self._embedder)
            large = {palace for palace, count in counts.items() if self._is_large(count)}
            for palace in large:
                last = rows.position(connection, palace)
                graph, at = self._loaded(palace)
                if graph is None or len(graph) > counts[palace] * _DEAD_MAX:
                    graph, at = self._new(), 0
                if last != at:
                    self._add(connection, palace, graph, at)
                    self._save(palace, graph, last)
        with self._lock:
            self._open.clear()
        for path in self._folder.glob("*"):
            if path.stem not in {str(palace) for palace in large}:
                path.unlink(missing_ok=True)

    def _is_large(self, count: int) -> bool:
        return count >= FROM and count * (2 * self._dimension + 12 * _LINKS) <= BYTES_MAX

    def _current(self, connection: sqlite3.Connection, palace: int) -> tuple[Any, Matrix] | None:
        """Return the graph of a palace, and what was written after it; None if it has none."""
        opened = self._open.pop(palace, None)
        if opened is None:
            graph, at = self._loaded(palace)
            if graph is None:
                return None
            opened = graph, Matrix(self._dimension)
            opened[1].position = at
        later = opened[1]
        if len(later) + rows.behind(connection, palace, later.position, BEHIND_MAX) > BEHIND_MAX:
            return None
        rows.refresh(connection, palace, self._embedder, later)
        self._open[palace] = opened
        while len(self._open) > OPEN_MAX:
            self._open.popitem(last=False)
        return opened

    def _new(self) -> Any:  # noqa: ANN401 - untyped
        from usearch.index import Index

        return Index(
            ndim=self._dimension, metric="cos", dtype="f16", connectivity=_LINKS,
            expansion_add=_BREADTH, expansion_search=_BREADTH,
        )  # fmt: skip

    def _add(self, connection: sqlite3.Connection, palace: int, graph: Any, at: int) -> None:  # noqa: ANN401
        changed = rows.changed(connection, palace, self._embedder, self._dimension, at)
        for ids, vectors in changed:
            finite = np.isfinite(vectors).all(1)
            keys = np.asarray(ids, np.int64)[finite]
            for key in keys[np.asarray(graph.contains(keys), bool)] if len(keys) else ():
                graph.remove(int(key))
            if len(keys):
                graph.add(keys, vectors[finite].astype(np.float32), threads=1)

    def _save(self, palace: int, graph: Any, position: int) -> None:  # noqa: ANN401 - untyped
        """Write a graph aside and rename it; what describes it comes last."""
        data = bytes(graph.save())
        try:
            private.make(str(self._folder))
            atomic.write(self._folder / f"{palace}.usearch", data)
        except OSError as error:
            raise StateUnwritable(f"cannot write below {self._folder}: {error.strerror}") from error
        body = {
            "embedder": self._embedder, "position": position, "size": len(data),
            "xxh3": xxhash.xxh3_64_hexdigest(data),
        }  # fmt: skip
        atomic.write_sealed(self._folder / f"{palace}.json", body)

    def _loaded(self, palace: int) -> tuple[Any, int]:
        """Return the graph of the files and its position; None and 0 if they cannot be used."""
        body = atomic.read_sealed(self._folder / f"{palace}.json", most_bytes=_DESCRIPTION_MAX)
        if not isinstance(body, dict) or body.get("embedder") != self._embedder:
            return None, 0
        position, size = body.get("position"), body.get("size")
        if not isinstance(position, int) or not isinstance(size, int) or size > BYTES_MAX:
            return None, 0
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            with (self._folder / f"{palace}.usearch").open("rb") as file:
                data = file.read(size + 1)
            if len(data) == size and xxhash.xxh3_64_hexdigest(data) == body.get("xxh3"):
                graph = self._new()
                graph.load(data)
                graph.expansion_search = _BREADTH  # a file does not hold it
                return graph, position
        return None, 0
