"""The rooms and tags of a palace, by which its drawers are filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

NAMES_MAX = 200
"""The most rooms or tags that are returned."""


def rooms(connection: sqlite3.Connection, palace: int) -> list[tuple[str, int]]:
    """Return the rooms of a palace with their numbers of drawers, the fullest first."""
    return connection.execute(
        "SELECT min(room), count(*) FROM drawers WHERE palace_id = ? AND deleted_at_epoch IS NULL"
        " GROUP BY room_key ORDER BY 2 DESC, 1 LIMIT ?",
        (palace, NAMES_MAX),
    ).fetchall()


def tags(connection: sqlite3.Connection, palace: int) -> list[tuple[str, int]]:
    """Return the tags of a palace with their numbers of drawers, the most used first."""
    return connection.execute(
        "SELECT tag, count(*) FROM drawers d JOIN drawer_tags t ON t.drawer_id = d.id"
        " WHERE d.palace_id = ? AND d.deleted_at_epoch IS NULL GROUP BY tag ORDER BY 2 DESC, 1"
        " LIMIT ?",
        (palace, NAMES_MAX),
    ).fetchall()
