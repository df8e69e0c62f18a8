"""The history's conversations as the recall index reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from triseek.history import copies

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from triseek.recall.page import Quoted
    from triseek.recall.source import SessionRows
    from triseek.store.sqlite import Database

SCANNED_MAX = 30_000
"""Messages, about, that a search without an index reads: a second or two, and 20 MB of memory."""


class MessageSource:
    """The sessions of a history database: a `QuotedSource`."""

    in_memory_max = 0
    """Each import updates the index. A conversation that grows would be indexed once more."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def position(self, connection: sqlite3.Connection) -> int:
        """Return the greatest id of a message: the history's only change is a new message."""
        return self.last_message(connection)

    def changed(self, connection: sqlite3.Connection, position: int) -> set[int]:
        """Return the sessions with messages of greater ids."""
        rows = connection.execute(
            "SELECT DISTINCT session_id FROM messages WHERE id > ?", (position,)
        )
        return {int(row[0]) for row in rows}

    def size(self, connection: sqlite3.Connection, position: int) -> int:
        """Return the number of messages of the sessions that `changed` returns."""
        return _number(
            connection,
            "SELECT count(*) FROM messages WHERE session_id IN"
            " (SELECT session_id FROM messages WHERE id > ?)",
            position,
        )

    def count(self, connection: sqlite3.Connection) -> int:
        """Return the number of sessions."""
        return _number(connection, "SELECT count(*) FROM sessions")

    def session_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all sessions."""
        return (int(row[0]) for row in connection.execute("SELECT id FROM sessions"))

    def message_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all messages."""
        return (int(row[0]) for row in connection.execute("SELECT id FROM messages ORDER BY id"))

    def read(
        self, connection: sqlite3.Connection, session_ids: Iterable[int]
    ) -> Iterator[SessionRows]:
        """Yield these sessions with their messages in the order of their ids."""
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
        self, connection: sqlite3.Connection, wanted: Collection[int] | None
    ) -> Iterator[SessionRows]:
        """Yield the wanted sessions (None for all): all if they are few; else the newest."""
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
        return self.read(connection, sorted(ids))

    def last_message(self, connection: sqlite3.Connection) -> int:
        """Return the greatest id of a message; 0 if there is none."""
        return _number(connection, "SELECT coalesce(max(id), 0) FROM messages")

    def times(
        self, connection: sqlite3.Connection, message_ids: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        """Return the times of those messages that are there, by their id and their session's."""
        rows = connection.execute(
            "SELECT id, session_id, created_at_epoch FROM messages"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(message_ids),),
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def first_message(
        self, connection: sqlite3.Connection, session_id: int
    ) -> tuple[int, int] | None:
        """Return id and time of a session's first message; None if there is none."""
        row = connection.execute(
            "SELECT id, created_at_epoch FROM messages WHERE session_id = ? ORDER BY id LIMIT 1",
            (session_id,),
        ).fetchone()
        return None if row is None else (row[0], row[1])

    def merged(self, connection: sqlite3.Connection, quoted: Sequence[Quoted]) -> list[Quoted]:
        """Return the hits without copies of others in other conversations: see `copies`."""
        return copies.merged(connection, quoted)

    def texts(self, connection: sqlite3.Connection, message_ids: Iterable[int]) -> dict[int, str]:
        """Return the texts of these messages."""
        return copies.texts(connection, message_ids)


def _number(connection: sqlite3.Connection, statement: str, *values: int) -> int:
    return int(connection.execute(statement, values).fetchone()[0])
