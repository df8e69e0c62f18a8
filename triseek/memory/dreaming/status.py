"""How far the consolidation is: what waits for it, and what the last run changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.memory.dreaming.log import DUPLICATE, PURGE

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class DreamStatus:
    """How far the consolidation of some palaces is."""

    waiting: int
    """Drawers that were written or brought back since they were compared last."""
    run: int
    """The number of the last run that changed a drawer; 0 if there is none."""
    began_ms: int
    superseded: int
    """By that run."""
    purged: int
    """By that run."""


def status(connection: sqlite3.Connection, palace: int | None = None) -> DreamStatus:
    """Return how far the consolidation is. palace: The id of one; None for all."""
    (waiting,) = connection.execute(
        "SELECT count(*) FROM dream_queue q JOIN drawers d ON d.id = q.drawer_id"
        " WHERE d.palace_id = coalesce(?, d.palace_id)",
        (palace,),
    ).fetchone()
    row = connection.execute(
        "SELECT d.id, d.began_at_epoch, count(*) FILTER (WHERE c.step = ?),"
        " count(*) FILTER (WHERE c.step = ?)"
        " FROM dream_changes c JOIN dreams d ON d.id = c.dream_id"
        " WHERE c.palace_id = coalesce(?, c.palace_id) GROUP BY d.id ORDER BY d.id DESC LIMIT 1",
        (DUPLICATE, PURGE, palace),
    ).fetchone()
    return DreamStatus(waiting, *(row or (0, 0, 0, 0)))
