"""Forgets conversations and messages: removes their text from every file of the history.

Rows are deleted, the full-text indexes are made anew, the database is rewritten without free pages,
and the recall index is dropped, so that no file contains the text any more. Tombstones keep an
import from bringing it back.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.errors import Busy
from triseek.history.schema import FULL_TEXT_TABLES
from triseek.history.tombstones import Tombstones, load_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from triseek.store.sqlite import Database


_UNFINISHED = "forgetting_unfinished"
"""The fact that rows were deleted whose text may still be in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, or would be."""

    sessions: int
    messages: int
    events: int
    observations: int
    logs: int = 0
    """Logs of triseek's own sessions; as `own_sessions.Removed`, like the fields after it."""
    snapshots: int = 0
    packs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What to forget: ids of rows of the database."""

    sessions: tuple[int, ...] = ()
    messages: tuple[int, ...] = ()
    observations: tuple[int, ...] = ()


def count(database: Database, selection: Selection) -> Forgotten:
    """Return what `forget` would remove, and remove nothing."""
    with database.read() as connection:
        return _counted(connection, selection)


def names(connection: sqlite3.Connection, selection: Selection) -> frozenset[tuple[str, str]]:
    """Return agent and the agent's id of each conversation that is selected as a whole."""
    rows = (
        connection.execute("SELECT agent, external_id FROM sessions WHERE id = ?", (one,))
        for one in selection.sessions
    )
    return frozenset(row for cursor in rows for row in cursor)


def forget(database: Database, selection: Selection) -> Forgotten:
    """Remove what is selected.

    The caller drops the recall index afterwards, and calls `note_finished`: until then,
    `is_unfinished` says that a crash has interrupted it.

    Raises:
        Busy: The rows are deleted, but other processes read the database, so that their text may
            still be in its files.
        TriseekError: As `Database`, and as `tombstones.load_key`.
    """
    key = load_key()
    with database.write() as connection:
        forgotten = _counted(connection, selection)
        tombstones = Tombstones(connection, key)
        keys = _tombstones(connection, tombstones, selection)
        tombstones.add(connection, keys, time.time_ns() // 1_000_000)
        for table, numbers in (
            ("observations", selection.observations),
            ("messages", selection.messages),
            ("sessions", selection.sessions),
        ):
            _delete(connection, table, numbers)
        connection.execute(
            "INSERT OR REPLACE INTO facts_of_database (name, value) VALUES (?, '1')",
            (_UNFINISHED,),
        )
    try:
        scrub(database)
    except Busy as error:
        raise Busy(
            "what you named is forgotten, but other processes read the history: its text may still"
            " be in the files",
            next_step="It is removed from them by the next use of the history.",
        ) from error
    return forgotten


def is_unfinished(database: Database) -> bool:
    """Return whether rows were deleted whose text may still be in a file."""
    with database.read() as connection:
        row = connection.execute(
            "SELECT 1 FROM facts_of_database WHERE name = ?", (_UNFINISHED,)
        ).fetchone()
    return row is not None


def note_finished(database: Database) -> None:
    """Note that no file has the text of deleted rows any more, the recall index included."""
    with database.write() as connection:
        connection.execute("DELETE FROM facts_of_database WHERE name = ?", (_UNFINISHED,))


def scrub(database: Database) -> None:
    """Remove what deleted rows have left in the database's files, and in its backups."""
    with database.write() as connection:
        for table in FULL_TEXT_TABLES:
            connection.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('rebuild')")  # noqa: S608
    database.rewrite()
    for backup in database.path.parent.glob(f"{database.path.stem}.before-*.db"):
        with contextlib.suppress(FileNotFoundError):
            Path(backup).unlink()


def _counted(connection: sqlite3.Connection, selection: Selection) -> Forgotten:
    def of(table: str) -> int:
        query = f"SELECT count(*) FROM {table} WHERE session_id = ?"  # noqa: S608 - our own names
        return sum(connection.execute(query, (one,)).fetchone()[0] for one in selection.sessions)

    return Forgotten(
        sessions=len(selection.sessions),
        messages=of("messages") + len(selection.messages),
        events=of("tool_events"),
        observations=of("observations") + len(selection.observations),
    )


def _tombstones(
    connection: sqlite3.Connection, tombstones: Tombstones, selection: Selection
) -> list[str]:
    """Return the tombstones of what is selected; of observations, for those that were imported."""
    keys = []
    for number in selection.sessions:
        agent, conversation = connection.execute(
            "SELECT agent, external_id FROM sessions WHERE id = ?", (number,)
        ).fetchone()
        keys.append(tombstones.of_session(agent, conversation))
        for (text,) in connection.execute(
            "SELECT text FROM messages WHERE session_id = ?", (number,)
        ):
            keys.append(tombstones.of_text(text))
    for number in selection.messages:
        agent, conversation, record, text = connection.execute(
            "SELECT agent, sessions.external_id, messages.external_id, text FROM messages"
            " JOIN sessions ON sessions.id = session_id WHERE messages.id = ?",
            (number,),
        ).fetchone()
        keys += [tombstones.of_record(agent, conversation, record), tombstones.of_text(text)]
    for number in selection.observations:
        keys += [
            tombstones.of_record(*names)
            for names in connection.execute(
                "SELECT agent, external_id, row_hash FROM observations"
                " JOIN sessions ON sessions.id = session_id"
                " WHERE observations.id = ? AND origin = 'import'",
                (number,),
            )
        ]
    return keys


def _delete(connection: sqlite3.Connection, table: str, numbers: Sequence[int]) -> None:
    connection.executemany(f"DELETE FROM {table} WHERE id = ?", [(one,) for one in numbers])  # noqa: S608
