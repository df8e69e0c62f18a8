"""Links drawers that say the same: the older or less important one is superseded by the other.

A drawer is superseded only by one of the same palace and room that says everything it says
(`similarity`), and its tags go to that one: so no filter of recall loses anything. Its text, its
importance and its times stay. What a person has undone is not linked again.

Drawers are compared outside of transactions, and a short transaction writes what came of a batch,
for the drawers that nobody has changed meanwhile.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from triseek.memory import names
from triseek.memory.dreaming import log, similarity
from triseek.memory.dreaming.log import DUPLICATE, TAGS, Change

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from triseek.memory.dreaming.run import Run
    from triseek.memory.dreaming.similarity import Profile

BATCH = 64
"""Drawers of one transaction."""
CANDIDATES_MAX = 20
"""Drawers with the same key that one drawer is compared with."""
_COLUMNS = (
    "d.id, d.uuid, d.palace_id, p.name, d.room_key, d.text, d.importance, d.updated_at_epoch,"
    " d.superseded_by IS NULL"
)


class _Drawer(NamedTuple):
    id: int
    uuid: str
    palace_id: int
    palace: str
    room_key: str
    text: str
    importance: float
    updated_ms: int
    is_shown: int
    """Whether nothing supersedes it."""


class _Link(NamedTuple):
    loser: _Drawer
    survivor: _Drawer


@dataclass(slots=True)
class _Batch:
    """What came of comparing some drawers."""

    profiles: dict[int, Profile]
    """Of the drawers that were compared, by id."""
    drawers: list[_Drawer]
    links: list[_Link]


class _Search:
    """Finds the drawers that may say the same as one, among those compared so far."""

    def __init__(self) -> None:
        self._unwritten: dict[tuple[int, int], list[int]] = {}
        """By palace and key: drawers whose keys are not in the database yet."""
        self._superseded: set[int] = set()
        """Drawers whose link is not in the database yet."""
        self._cache: dict[int, tuple[_Drawer, Profile]] = {}

    def compare(self, connection: sqlite3.Connection, drawer: _Drawer, into: _Batch) -> None:
        """Compare a drawer with those before it."""
        profile = similarity.profile(drawer.text, drawer.room_key)
        self._cache[drawer.id] = (drawer, profile)
        into.drawers.append(drawer)
        into.profiles[drawer.id] = profile
        for number in self._candidates(connection, drawer, profile.keys):
            other = self._drawer(connection, number)
            link = other and _link((drawer, profile), other)
            if not link or log.is_refused(connection, link.loser.uuid, link.survivor.uuid):
                continue
            into.links.append(link)
            self._superseded.add(link.loser.id)
            if link.loser is drawer:
                return
        for key in profile.keys:
            self._unwritten.setdefault((drawer.palace_id, key), []).append(drawer.id)

    def _candidates(
        self, connection: sqlite3.Connection, drawer: _Drawer, keys: Iterable[int]
    ) -> Iterator[int]:
        seen = {drawer.id}
        for key in keys:
            rows = connection.execute(
                "SELECT k.drawer_id FROM drawer_keys k JOIN drawers d ON d.id = k.drawer_id"
                " WHERE k.palace_id = ? AND k.key = ? AND d.deleted_at_epoch IS NULL"
                " AND d.superseded_by IS NULL LIMIT ?",
                (drawer.palace_id, key, CANDIDATES_MAX),
            ).fetchall()
            unwritten = self._unwritten.get((drawer.palace_id, key), ())
            for number in [*(row[0] for row in rows), *unwritten[-CANDIDATES_MAX:]]:
                if number not in seen and number not in self._superseded:
                    seen.add(number)
                    yield number

    def _drawer(
        self, connection: sqlite3.Connection, number: int
    ) -> tuple[_Drawer, Profile] | None:
        if number not in self._cache:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM drawers d JOIN palaces p ON p.id = d.palace_id"  # noqa: S608
                " WHERE d.id = ?",
                (number,),
            ).fetchone()
            if row is None:
                return None
            drawer = _Drawer(*row)
            self._cache[number] = (drawer, similarity.profile(drawer.text, drawer.room_key))
        return self._cache[number]


def consolidate(run: Run) -> None:
    """Compare the drawers that wait for it, oldest first, and link those that say the same."""
    search, after = _Search(), 0
    while run.goes_on():
        batch = _Batch({}, [], [])
        with run.database.read() as connection:
            waiting = _waiting(connection, run.only, after)
            for drawer in waiting:
                if not run.goes_on():
                    break
                _compare_if_shown(search, connection, drawer, batch)
            plan = [change for link in batch.links for change in _changes(connection, link)]
        if not waiting:
            return
        after = waiting[-1].id
        run.report.looked_at += len(batch.drawers)
        if run.is_dry:
            run.note(None, plan)
            continue
        with run.database.write() as connection:
            run.note(connection, _write(connection, batch))
        search = _Search()  # what was unwritten is in the database now
        run.pause()


def _compare_if_shown(
    search: _Search, connection: sqlite3.Connection, drawer: _Drawer, batch: _Batch
) -> None:
    if drawer.is_shown:
        search.compare(connection, drawer, batch)
    else:
        batch.drawers.append(drawer)


def _waiting(connection: sqlite3.Connection, only: str | None, after: int) -> list[_Drawer]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM dream_queue q JOIN drawers d ON d.id = q.drawer_id"  # noqa: S608
        " JOIN palaces p ON p.id = d.palace_id WHERE q.drawer_id > ?"
        " AND d.deleted_at_epoch IS NULL"
        " AND (? IS NULL OR d.palace_id IN (SELECT value FROM json_each(?)))"
        " ORDER BY q.drawer_id LIMIT ?",
        (after, only, only, BATCH),
    )
    return [_Drawer(*row) for row in rows]


def _link(first: tuple[_Drawer, Profile], second: tuple[_Drawer, Profile]) -> _Link | None:
    """Return which of two drawers supersedes the second; None if neither does."""
    if first[0].room_key != second[0].room_key:
        return None
    if first[1].words == second[1].words:
        loser, survivor = sorted(
            (first[0], second[0]), key=lambda drawer: (drawer.importance, *_age(drawer))
        )
        return _Link(loser, survivor)
    older, newer = sorted((first, second), key=lambda pair: _age(pair[0]))
    if older[0].importance <= newer[0].importance and similarity.contains(newer[1], older[1]):
        return _Link(older[0], newer[0])
    return None


def _age(drawer: _Drawer) -> tuple[int, int]:
    return drawer.updated_ms, drawer.id


def _changes(connection: sqlite3.Connection, link: _Link) -> list[Change]:
    """Return what a link changes; nothing if the survivor has no place for the other's tags."""
    own = _tags(connection, link.survivor.id)
    kept = {tag for _, tag in own}
    added = [tag for _, tag in _tags(connection, link.loser.id) if tag not in kept]
    if len(own) + len(added) > names.TAGS_MAX:
        return []
    begin = own[-1][0] + 1 if own else 0
    changes = [Change(DUPLICATE, link.loser.palace, link.loser.uuid, "", link.survivor.uuid)]
    if added:
        rows = json.dumps(list(enumerate(added, begin)))
        changes.append(Change(TAGS, link.survivor.palace, link.survivor.uuid, "", rows))
    return changes


