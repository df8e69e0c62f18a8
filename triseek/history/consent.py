"""Which agents' conversations may be read.

Nothing of another agent's files is read before the person has imported it once. From then on the
daemon keeps it up to date, if `history.follow` is on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_NAME = "imported_agents"


def agents(connection: sqlite3.Connection) -> frozenset[str]:
    """Return the names of the agents whose conversations the person has imported."""
    row = connection.execute(
        "SELECT value FROM facts_of_database WHERE name = ?", (_NAME,)
    ).fetchone()
    return frozenset(json.loads(row[0])) if row else frozenset()


def give(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Record that the person imports the conversations of these agents."""
    everyone = sorted(agents(connection) | set(names))
    connection.execute(
        "INSERT OR REPLACE INTO facts_of_database (name, value) VALUES (?, ?)",
        (_NAME, json.dumps(everyone)),
    )
