"""Drawers: written, listed, changed, forgotten, brought back."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.memory import names
from triseek.memory.limits import IMPORTANCE

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

UNDO_MS = 30 * 86_400_000
"""Milliseconds for which a forgotten drawer can be brought back."""
LISTED_MAX = 1_000
_COLUMNS = "id, uuid, room, text, importance, source, created_at_epoch, updated_at_epoch"
_SAME = (
    "id IN (WITH RECURSIVE same (id) AS (VALUES (?) UNION SELECT drawers.id FROM drawers"
    " JOIN same ON drawers.superseded_by = same.id) SELECT id FROM same)"
)
"""The condition for a drawer and what it supersedes, directly or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A drawer to be written; nothing of it has been checked or redacted."""

    text: str
    room: str = ""
    tags: Iterable[object] = ()
    importance: float = IMPORTANCE
    source: str = ""
    """Where it comes from; "" if that was not said."""
    uuid: str = ""
    """Its name in an export; "" for a new one."""
    created_ms: int | None = None
    """When it was written, in Unix milliseconds; None for now."""


@dataclass(frozen=True, slots=True)
class Drawer:
    """A drawer as it is kept."""

    id: int
    uuid: str
    room: str
    text: str
    importance: float
    source: str
    created_ms: int
    updated_ms: int
    tags: tuple[str, ...]
    """In the order in which they were passed."""


def add(connection: sqlite3.Connection, palace: int, draft: Draft, now_ms: int) -> Drawer:
    """Write a drawer and return it. palace: its id.

    Raises: as the functions of `names`.
    """
    text, (room, key) = names.text(draft.text), names.room(draft.room)
    tags, importance = names.tags(draft.tags), names.share("importance", draft.importance)
    source = names.node("source", draft.source) if draft.source else ""
    own = names.drawer(draft.uuid) if draft.uuid else str(uuid.uuid4())
    now_ms = now_ms if draft.created_ms is None else draft.created_ms
    cursor = connection.execute(
        "INSERT INTO drawers (uuid, palace_id, room, room_key, text, importance, source,"
        " created_at_epoch, updated_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (own, palace, room, key, text, importance, source, now_ms, now_ms),
    )
    number = int(cursor.lastrowid or 0)
    connection.executemany(
        "INSERT INTO drawer_tags (drawer_id, position, tag) VALUES (?, ?, ?)",
        [(number, at, tag) for at, tag in enumerate(tags)],
    )
    return Drawer(number, own, room, text, importance, source, now_ms, now_ms, tuple(tags))


def listed(
    connection: sqlite3.Connection,
    palace: int,
    *,
    room: str = "",
    tag: str = "",
    since_ms: int = 0,
    limit: int = 50,
    offset: int = 0,
) -> list[Drawer]:
    """Return the drawers of a palace, most important first, then in the order of writing.

    Args:
        connection: A connection of the memory database.
        palace: The id of the palace.
        room: Only of this room, in any case of its letters; "" for all.
        tag: Only with this tag; "" for all.
        since_ms: Only written at this Unix time or later.
        limit: The most drawers; bounded to `LISTED_MAX`.
        offset: Drawers to skip.
    """
    sql = (
        f"SELECT {_COLUMNS} FROM drawers WHERE palace_id = :palace"  # noqa: S608 - columns
        " AND deleted_at_epoch IS NULL AND superseded_by IS NULL AND created_at_epoch >= :since"
    )
    if room:
        sql += " AND room_key = :room"
    if tag:
        sql += " AND id IN (SELECT drawer_id FROM drawer_tags WHERE tag = :tag)"
    rows = connection.execute(
        f"{sql} ORDER BY importance DESC, id LIMIT :limit OFFSET :offset",
        {
            "palace": palace, "since": since_ms, "tag": names.tag(tag), "room": names.room(room)[1],
            "limit": min(max(limit, 0), LISTED_MAX), "offset": max(offset, 0),
        },
    ).fetchall()  # fmt: skip
    return _with_tags(connection, rows)


def forgotten(connection: sqlite3.Connection, palace: int, limit: int) -> list[Drawer]:
    """Return the drawers of a palace that can be brought back, those forgotten last first."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM drawers"  # noqa: S608 - columns
        " WHERE palace_id = ? AND deleted_at_epoch IS NOT NULL"
        " ORDER BY deleted_at_epoch DESC, id DESC LIMIT ?",
        (palace, min(max(limit, 0), LISTED_MAX)),
    ).fetchall()
    return _with_tags(connection, rows)


def begin_with(connection: sqlite3.Connection, palace: int, beginning: str) -> list[str]:
    """Return at most two UUIDs of a palace that begin so, also of forgotten drawers."""
    end = beginning.lower() + "~"  # follows all digits and the hyphen
    rows = connection.execute(
        "SELECT uuid FROM drawers WHERE uuid >= ? AND uuid < ? AND palace_id = ? LIMIT 2",
        (beginning.lower(), end, palace),
    )
    return [row[0] for row in rows]


def earlier(connection: sqlite3.Connection, number: int) -> list[tuple[str, int]]:
    """Return the texts that a drawer had before, with the time at which each was replaced.

    number: The drawer's id. Times are Unix milliseconds; the oldest text comes first.
    """
    return connection.execute(
        "SELECT text, changed_at_epoch FROM drawer_changes WHERE drawer_id = ? ORDER BY id",
        (number,),
    ).fetchall()


