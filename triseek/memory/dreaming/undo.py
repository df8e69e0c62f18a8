"""Undoes what a consolidation has linked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.memory.dreaming.log import DUPLICATE, PURGE, TAGS

if TYPE_CHECKING:
    import sqlite3

    from triseek.store.sqlite import Database

BATCH = 100
"""Changes of one transaction."""


@dataclass(slots=True)
class Undone:
    """What came of undoing a run."""

    restored: int = 0
    """Changes that were undone."""
    kept: int = 0
    """Changes whose drawers are gone, or have been changed again since."""
    purged: int = 0
    """Drawers that the run deleted for good."""


def undo(database: Database, run: int, now_ms: int) -> Undone:
    """Undo the changes of a run, the last one first; those undone before are not counted.

    Raises:
        InvalidRequest: There is no such run.
    """
    with database.read() as connection:
        if not connection.execute("SELECT 1 FROM dreams WHERE id = ?", (run,)).fetchone():
            raise InvalidRequest(
                f"there is no run {run} in the log",
                next_step="Take a number from `triseek memory dream --log`.",
            )
        (purged,) = connection.execute(
            "SELECT count(*) FROM dream_changes WHERE dream_id = ? AND step = ?", (run, PURGE)
        ).fetchone()
    undone = Undone(purged=purged)
    while _undo_batch(database, run, now_ms, undone):
        pass
    return undone


def _undo_batch(database: Database, run: int, now_ms: int, undone: Undone) -> bool:
    """Undo some changes in one transaction; return whether there were any."""
    with database.write() as connection:
        rows = connection.execute(
            "SELECT id, step, drawer, before, after FROM dream_changes WHERE dream_id = ?"
            " AND step != ? AND undone_at_epoch IS NULL ORDER BY id DESC LIMIT ?",
            (run, PURGE, BATCH),
        ).fetchall()
        for number, step, drawer, before, after in rows:
            connection.execute(
                "UPDATE dream_changes SET undone_at_epoch = ? WHERE id = ?", (now_ms, number)
            )
            if _undo_change(connection, step, drawer, before, after):
                undone.restored += 1
            else:
                undone.kept += 1
    return bool(rows)


def _undo_change(
    connection: sqlite3.Connection, step: str, drawer: str, before: str, after: str
) -> bool:
    if step == TAGS:
        cursor = connection.executemany(
            "DELETE FROM drawer_tags WHERE position = ? AND tag = ?"
            " AND drawer_id = (SELECT id FROM drawers WHERE uuid = ?)",
            [(position, tag, drawer) for position, tag in json.loads(after)],
        )
        return cursor.rowcount > 0
    if step != DUPLICATE:
        raise ValueError(f"the log has an unknown step {step!r}")
    cursor = connection.execute(
        "UPDATE drawers SET superseded_by = (SELECT id FROM drawers WHERE uuid = ?) WHERE uuid = ?"
        " AND superseded_by = (SELECT id FROM drawers WHERE uuid = ?)",
        (before, drawer, after),
    )
    if cursor.rowcount:  # so that it gets its keys again
        connection.execute(
            "INSERT OR IGNORE INTO dream_queue SELECT id FROM drawers WHERE uuid = ?", (drawer,)
        )
    return cursor.rowcount > 0
