"""Reads sessions with their messages from the database, to index or to search them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator

    from triseek.history.recall.segment import MessageRow

SCANNED_MAX = 30_000
"""Messages, about, that a search without an index reads: a second or two, and 20 MB of memory."""


def read(
    connection: sqlite3.Connection, session_ids: Iterable[int]
) -> Iterator[tuple[int, int, Iterator[MessageRow]]]:
    """Yield id, start and messages of each session, which are in the order of their ids."""
    for session_id in session_ids:
        started = connection.execute(
            "SELECT started_at_epoch FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        rows = connection.execute(
            "SELECT id, created_at_epoch, text FROM messages WHERE session_id = ? ORDER BY id",
            (session_id,),
        )
        yield session_id, int(started[0]) if started else 0, rows


def to_scan(
    connection: sqlite3.Connection, wanted: Collection[int] | None
) -> Iterator[tuple[int, int, Iterator[MessageRow]]]:
    """Yield the wanted sessions (None for all) that a search without an index reads, as `read`.

    All if they are few; else the newest.
    """
    counts = connection.execute(
        "SELECT session_id, count(*) FROM messages GROUP BY session_id ORDER BY session_id DESC"
    ).fetchall()
    if wanted is not None:
        ids_wanted = frozenset(wanted)
        counts = [row for row in counts if row[0] in ids_wanted]
    ids: list[int] = []
    left = SCANNED_MAX
    for session_id, count in counts:
        if left <= 0:
            break
        ids.append(session_id)
        left -= count
    return read(connection, sorted(ids))