def by_ids(
    connection: sqlite3.Connection, ids: Sequence[int], *, superseded: bool = False
) -> dict[int, Drawer]:
    """Return drawers by their ids, without those that were forgotten.

    superseded: Whether to return drawers that others supersede, too.
    """
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM drawers WHERE id IN ({marks})"  # noqa: S608 - marks only
        " AND deleted_at_epoch IS NULL AND (superseded_by IS NULL OR ?)",
        [*ids, superseded],
    ).fetchall()
    return {drawer.id: drawer for drawer in _with_tags(connection, rows)}


def update(
    connection: sqlite3.Connection, palace: int, name: str, text: str, now_ms: int
) -> Drawer:
    """Write another text into a drawer; the text before is kept among its changes.

    name: Its UUID.

    Raises: as the functions of `names`, and
        InvalidRequest: There is no such drawer in this palace.
    """
    kept = names.text(text)
    number = _number(connection, palace, name)
    if number is None:
        raise _missing(name)
    connection.execute(
        "INSERT INTO drawer_changes (drawer_id, text, changed_at_epoch)"
        " SELECT id, text, ? FROM drawers WHERE id = ?",
        (now_ms, number),
    )
    connection.execute(
        "UPDATE drawers SET text = ?, embedder = '', vector = NULL, superseded_by = NULL,"
        " updated_at_epoch = ? WHERE id = ?",
        (kept, now_ms, number),
    )
    return by_ids(connection, [number])[number]


def forget(connection: sqlite3.Connection, palace: int, name: str, now_ms: int) -> bool:
    """Forget a drawer, for `UNDO_MS` in a way that can be undone; return whether there was one.

    What it supersedes says the same and is forgotten with it.

    Raises: as `names.drawer`.
    """
    number = _number(connection, palace, name)
    if number is None:
        return False
    connection.execute(
        f"UPDATE drawers SET deleted_at_epoch = ? WHERE deleted_at_epoch IS NULL AND {_SAME}",  # noqa: S608
        (now_ms, number),
    )
    return True


def restore(connection: sqlite3.Connection, palace: int, name: str) -> bool:
    """Bring a forgotten drawer back, with what was forgotten with it; return whether it could be.

    Raises: as `names.drawer`.
    """
    row = connection.execute(
        "SELECT id, deleted_at_epoch FROM drawers"
        " WHERE uuid = ? AND palace_id = ? AND deleted_at_epoch IS NOT NULL",
        (names.drawer(name), palace),
    ).fetchone()
    if row is None:
        return False
    connection.execute(
        f"UPDATE drawers SET deleted_at_epoch = NULL WHERE deleted_at_epoch = ? AND {_SAME}",  # noqa: S608
        (row[1], row[0]),
    )
    return True


def purge(connection: sqlite3.Connection, before_ms: int, palace: int | None = None) -> int:
    """Delete what was forgotten before a time; return the number of drawers.

    palace: Only of this palace.
    """
    cursor = connection.execute(
        "DELETE FROM drawers WHERE deleted_at_epoch < ? AND palace_id = coalesce(?, palace_id)",
        (before_ms, palace),
    )
    return cursor.rowcount


def by_name(connection: sqlite3.Connection, palace: int, name: str) -> Drawer:
    """Return a drawer by its UUID, even if it is superseded.

    Raises: as `names.drawer`, and
        InvalidRequest: There is no such drawer in this palace.
    """
    row = connection.execute(
        f"SELECT {_COLUMNS} FROM drawers"  # noqa: S608 - columns
        " WHERE uuid = ? AND palace_id = ? AND deleted_at_epoch IS NULL",
        (names.drawer(name), palace),
    ).fetchone()
    if row is None:
        raise _missing(name)
    return _with_tags(connection, [row])[0]


def delete(connection: sqlite3.Connection, palace: int, name: str) -> bool:
    """Delete a drawer for good, forgotten or not; return whether there was one.

    What it supersedes says the same and is deleted with it.

    Raises: as `names.drawer`.
    """
    row = connection.execute(
        "SELECT id FROM drawers WHERE uuid = ? AND palace_id = ?", (names.drawer(name), palace)
    ).fetchone()
    if row is None:
        return False
    connection.execute(f"DELETE FROM drawers WHERE {_SAME}", row)  # noqa: S608
    return True


def _number(connection: sqlite3.Connection, palace: int, name: str) -> int | None:
    row = connection.execute(
        "SELECT id FROM drawers WHERE uuid = ? AND palace_id = ? AND deleted_at_epoch IS NULL",
        (names.drawer(name), palace),
    ).fetchone()
    return None if row is None else int(row[0])


def _missing(name: str) -> InvalidRequest:
    return InvalidRequest(
        f"there is no drawer {name} in this palace",
        next_step="Take an id from `triseek memory list`.",
        tool_step="Take an id from the answer of memory_list or memory_recall.",
    )


def _with_tags(connection: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> list[Drawer]:
    tags: dict[int, list[str]] = {int(str(row[0])): [] for row in rows}
    marks = ",".join("?" * len(tags))
    for number, tag in connection.execute(
        f"SELECT drawer_id, tag FROM drawer_tags WHERE drawer_id IN ({marks})"  # noqa: S608
        " ORDER BY drawer_id, position",
        list(tags),
    ):
        tags[number].append(tag)
    return [Drawer(*row, tuple(tags[int(str(row[0]))])) for row in rows]  # type: ignore[arg-type,call-arg]
