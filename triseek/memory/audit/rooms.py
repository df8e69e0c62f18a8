"""Rooms whose names differ only in punctuation or in a plural."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

    from triseek.memory.audit.findings import Findings


def check(connection: sqlite3.Connection, palace: int, findings: Findings) -> None:
    """Report the rooms of a palace that may be one. palace: Its id."""
    alike: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for key, name, drawers in connection.execute(
        "SELECT room_key, min(room), count(*) FROM drawers WHERE palace_id = ?"
        " AND deleted_at_epoch IS NULL GROUP BY room_key ORDER BY count(*) DESC, room_key",
        (palace,),
    ):
        alike[_plain(key)].append((name, drawers))
    for rooms in alike.values():
        if len(rooms) > 1:
            counts = ", ".join(f"{name} ({drawers:,})" for name, drawers in rooms)
            findings.add(
                "room", rooms[1][0], f"the rooms {counts} may be one",
                f"triseek memory list --room {shlex.quote(rooms[1][0])}",
            )  # fmt: skip


def _plain(key: str) -> str:
    plain = re.sub(r"[\W_]+", "", key) or key
    return re.sub(r"(?<=\w\w)(?:(?<=[sxz])es|(?<!s)s)$", "", plain)
