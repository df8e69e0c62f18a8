"""Which agents' conversations may be read.

Nothing of another agent's files is read before the person has imported it once. From then on the
daemon keeps it up to date, if `history.follow` is on, as far back as the person has asked for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_NAME = "imported_agents"
NOTHING_KEPT = "Nothing is kept yet: run `triseek history import --all`."
"""What a search says before that."""


def agents(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the names of the agents whose conversations the person has imported.

    Each with the time since which its sources may have changed: Unix milliseconds, 0 for all.
    """
    row = connection.execute(
        "SELECT value FROM facts_of_database WHERE name = ?", (_NAME,)
    ).fetchone()
    return json.loads(row[0]) if row else {}


def give(connection: sqlite3.Connection, names: Iterable[str], since_ms: int = 0) -> None:
    """Record that the person imports the conversations of these agents. since_ms: As `agents`."""
    everyone = agents(connection)
    for name in names:
        everyone[name] = min(everyone.get(name, since_ms), since_ms)
    connection.execute(
        "INSERT OR REPLACE INTO facts_of_database (name, value) VALUES (?, ?)",
        (_NAME, json.dumps(everyone)),
    )
