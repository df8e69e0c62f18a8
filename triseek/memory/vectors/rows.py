"""Vectors in the database: a drawer's own row holds its vector and who made it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from triseek.memory.vectors.matrix import Matrix
    from triseek.memory.word_search import Filters

_TYPE = np.dtype("<f2")
"""Half precision: cosines differ by less than 0.001 from those of single precision."""
_FETCHED = 4_096
"""Rows read at a time."""
_MARKS_MAX = 10_000
"""Ids in one statement; SQLite takes 32,766 values."""


def pack(vector: np.ndarray) -> bytes:
    """Return how a vector is kept."""
    return vector.astype(_TYPE).tobytes()


def write(connection: sqlite3.Connection, embedder: str, number: int, vector: bytes) -> None:
    """Write a drawer's vector, as `pack` makes it. embedder: as `identity`. number: The drawer."""
    connection.execute(
        "UPDATE drawers SET embedder = ?, vector = ? WHERE id = ?", (embedder, vector, number)
    )


def write_if_same(
    connection: sqlite3.Connection, embedder: str, texts: dict[int, str], vectors: np.ndarray
) -> None:
    """Write the vectors of some drawers, but of those whose text is another by now.

    texts: What was embedded, by drawer.
    """
    connection.executemany(
        "UPDATE drawers SET embedder = ?, vector = ? WHERE id = ? AND text = ?",
        [
            (embedder, pack(vector), number, text)
            for (number, text), vector in zip(texts.items(), vectors, strict=True)
        ],
    )


def missing(connection: sqlite3.Connection, embedder: str, limit: int) -> dict[int, str]:
    """Return texts of drawers that have no vector of an embedder, oldest first, by drawer."""
    rows = connection.execute(
        "SELECT id, text FROM drawers WHERE deleted_at_epoch IS NULL"
        " AND (embedder < :embedder OR embedder > :embedder) ORDER BY id LIMIT :limit",
        {"embedder": embedder, "limit": limit},
    )
    return dict(rows.fetchall())


def count_missing(connection: sqlite3.Connection, embedder: str) -> int:
    """Return how many drawers have no vector of an embedder."""
    row = connection.execute(
        "SELECT count(*) FROM drawers WHERE deleted_at_epoch IS NULL"
        " AND (embedder < :embedder OR embedder > :embedder)",
        {"embedder": embedder},
    ).fetchone()
    return int(row[0])


def position(connection: sqlite3.Connection, palace: int) -> int:
    """Return the number of the last vector that was written in a palace; 0 for none."""
    row = connection.execute(
        "SELECT coalesce(max(vector_seq), 0) FROM drawers"
        " WHERE palace_id = ? AND vector_seq IS NOT NULL",
        (palace,),
    ).fetchone()
    return int(row[0])


def behind(connection: sqlite3.Connection, palace: int, since: int, limit: int) -> int:
    """Return how many vectors were written after a position; at most `limit`."""
    row = connection.execute(
        "SELECT count(*) FROM"
        " (SELECT 1 FROM drawers WHERE palace_id = ? AND vector_seq > ? LIMIT ?)",
        (palace, since, limit),
    ).fetchone()
    return int(row[0])


def counts(connection: sqlite3.Connection, embedder: str) -> dict[int, int]:
    """Return how many vectors of an embedder each palace has."""
    return dict(
        connection.execute(
            "SELECT palace_id, count(*) FROM drawers WHERE embedder = ? AND vector_seq IS NOT NULL"
            " GROUP BY palace_id",
            (embedder,),
        )
    )


def changed(
    connection: sqlite3.Connection, palace: int, embedder: str, dimension: int, since: int
) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield the vectors that were written after a position, in parts: drawers and float16[n, d].

    Vectors of other embedders, and those that have not the right size, are left out.
    """
    cursor = connection.execute(
        "SELECT id, vector FROM drawers WHERE palace_id = ? AND vector_seq > ? AND embedder = ?"
        " AND typeof(vector) = 'blob' AND length(vector) = ? ORDER BY vector_seq",
        (palace, since, embedder, dimension * _TYPE.itemsize),
    )
    while rows := cursor.fetchmany(_FETCHED):
        yield [row[0] for row in rows], _unpack([row[1] for row in rows], dimension)


def refresh(connection: sqlite3.Connection, palace: int, embedder: str, matrix: Matrix) -> None:
    """Put into a matrix what was written after its position.

    The transaction sees one state, so that vectors and position fit.
    """
    last = position(connection, palace)
    if last > matrix.position:
        for ids, vectors in changed(
            connection, palace, embedder, matrix.dimension, matrix.position
        ):
            matrix.put(ids, vectors)
        matrix.position = last


def cosines(
    connection: sqlite3.Connection, embedder: str, ids: Sequence[int], query: np.ndarray
) -> dict[int, float]:
    """Return the cosines of drawers with a query, by drawer; drawers without a vector are left out.

    embedder: Whose vectors. query: float32[d], of length 1.
    """
    products: dict[int, float] = {}
    for at in range(0, len(ids), _MARKS_MAX):
        part = ids[at : at + _MARKS_MAX]
        rows = connection.execute(
            "SELECT id, vector FROM drawers"  # noqa: S608 - marks only
            " WHERE embedder = ? AND typeof(vector) = 'blob'"
            f" AND length(vector) = ? AND id IN ({','.join('?' * len(part))})",
            (embedder, len(query) * _TYPE.itemsize, *part),
        ).fetchall()
        vectors = _unpack([row[1] for row in rows], len(query)).astype(np.float32)
        numbers = np.array([row[0] for row in rows], np.int64)
        finite = np.isfinite(vectors).all(1)
        cosines = np.clip(vectors[finite] @ query, -1, 1)
        products |= dict(zip(numbers[finite].tolist(), cosines.tolist(), strict=True))
    return products


def eligible(
    connection: sqlite3.Connection, palace: int, wanted: Filters
) -> tuple[list[int] | None, list[int]]:
    """Return the drawers that a search may return, None for all; and those that it may not.

    The second list holds something only if the first is None.
    """
    hidden = "deleted_at_epoch IS NOT NULL"  # written as the indexes are, so that they are used
    if not wanted.deep:
        hidden = f"({hidden} OR superseded_by IS NOT NULL)"
    is_filtered = bool(wanted.room_key or wanted.tag or wanted.since_ms > 0)
    sql = "SELECT id FROM drawers WHERE palace_id = :palace AND "
    if is_filtered:
        sql += f"NOT {hidden} AND created_at_epoch >= :since"
        if wanted.room_key:
            sql += " AND room_key = :room"
        if wanted.tag:
            sql += " AND id IN (SELECT drawer_id FROM drawer_tags WHERE tag = :tag)"
    else:
        sql += hidden
    rows = connection.execute(
        sql,
        {
            "palace": palace, "since": wanted.since_ms, "room": wanted.room_key,
            "tag": wanted.tag,
        },
    )  # fmt: skip
    ids = [row[0] for row in rows]
    return (ids, []) if is_filtered else (None, ids)


def _unpack(blobs: Sequence[bytes], dimension: int) -> np.ndarray:
    return np.frombuffer(b"".join(blobs), _TYPE).reshape(len(blobs), dimension)
