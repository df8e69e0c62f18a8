"""The vectors of one palace in memory, as signed bytes, searched from the first to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from triseek.kernels import cache

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ROOM = 256
"""Rows for which there is room at first."""
_CHUNK = 4_096
"""Rows that are turned into floating point at a time."""


class Matrix:
    """Vectors by drawer id. Not thread-safe.

    A vector takes a byte for each number, and a factor. Products with a query are exact to about
    1 %, so that the best few of a search are to be compared again by the vectors themselves.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.position = 0
        """The last change that is in it: see `rows.changed`."""
        self._rows = np.empty((_ROOM, dimension), np.int8)
        self._factors = np.empty(_ROOM, np.float32)
        self._ids = np.empty(_ROOM, np.int64)
        self._alive = np.empty(_ROOM, np.uint8)
        self._size = 0
        self._dead = 0
        self._order: np.ndarray | None = None

    def __len__(self) -> int:
        return self._size - self._dead

    @property
    def bytes(self) -> int:
        """Bytes of the arrays."""
        return self._rows.nbytes + 13 * self._factors.size

    def put(self, ids: Sequence[int], vectors: np.ndarray) -> None:
        """Add vectors, or replace those of drawers that are here already.

        ids: Each once. vectors: float[n, dimension]; rows that are not finite are left out.
        """
        numbers = np.asarray(ids, np.int64)
        vectors = vectors.astype(np.float32)
        finite = np.isfinite(vectors).all(1)
        numbers, vectors = numbers[finite], vectors[finite]
        before = self._places(numbers)
        self._alive[before] = 0
        self._dead += len(before)
        if self._dead > self._size // 2:
            self._drop_dead()
        begin, end = self._size, self._size + len(numbers)
        self._make_room(end)
        self._rows[begin:end], self._factors[begin:end] = quantized(vectors)
        self._ids[begin:end] = numbers
        self._alive[begin:end] = 1
        self._size = end
        self._order = None

    def search(
        self,
        query: np.ndarray,
        count: int,
        *,
        only: Collection[int] | None = None,
        without: Collection[int] = (),
    ) -> list[int]:
        """Return the ids of the drawers nearest to a query, nearest first.

        Args:
            query: float32[dimension].
            count: The most ids.
            only: Ids of the drawers that may be returned; None for all.
            without: Ids of drawers that may not.
        """
        wanted = self._alive[: self._size]
        if only is not None:
            chosen = np.zeros(self._size, np.uint8)
            chosen[self._places(_numbers(only))] = 1
            wanted = chosen & wanted
        elif without:
            wanted = wanted.copy()
            wanted[self._places(_numbers(without))] = 0
        count = min(count, self._size)
        rows, factors = self._rows[: self._size], self._factors[: self._size]
        places = _nearest(rows, factors, wanted, quantized(query[None])[0][0], count)
        ids: list[int] = self._ids[places].tolist()
        return ids

    def _places(self, ids: np.ndarray) -> np.ndarray:
        """Return the rows of drawers; those that have none are left out."""
        if self._order is None:
            alive = np.flatnonzero(self._alive[: self._size])
            self._order = alive[np.argsort(self._ids[alive])]
        if not len(self._order):
            return self._order
        ordered = self._ids[self._order]
        at = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
        places: np.ndarray = self._order[at[ordered[at] == ids]]
        return places

    def _drop_dead(self) -> None:
        alive = np.flatnonzero(self._alive[: self._size])
        for column in (self._rows, self._factors, self._ids):
            column[: len(alive)] = column[alive]
        self._size, self._dead, self._order = len(alive), 0, None
        self._alive[: self._size] = 1

    def _make_room(self, size: int) -> None:
        if size <= len(self._ids):
            return
        room = max(size, len(self._ids) * 3 // 2)
        for name in ("_rows", "_factors", "_ids", "_alive"):
            column = getattr(self, name)
            larger = np.empty((room, *column.shape[1:]), column.dtype)
            larger[: self._size] = column[: self._size]
            setattr(self, name, larger)


def quantized(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return vectors as bytes, and the factors that turn those back: int8[n, d], float32[n]."""
    factors = np.abs(vectors).max(1, initial=0) / np.float32(127)
    rows = np.rint(vectors / np.where(factors > 0, factors, 1)[:, None]).astype(np.int8)
    return rows, factors.astype(np.float32)


def _nearest(
    rows: np.ndarray, factors: np.ndarray, wanted: np.ndarray, query: np.ndarray, count: int
) -> np.ndarray:
    """Return the places of the nearest rows, nearest first, with kernels if they are compiled."""
    if not cache.is_ready():
        return nearest_plainly(rows, factors, wanted, query, count)
    from triseek.kernels import vectors as kernels

    places, scores = np.empty(count, np.int64), np.empty(count, np.float32)
    size = kernels.nearest(rows.reshape(-1), factors, wanted, query, places, scores)
    return places[:size]


def nearest_plainly(
    rows: np.ndarray, factors: np.ndarray, wanted: np.ndarray, query: np.ndarray, count: int
) -> np.ndarray:
    """Return what `kernels.vectors.nearest` does, ten times as slowly."""
    scores = np.empty(len(rows), np.float32)
    sought = query.astype(np.float32)
    for at in range(0, len(rows), _CHUNK):
        scores[at : at + _CHUNK] = rows[at : at + _CHUNK].astype(np.float32) @ sought
    scores *= factors
    chosen = np.flatnonzero(wanted)
    return chosen[np.argsort(-scores[chosen], kind="stable")[:count]]


def _numbers(ids: Collection[int]) -> np.ndarray:
    return np.fromiter(ids, np.int64, len(ids))
