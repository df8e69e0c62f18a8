"""Forgets conversations and single records: removes their text from every file of the history.

Rows are deleted, what was derived from them is derived again, the full-text indexes are merged,
which drops deleted words, the database is rewritten without free pages, and segments of the recall
index that have some of the text are written anew, so that no file contains it any more. Tombstones
keep imports and synthesis from bringing it back.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.errors import Busy, StateUnwritable
from triseek.history import belonging
from triseek.history.importing.hidden_sources import hide_unused
from triseek.history.schema import FULL_TEXT_TABLES
from triseek.history.tombstones import Tombstones, load_key

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from triseek.history.selecting import Selection
    from triseek.store.sqlite import Database


_UNFINISHED = "forgetting_unfinished"
"""The fact that rows were deleted whose text may still be in a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was forgotten, or would be."""

    sessions: int
    messages: int
    """Those of the sessions, single ones, and copies of them in other sessions."""
    events: int
    """As `messages`."""
    observations: int
    logs: int = 0
    """Logs of triseek's own sessions; as `own_sessions.Removed`, like the fields after it."""
    snapshots: int = 0
    packs: int = 0


def count(database: Database, selection: Selection) -> Forgotten:
    """Return what `forget` would remove, and remove nothing."""
    with database.read() as connection:
        return _counted(connection, belonging.complete(connection, selection))


def names(connection: sqlite3.Connection, selection: Selection) -> frozenset[tuple[str, str]]:
    """Return agent and the agent's id of each conversation that is forgotten as a whole."""
    rows = (
        connection.execute("SELECT agent, external_id FROM sessions WHERE id = ?", (one,))
        for one in belonging.with_sub_agents(connection, selection).sessions
    )
    return frozenset(row for cursor in rows for row in cursor)


