"""Keywords of rooms: the words that tell a room's drawers from the palace's others.

They are shown, and recall does not use them: every drawer is found by its own words already, and
the words of its neighbours would only blur that.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from triseek.recall.words import STOP

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from triseek.memory.dreaming.run import Run

WORDS = 8
"""The most keywords of a room."""
DRAWERS_MAX = 5_000
"""The newest drawers of a palace that are counted."""
TEXT_MAX = 2_000
"""Characters of a drawer that are counted."""
COMMON = 0.3
"""A word that more than this share of the palace's drawers have is no keyword."""
FEW = 10
"""In a palace of fewer drawers, every word may be one."""
_WORD = re.compile(r"[^\W\d_]{4,40}")


def refresh(run: Run) -> None:
    """Renew the keywords of the palaces that have drawers which were not compared yet."""
    with run.database.read() as connection:
        palaces = connection.execute(
            "SELECT DISTINCT d.palace_id FROM dream_queue q JOIN drawers d ON d.id = q.drawer_id"
            " WHERE ? IS NULL OR d.palace_id IN (SELECT value FROM json_each(?))",
            (run.only, run.only),
        ).fetchall()
    for (palace,) in palaces:
        if not run.goes_on():
            return
        with run.database.read() as connection:
            rooms = _rooms(connection, palace)
        words = keywords({room: texts for room, (_, texts) in rooms.items()})
        run.report.closets += len(words)
        if run.is_dry:
            continue
        with run.database.write() as connection:
            connection.execute("DELETE FROM closets WHERE palace_id = ?", (palace,))
            connection.executemany(
                "INSERT INTO closets (palace_id, room_key, room, words)"
                " SELECT id, ?, ?, ? FROM palaces WHERE id = ?",
                [(key, rooms[key][0], " ".join(own), palace) for key, own in words.items()],
            )
        run.pause()


def of_palace(connection: sqlite3.Connection, palace: int) -> dict[str, list[str]]:
    """Return the keywords of a palace's rooms, as they were after the last run that renewed them.

    palace: Its id.
    """
    rows = connection.execute(
        "SELECT room, words FROM closets WHERE palace_id = ? ORDER BY room_key", (palace,)
    )
    return {room: words.split() for room, words in rows}


def keywords(rooms: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return the keywords of rooms from their texts, most distinctive first (TF-IDF).

    A keyword is in two or more drawers of its room. Rooms without keywords are left out.
    """
    counts: dict[str, Counter[str]] = {room: Counter() for room in rooms}
    total: Counter[str] = Counter()
    drawers = 0
    for room, texts in rooms.items():
        for text in texts:
            drawers += 1
            words = {word.lower() for word in _WORD.findall(text[:TEXT_MAX])} - STOP
            counts[room].update(words)
            total.update(words)
    most = drawers if drawers < FEW else drawers * COMMON
    result = {}
    for room, own in counts.items():
        weights = {
            word: count * math.log(1 + drawers / total[word])
            for word, count in own.items()
            if count > 1 and total[word] <= most
        }
        if weights:
            result[room] = sorted(weights, key=lambda word: (-weights[word], word))[:WORDS]
    return result


def _rooms(connection: sqlite3.Connection, palace: int) -> dict[str, tuple[str, list[str]]]:
    """Return the names and texts of a palace's rooms by their keys."""
    rooms: defaultdict[str, list[str]] = defaultdict(list)
    named: dict[str, str] = {}
    rows = connection.execute(
        "SELECT room_key, room, substr(text, 1, ?) FROM drawers WHERE palace_id = ?"
        " AND deleted_at_epoch IS NULL AND superseded_by IS NULL ORDER BY id DESC LIMIT ?",
        (TEXT_MAX, palace, DRAWERS_MAX),
    )
    for key, room, text in rows:
        named[key] = room
        rooms[key].append(text)
    return {key: (named[key], texts) for key, texts in rooms.items()}
