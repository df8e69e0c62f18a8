"""The log of consolidations: what each run changed, as a person reads it and as it is undone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

DUPLICATE, TAGS, PURGE = "duplicate", "tags", "purge"
"""The steps: `before` and `after` of a change are, in this order, the UUIDs of the drawers that
supersede it, "" for none; the tags that it had no place for and that it got, a JSON array of pairs
of position and tag; and the Unix milliseconds when it was forgotten, and ""."""
LISTED_MAX = 1_000


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one drawer."""

    step: str
    palace: str
    """The name of its palace."""
    drawer: str
    """Its UUID."""
    before: str
    after: str
    changed_ms: int = 0
    run: int = 0
    """The number of the run; 0 in the plan of a dry run."""
    undone_ms: int | None = None


def begin(connection: sqlite3.Connection, now_ms: int) -> int:
    """Begin a run and return its number."""
    cursor = connection.execute("INSERT INTO dreams (began_at_epoch) VALUES (?)", (now_ms,))
    return int(cursor.lastrowid or 0)


def write(connection: sqlite3.Connection, run: int, changes: Iterable[Change], now_ms: int) -> None:
    """Write changes into the log, in the transaction in which they are made."""
    connection.executemany(
        "INSERT INTO dream_changes"
        " (dream_id, step, palace_id, drawer, before, after, changed_at_epoch)"
        " SELECT ?, ?, id, ?, ?, ?, ? FROM palaces WHERE name = ?",
        [
            (run, change.step, change.drawer, change.before, change.after, now_ms, change.palace)
            for change in changes
        ],
    )


def listed(connection: sqlite3.Connection, limit: int, run: int = 0) -> list[Change]:
    """Return the newest changes, newest first. run: Only those of this run; 0 for all.

    limit: The most; bounded to `LISTED_MAX`.
    """
    rows = connection.execute(
        "SELECT c.step, p.name, c.drawer, c.before, c.after, c.changed_at_epoch, c.dream_id,"
        " c.undone_at_epoch FROM dream_changes c JOIN palaces p ON p.id = c.palace_id"
        " WHERE c.dream_id = ? OR ? = 0 ORDER BY c.id DESC LIMIT ?",
        (run, run, min(max(limit, 0), LISTED_MAX)),
    )
    return [Change(*row) for row in rows]


def is_refused(connection: sqlite3.Connection, drawer: str, other: str) -> bool:
    """Return whether a person has undone that one of two drawers supersedes the other."""
    row = connection.execute(
        "SELECT 1 FROM dream_changes WHERE step = ? AND undone_at_epoch IS NOT NULL"
        " AND ((drawer = ? AND after = ?) OR (drawer = ? AND after = ?)) LIMIT 1",
        (DUPLICATE, drawer, other, other, drawer),
    ).fetchone()
    return row is not None
