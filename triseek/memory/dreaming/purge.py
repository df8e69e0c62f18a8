"""Deletes the drawers that were forgotten so long ago that nobody can bring them back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from triseek.memory.drawers import UNDO_MS
from triseek.memory.dreaming.log import PURGE, Change

if TYPE_CHECKING:
    from triseek.memory.dreaming.run import Run

BATCH = 100
"""Drawers of one transaction."""


def purge(run: Run) -> None:
    """Delete what was forgotten more than `UNDO_MS` ago. This cannot be undone."""
    before_ms = time.time_ns() // 1_000_000 - UNDO_MS
    after = 0
    while run.goes_on():
        with run.database.read() as connection:
            rows = connection.execute(
                "SELECT d.id, p.name, d.uuid, d.deleted_at_epoch FROM drawers d"
                " JOIN palaces p ON p.id = d.palace_id WHERE d.deleted_at_epoch < ? AND d.id > ?"
                " AND (? IS NULL OR d.palace_id IN (SELECT value FROM json_each(?)))"
                " ORDER BY d.id LIMIT ?",
                (before_ms, after, run.only, run.only, BATCH),
            ).fetchall()
        if not rows:
            return
        after = rows[-1][0]
        changes = [Change(PURGE, name, uuid, str(when), "") for _, name, uuid, when in rows]
        if run.is_dry:
            run.note(None, changes)
            continue
        with run.database.write() as connection:
            deleted = [
                change
                for (number, *_), change in zip(rows, changes, strict=True)
                if connection.execute(  # it may have been brought back meanwhile
                    "DELETE FROM drawers WHERE id = ? AND deleted_at_epoch < ?",
                    (number, before_ms),
                ).rowcount
            ]
            run.note(connection, deleted)
        run.pause()
