"""The newest changes of the memory, made by any process, in the order of their commits.

The database itself records them: see the triggers of `schema`. So a reader that was away for less
than `KEPT` changes misses nothing, even if the process that it asked has ended meanwhile.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

KEPT = 1_000
"""Changes that the database keeps."""


@dataclass(frozen=True, slots=True)
class Event:
    """One change."""

    seq: int
    """Rises with each change, over all palaces."""
    kind: str
    """palace_created, palace_deleted, drawer_added, drawer_deleted, kg_changed, or another's."""
    palace: str
    drawer: str
    """A UUID; "" if the change is of no drawer."""
    detail: str
    """A JSON object; "" for none."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Size of the whole memory."""

    drawers: int
    """Not counting those that were forgotten."""
    vectors: int
    triples: int
    """That hold now."""


def position(connection: sqlite3.Connection) -> int:
    """Return the `seq` of the newest change; 0 if there was none."""
    row = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return 0 if row is None else int(row[0])


def after(connection: sqlite3.Connection, seq: int, limit: int) -> tuple[list[Event], int]:
    """Return the oldest changes after a position, and how many between are not kept any more."""
    rows = connection.execute(
        "SELECT seq, kind, palace, drawer, detail FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
        (seq, limit),
    ).fetchall()
    return [Event(*row) for row in rows], max(0, rows[0][0] - seq - 1) if rows else 0


def note(connection: sqlite3.Connection, kind: str, palace: str, detail: dict[str, object]) -> None:
    """Record a change that no row of the other tables shows."""
    connection.execute(
        "INSERT INTO events (kind, palace, detail) VALUES (?, ?, ?)",
        (kind, palace, json.dumps(detail)),
    )


def drawer_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of drawers of each palace, without those that were forgotten."""
    rows = connection.execute(
        "SELECT p.name, count(d.id) FROM palaces p LEFT JOIN drawers d"
        " ON d.palace_id = p.id AND d.deleted_at_epoch IS NULL GROUP BY p.id"
    )
    return dict(rows.fetchall())


def totals(connection: sqlite3.Connection) -> Totals:
    """Return the size of the whole memory. Takes some 100 ms for a million rows."""
    return Totals(
        *(
            int(connection.execute(f"SELECT count(*) FROM {rows}").fetchone()[0])  # noqa: S608
            for rows in (
                "drawers WHERE deleted_at_epoch IS NULL",
                "drawers WHERE deleted_at_epoch IS NULL AND embedder <> ''",
                "triples WHERE valid_to IS NULL",
            )
        )
    )
