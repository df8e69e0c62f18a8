"""Keeps the paths of forgotten conversations' files out of the database.

The path of a transcript often names the project, and its mark the branch. A file of which nothing
is kept is known by a keyed hash of its path, so that it is not read again until it changes; then it
is read from its start, and what was forgotten is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.tombstones import Tombstones

_PREFIX = "forgotten#"
_UNUSED = (
    "SELECT id, agent, path FROM sources AS r WHERE substr(path, 1, ?) != ?"
    " AND NOT EXISTS (SELECT 1 FROM sessions WHERE source_id = r.id)"
)


def is_hidden(name: str) -> bool:
    """Return whether the database knows a source by a hash only, and is to know no mark of it."""
    return name.startswith(_PREFIX)


def hide_unused(connection: sqlite3.Connection, tombstones: Tombstones, only: int = 0) -> None:
    """Replace the paths of sources that no conversation came from. only: a source's id."""
    rows = connection.execute(_UNUSED, (len(_PREFIX), _PREFIX)).fetchall()
    connection.executemany(
        "UPDATE OR REPLACE sources SET path = ?, mark = '{}', fingerprint = '', skipped = '[]'"
        " WHERE id = ?",
        [
            (hidden_name(tombstones, agent, path), number)
            for number, agent, path in rows
            if only in (0, number)
        ],
    )


def hidden_names(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of all sources that are known by a hash only."""
    rows = connection.execute(
        "SELECT path FROM sources WHERE substr(path, 1, ?) = ?", (len(_PREFIX), _PREFIX)
    )
    return frozenset(row[0] for row in rows)


def hidden_name(tombstones: Tombstones, agent: str, path: str) -> str:
    """Return the name of a source whose path is not to be stored."""
    return _PREFIX + tombstones.of_source(agent, path)
