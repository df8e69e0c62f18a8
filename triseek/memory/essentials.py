"""L1: the most important drawers of a palace, and how importance fades in their choice.

The importance that a person wrote stays as it is. For the choice of the essentials, and for nothing
else, it counts for less the longer the drawer has been neither recalled nor written, down to a
floor. That is computed when they are read: nothing is stored that would have to be undone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.memory import drawers

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.memory.drawers import Drawer
    from triseek.store.sqlite import Database

HALF_LIFE_DAYS = 180
"""Days without a use after which importance counts half."""
FLOOR = 0.5
"""The least share of it that counts."""
CANDIDATES = 100
"""Drawers from which the essentials are chosen: by importance as written, then by the last use."""
USES_MAX = 10_000
"""Drawers whose use is kept in memory; a use of further ones is not counted."""
BATCH = 200
"""Drawers whose use one transaction writes."""
_DAY_MS = 86_400_000
_USED = "max(updated_at_epoch, coalesce(recalled_at_epoch, 0))"


def chosen(connection: sqlite3.Connection, palace: int, now_ms: int, limit: int) -> list[Drawer]:
    """Return the most important drawers, in order; of equal ones those written first.

    Args:
        connection: A connection of the memory database.
        palace: The id of the palace.
        now_ms: Unix milliseconds.
        limit: The most drawers.
    """
    used = dict(
        connection.execute(
            f"SELECT id, {_USED} FROM drawers WHERE palace_id = ? AND deleted_at_epoch IS NULL"  # noqa: S608 - own columns
            f" AND superseded_by IS NULL ORDER BY importance DESC, {_USED} DESC LIMIT ?",
            (palace, CANDIDATES),
        )
    )
    candidates = drawers.by_ids(connection, list(used)).values()
    return sorted(
        candidates,
        key=lambda drawer: (-faded(drawer.importance, used[drawer.id], now_ms), drawer.id),
    )[:limit]


def faded(importance: float, used_ms: int, now_ms: int) -> float:
    """Return what an importance counts for, by whole days since the last use."""
    days = max(0, now_ms - used_ms) // _DAY_MS
    return float(importance * max(FLOOR, 0.5 ** (days / HALF_LIFE_DAYS)))


class Uses:
    """When drawers were recalled, kept in memory until it is written: a recall writes nothing."""

    def __init__(self) -> None:
        self._uses: dict[int, tuple[int, int]] = {}

    def note(self, ids: Iterable[int], now_ms: int) -> None:
        """Note that drawers were recalled. Thread-safe."""
        for number in ids:
            if number in self._uses or len(self._uses) < USES_MAX:
                self._uses[number] = (now_ms, self._uses.get(number, (0, 0))[1] + 1)

    def write(self, database: Database) -> None:
        """Write what was noted; what a process notes before it is killed is not counted."""
        noted, self._uses = list(self._uses.items()), {}
        for begin in range(0, len(noted), BATCH):
            with database.write() as connection:
                connection.executemany(
                    "UPDATE drawers SET recalled_at_epoch = ?, recall_count = recall_count + ?"
                    " WHERE id = ?",
                    [(when, count, at) for at, (when, count) in noted[begin : begin + BATCH]],
                )