def _tags(connection: sqlite3.Connection, drawer: int) -> list[tuple[int, str]]:
    return connection.execute(
        "SELECT position, tag FROM drawer_tags WHERE drawer_id = ? ORDER BY position", (drawer,)
    ).fetchall()


def _write(connection: sqlite3.Connection, batch: _Batch) -> list[Change]:
    """Write what came of a batch; return the changes."""
    kept = {drawer.id for drawer in batch.drawers if _is_unchanged(connection, drawer)}
    connection.executemany(
        "DELETE FROM dream_queue WHERE drawer_id = ?", [(number,) for number in kept]
    )
    connection.executemany(
        "DELETE FROM drawer_keys WHERE drawer_id = ?", [(number,) for number in kept]
    )
    connection.executemany(
        "INSERT OR IGNORE INTO drawer_keys (palace_id, key, drawer_id) VALUES (?, ?, ?)",
        [
            (drawer.palace_id, key, drawer.id)
            for drawer in batch.drawers
            if drawer.id in kept and drawer.id in batch.profiles
            for key in batch.profiles[drawer.id].keys
        ],
    )
    changes: list[Change] = []
    for link in batch.links:
        changes += _apply(connection, link)
    return changes


def _apply(connection: sqlite3.Connection, link: _Link) -> list[Change]:
    """Write a link and return its changes; none if one of the drawers has changed meanwhile."""
    if not all(_is_unchanged(connection, drawer) for drawer in link):
        connection.execute(
            "INSERT OR IGNORE INTO dream_queue SELECT id FROM drawers WHERE id = ?",
            (link.loser.id,),
        )
        return []
    changes = _changes(connection, link)
    if not changes:
        return []
    connection.execute(
        "UPDATE drawers SET superseded_by = ? WHERE id = ?", (link.survivor.id, link.loser.id)
    )
    connection.execute("DELETE FROM drawer_keys WHERE drawer_id = ?", (link.loser.id,))
    for change in changes:
        if change.step == TAGS:
            connection.executemany(
                "INSERT INTO drawer_tags (drawer_id, position, tag) VALUES (?, ?, ?)",
                [(link.survivor.id, *row) for row in json.loads(change.after)],
            )
            connection.execute(  # so that its words are indexed anew
                "UPDATE drawers SET superseded_by = NULL WHERE id = ?", (link.survivor.id,)
            )
    return changes


def _is_unchanged(connection: sqlite3.Connection, drawer: _Drawer) -> bool:
    """Return whether a drawer is as it was when it was compared, and neither is forgotten."""
    row = connection.execute(
        "SELECT 1 FROM drawers WHERE id = ? AND updated_at_epoch = ? AND text = ? AND room_key = ?"
        " AND deleted_at_epoch IS NULL AND (superseded_by IS NULL) = ?",
        (drawer.id, drawer.updated_ms, drawer.text, drawer.room_key, drawer.is_shown),
    ).fetchone()
    return row is not None