def forget(database: Database, selection: Selection) -> Forgotten:
    """Remove what is selected, with sub-agents of the conversations and copies in other ones.

    The caller purges the recall index afterwards, and calls `note_finished`: until then,
    `is_unfinished` says that a crash has interrupted it.

    Raises:
        Busy: The rows are deleted, but other processes read the database, so that their text may
            still be in its files.
        StateUnwritable: As Busy, if the disk is full; or nothing is deleted.
        TriseekError: As `Database`, and as `tombstones.load_key`.
    """
    key, now_ms = load_key(), time.time_ns() // 1_000_000
    with database.write() as connection:
        selection = belonging.complete(connection, selection)
        forgotten = _counted(connection, selection)
        tombstones = Tombstones(connection, key)
        keys = _tombstones(connection, tombstones, selection)
        for number, *session in _sessions_titled_by(connection, selection.said):
            keys.append(tombstones.of_title(*session))
            connection.execute("UPDATE sessions SET title = '' WHERE id = ?", (number,))
        tombstones.add(connection, keys, now_ms)
        changed = _changed_sessions(connection, selection)
        _hide_superseded(connection, selection.observations, now_ms)
        for table, numbers in (
            ("observations", selection.observations),
            ("messages", selection.said),
            ("tool_events", selection.events),
            ("sessions", selection.sessions),
        ):
            _delete(connection, table, numbers)
        _clear_derived(connection, changed)
        connection.execute(
            "INSERT OR REPLACE INTO facts_of_database VALUES (?, '')", (_UNFINISHED,)
        )
        if selection.sessions:
            hide_unused(connection, tombstones)
    from triseek.history.synthesis.synthesize import synthesize

    for number in changed:  # summaries quote prompts and titles
        synthesize(database, number)
    try:
        scrub(database)
    except (Busy, StateUnwritable) as error:
        is_busy = isinstance(error, Busy)
        why = "other processes read the history" if is_busy else str(error)
        raise type(error)(
            f"what you named is forgotten, but its text may still be in the files: {why}",
            next_step="It is removed from them by the next use of the history."
            if is_busy
            else "Free space on its disk: the next use of the history removes it.",
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
            connection.execute(f"INSERT INTO {table}_fts ({table}_fts) VALUES ('optimize')")  # noqa: S608
    database.rewrite()
    for backup in database.path.parent.glob(f"{database.path.stem}.before-*.db"):
        with contextlib.suppress(FileNotFoundError):
            Path(backup).unlink()


def _counted(connection: sqlite3.Connection, selection: Selection) -> Forgotten:
    def of(table: str) -> int:
        query = f"SELECT count(*) FROM {table} WHERE session_id = ?"  # noqa: S608 - our own names
        return sum(
            connection.execute(query, (number,)).fetchone()[0] for number in selection.sessions
        )

    def beside(table: str, numbers: Sequence[int]) -> int:
        query = f"SELECT session_id FROM {table} WHERE id = ?"  # noqa: S608 - our own names
        sessions = (connection.execute(query, (number,)).fetchone() for number in numbers)
        return sum(row is not None and row[0] not in selection.sessions for row in sessions)

    return Forgotten(
        sessions=len(selection.sessions),
        messages=of("messages") + beside("messages", selection.said),
        events=of("tool_events") + beside("tool_events", selection.events),
        observations=of("observations") + beside("observations", selection.observations),
    )


def _tombstones(
    connection: sqlite3.Connection, tombstones: Tombstones, selection: Selection
) -> list[str]:
    """Return the tombstones of what is selected."""
    keys = []
    for number in selection.sessions:
        row = connection.execute(
            "SELECT agent, external_id FROM sessions WHERE id = ?", (number,)
        ).fetchone()
        keys += [tombstones.of_session(*row)] if row else []
    keys += [tombstones.of_use(*use) for _, _, *use in belonging.uses(connection, selection)]
    keys += [tombstones.of_text(text) for _, _, text in belonging.messages(connection, selection)]
    for number in selection.said:
        row = connection.execute(
            "SELECT agent, sessions.external_id, messages.external_id FROM messages"
            " JOIN sessions ON sessions.id = session_id WHERE messages.id = ?",
            (number,),
        ).fetchone()
        keys += [tombstones.of_record(*row)] if row else []
    for number in selection.observations:
        row = connection.execute(
            "SELECT agent, external_id, row_hash FROM observations"
            " JOIN sessions ON sessions.id = session_id WHERE observations.id = ?",
            (number,),
        ).fetchone()
        # Rules look for the hash, imports of other programs' observations for the record.
        keys += [tombstones.of_observation(row[2]), tombstones.of_record(*row)] if row else []
    return keys


def _changed_sessions(connection: sqlite3.Connection, selection: Selection) -> list[int]:
    """Return the sessions of which a part is forgotten, and so has to be derived again."""
    changed: dict[int, None] = {}
    for table, numbers in (
        ("messages", selection.said),
        ("tool_events", selection.events),
        ("observations", selection.observations),
    ):
        query = f"SELECT session_id FROM {table} WHERE id = ?"  # noqa: S608 - our own names
        for number in numbers:
            changed.update(dict.fromkeys(row[0] for row in connection.execute(query, (number,))))
    return [number for number in changed if number not in selection.sessions]


def _clear_derived(connection: sqlite3.Connection, sessions: Sequence[int]) -> None:
    """Clear the summaries of sessions, which quote prompts and titles, and have them derived."""
    numbers = [(number,) for number in sessions]
    connection.executemany(
        "UPDATE session_summaries SET request = '', investigated = '', learned = '',"
        " completed = '', next_steps = '', notes = '', sub = ''"
        " WHERE session_id = ? AND origin = 'rule'",
        numbers,
    )
    connection.executemany("UPDATE sessions SET derived_at = 0 WHERE id = ?", numbers)


def _hide_superseded(
    connection: sqlite3.Connection, observations: Sequence[int], now_ms: int
) -> None:
    """Keep hidden what forgotten observations have superseded: it does not hold again."""
    connection.executemany(
        "UPDATE observations SET valid_until = min(coalesce(valid_until, ?1), ?1)"
        " WHERE superseded_by = ?2",
        [(now_ms, number) for number in observations],
    )


def _sessions_titled_by(
    connection: sqlite3.Connection, messages: Sequence[int]
) -> Iterator[tuple[int, str, str]]:
    """Yield the sessions whose titles quote a message: id, agent, and the agent's id."""
    for number in messages:
        row = connection.execute(
            "SELECT sessions.id, agent, sessions.external_id, title, text FROM messages"
            " JOIN sessions ON sessions.id = session_id WHERE messages.id = ?",
            (number,),
        ).fetchone()
        if row is None:
            continue
        title, text = (" ".join(part.split()) for part in row[3:])
        if title and title.rstrip(".… ") in text:
            yield row[:3]


def _delete(connection: sqlite3.Connection, table: str, numbers: Sequence[int]) -> None:
    connection.executemany(
        f"DELETE FROM {table} WHERE id = ?",  # noqa: S608 - our own names
        [(number,) for number in numbers],
    )
