"""Recall by vectors: the drawers nearest to a query, whatever their words."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from triseek.errors import BackendFailure, InvalidRequest
from triseek.memory import fusion, source
from triseek.memory.vectors import rows
from triseek.memory.vectors.embedder import identity
from triseek.memory.vectors.matrix import Matrix
from triseek.recall import words

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    import numpy as np

    from triseek.memory.vectors.embedder import Embedder
    from triseek.memory.vectors.hnsw import Graphs
    from triseek.memory.word_search import Filters, Ranked

logger = logging.getLogger(__name__)

BYTES_MAX = 512 << 20
"""Of all palaces in memory; the one used longest ago makes room."""
CANDIDATES = 100
"""Drawers that vectors bring to be joined with those of the words."""
_READ = 20
"""The best by words, of which one has the most of the query's terms."""
_SPARE = 40
"""Drawers that are compared by their vectors beyond those that are wanted: bytes are not exact."""


class VectorLane:
    """Vectors of drawers by one embedder. Thread-safe.

    An embedder that fails takes nothing away: drawers stay without a vector until
    `Memory.embed_missing`, and a query is answered by its words.
    """

    def __init__(self, embedder: Embedder, graphs_folder: str = "") -> None:
        """Load nothing yet. graphs_folder: Where graphs of large palaces lie; "" for none."""
        self.embedder = embedder
        self._graphs_folder = graphs_folder
        self._graphs: Graphs | None = None
        self._lock = threading.Lock()
        self._palaces: OrderedDict[int, tuple[threading.Lock, Matrix]] = OrderedDict()
        self._failed = ""

    def embed(self, text: str) -> np.ndarray | None:
        """Return the vector of a text or query: float32[d]; None if the embedder cannot, now."""
        try:
            vector: np.ndarray = self.embedder.embed([text])[0]
        except (BackendFailure, InvalidRequest) as error:
            if self._failed != error.message:
                logger.warning("no vectors: %s", error.message)
            self._failed = error.message
            return None
        self._failed = ""
        return vector

    @property
    def identity(self) -> str:
        """The name under which its vectors are kept."""
        return identity(self.embedder)

    def write(self, connection: sqlite3.Connection, drawer: int, vector: np.ndarray) -> None:
        """Write the vector of a drawer, in its transaction. vector: As `embed` returns it."""
        rows.write(connection, self.identity, drawer, rows.pack(vector))

    def join(
        self,
        connection: sqlite3.Connection,
        palace: int,
        ranked: Ranked,
        query: np.ndarray,
        most: int,
        filters: Filters,
    ) -> Ranked:
        """Return the best drawers by words and vectors together.

        Args:
            connection: A connection of the memory database, in a transaction.
            palace: The palace's id.
            ranked: What the words have found: more than `most`, so that both ways have a say.
            query: The query's vector, as `embed` returns it.
            most: The most drawers.
            filters: Which drawers were searched.
        """
        cosines = self.search(connection, palace, query, CANDIDATES, filters)
        cosines |= self.cosines(
            connection, [at for at in ranked.scores if at not in cosines], query
        )
        weights = fusion.weights(ranked.terms, ranked.weights)
        texts = source.texts(connection, list(islice(ranked.scores, _READ)))
        covered = [fusion.coverage(weights, set(words.terms(text))) for _, text in texts]
        scores = fusion.fuse(ranked.scores, max(covered, default=0.0), cosines)
        return replace(ranked, scores=dict(islice(scores.items(), most)))

    def search(
        self,
        connection: sqlite3.Connection,
        palace: int,
        query: np.ndarray,
        count: int,
        wanted: Filters,
    ) -> dict[int, float]:
        """Return the drawers nearest to a query with their cosines, nearest first.

        Equal ones are in the order of writing. Raises sqlite3's errors.

        Args:
            connection: A connection of the memory database, in a transaction.
            palace: The palace's id.
            query: float32[d], as `embed` returns it.
            count: The most drawers.
            wanted: Which drawers.
        """
        if count <= 0 or not query.any():
            return {}
        only, without = rows.eligible(connection, palace, wanted)
        if only is not None and len(only) <= count + _SPARE:
            candidates: Sequence[int] = only
        else:
            candidates = self._nearest(connection, palace, query, count + _SPARE, only, without)
        cosines = self.cosines(connection, candidates, query)
        best = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
        return dict(best[:count])

    def cosines(
        self, connection: sqlite3.Connection, ids: Sequence[int], query: np.ndarray
    ) -> dict[int, float]:
        """Return the cosines of drawers with a query; those without a vector are left out."""
        return rows.cosines(connection, self.identity, ids, query)

    def release(self) -> None:
        """Give back all memory; the next search reads the vectors again."""
        with self._lock:
            self._palaces.clear()
            self._graphs = None
        self.embedder.release()

    def _nearest(
        self,
        connection: sqlite3.Connection,
        palace: int,
        query: np.ndarray,
        count: int,
        only: Sequence[int] | None,
        without: Sequence[int],
    ) -> list[int]:
        if (graphs := self.graphs) is not None:
            nearest = graphs.search(connection, palace, query, count, only, without)
            if nearest is not None:
                return nearest
        lock, matrix = self._of(palace)
        with lock:
            rows.refresh(connection, palace, self.identity, matrix)
            nearest = matrix.search(query, count, only=only, without=without)
        self._make_room()
        return nearest

    @property
    def graphs(self) -> Graphs | None:
        """The graphs of large palaces; None if all are scanned."""
        if self._graphs is None and self._graphs_folder:
            from triseek.memory.vectors.hnsw import Graphs

            self._graphs = Graphs(self._graphs_folder, self.identity, self.embedder.dimension)
        return self._graphs

    def _of(self, palace: int) -> tuple[threading.Lock, Matrix]:
        with self._lock:
            if palace not in self._palaces:
                self._palaces[palace] = threading.Lock(), Matrix(self.embedder.dimension)
            self._palaces.move_to_end(palace)
            return self._palaces[palace]

    def _make_room(self) -> None:
        with self._lock:
            size = sum(matrix.bytes for _, matrix in self._palaces.values())
            while size > BYTES_MAX and len(self._palaces) > 1:
                _, (_, matrix) = self._palaces.popitem(last=False)
                size -= matrix.bytes
