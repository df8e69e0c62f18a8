"""Counts what is kept, by palace."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from triseek.memory.service import Memory


@dataclass(slots=True)
class Counts:
    """What a palace holds."""

    palace: str
    root: str
    """The project's folder; "" if it is of none."""
    drawers: int = 0
    """That can be recalled."""
    superseded: int = 0
    forgotten: int = 0
    """That can still be brought back."""
    embedded: int = 0
    """Drawers that have a vector."""
    rooms: dict[str, int] = field(default_factory=dict)
    """Room → its drawers, largest first."""
    facts: int = 0
    """Triples that hold now."""
    ended_facts: int = 0


def counts(connection: sqlite3.Connection) -> list[Counts]:
    """Return what each palace holds, in the order of the names."""
    palaces = {
        number: Counts(name, root or "")
        for number, name, root in connection.execute(
            "SELECT id, name, root FROM palaces ORDER BY name"
        )
    }
    for number, *sums in connection.execute(
        "SELECT palace_id, sum(deleted_at_epoch IS NULL AND superseded_by IS NULL),"
        " sum(deleted_at_epoch IS NULL AND superseded_by IS NOT NULL),"
        " sum(deleted_at_epoch IS NOT NULL), sum(vector IS NOT NULL AND deleted_at_epoch IS NULL)"
        " FROM drawers GROUP BY palace_id"
    ):
        entry = palaces[number]
        entry.drawers, entry.superseded, entry.forgotten, entry.embedded = sums
    for number, room, count in connection.execute(
        "SELECT palace_id, min(room), count(*) AS size FROM drawers"
        " WHERE deleted_at_epoch IS NULL AND superseded_by IS NULL"
        " GROUP BY palace_id, room_key ORDER BY size DESC, room_key"
    ):
        palaces[number].rooms[room] = count
    for number, *sums in connection.execute(
        "SELECT palace_id, sum(valid_to IS NULL), sum(valid_to IS NOT NULL)"
        " FROM triples GROUP BY palace_id"
    ):
        palaces[number].facts, palaces[number].ended_facts = sums
    return list(palaces.values())


def size(memory: Memory) -> int:
    """Return the bytes of all files of the memory, its indexes included."""
    total = 0
    for folder, _, files in os.walk(memory.folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size  # noqa: PTH118
            except OSError:  # an index was replaced meanwhile
                continue
    return total
