"""The drawers as the recall index reads them: a message is a drawer, a session is a group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triseek.recall import sub_tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator

    from triseek.recall.source import MessageRow, SessionRows
    from triseek.store.sqlite import Database

_NUMBER = re.compile(r"(?<![^\W_])\d+(?![^\W_])")
"""In a room's name: the room `session_7` has nothing to do with the 7th of May."""
IN_MEMORY_MAX = 4_000
"""Drawers in groups that have changed: a quarter of a second to index."""
_TAGS = (
    "coalesce((SELECT group_concat(tag, ' ') FROM drawer_tags WHERE drawer_id = drawers.id), '')"
)


class DrawerSource:
    """The groups of a memory database: a `Source`."""

    in_memory_max = IN_MEMORY_MAX

    def __init__(self, database: Database) -> None:
        self.database = database

    def position(self, connection: sqlite3.Connection) -> int:
        """Return the number of the last change."""
        return _number(connection, "SELECT last FROM changes")

    def changed(self, connection: sqlite3.Connection, position: int) -> set[int]:
        """Return the groups with changes after a position: all, if it is of another database."""
        if position > self.position(connection):
            return set(self.session_ids(connection))
        rows = connection.execute("SELECT id FROM groups WHERE changed_seq > ?", (position,))
        return {int(row[0]) for row in rows}

    def size(self, connection: sqlite3.Connection, position: int) -> int:
        """Return how many drawers the groups that `changed` returns have had."""
        after = -1 if position > self.position(connection) else position
        return _number(
            connection,
            "SELECT coalesce(sum(drawers), 0) FROM groups WHERE changed_seq > ?",
            after,
        )

    def count(self, connection: sqlite3.Connection) -> int:
        """Return the number of groups."""
        return _number(connection, "SELECT count(*) FROM groups")

    def session_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all groups."""
        return (int(row[0]) for row in connection.execute("SELECT id FROM groups"))

    def message_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all drawers that are not forgotten."""
        rows = connection.execute("SELECT id FROM drawers WHERE deleted_at_epoch IS NULL")
        return (int(row[0]) for row in rows)

    def read(
        self, connection: sqlite3.Connection, session_ids: Iterable[int]
    ) -> Iterator[SessionRows]:
        """Yield these groups, superseded drawers included, without those that were forgotten."""
        for group in session_ids:
            rows = connection.execute(
                f"SELECT id, created_at_epoch, text, room, {_TAGS}"  # noqa: S608 - columns only
                " FROM drawers WHERE group_id = ? AND deleted_at_epoch IS NULL ORDER BY id",
                (group,),
            )
            yield group, 0, map(_message, rows)


def groups_after(connection: sqlite3.Connection, palace: int, last: int) -> list[int]:
    """Return the ids of the groups of a palace that are greater than `last`, in order."""
    rows = connection.execute(  # by `+` in the order of ids, and not by the index of rooms
        "SELECT id FROM groups WHERE id > ? AND +palace_id = ? ORDER BY id", (last, palace)
    )
    return [int(row[0]) for row in rows]


def groups_of_room(connection: sqlite3.Connection, palace: int, room_key: str) -> list[int]:
    """Return the ids of the groups of a room."""
    rows = connection.execute(
        "SELECT id FROM groups WHERE palace_id = ? AND room_key = ?", (palace, room_key)
    )
    return [int(row[0]) for row in rows]


def drawers(connection: sqlite3.Connection, palace: int) -> int:
    """Return about how many drawers a palace has; those that were forgotten count, too."""
    return _number(
        connection,
        "SELECT coalesce(sum(drawers), 0) FROM groups WHERE palace_id = ?",
        palace,
    )


def tagged(connection: sqlite3.Connection, palace: int, tag: str) -> list[int]:
    """Return the ids of the drawers of a palace with a tag."""
    rows = connection.execute(
        "SELECT id FROM drawers WHERE palace_id = ?"
        " AND id IN (SELECT drawer_id FROM drawer_tags WHERE tag = ?)",
        (palace, tag),
    )
    return [int(row[0]) for row in rows]


def superseded(connection: sqlite3.Connection, palace: int) -> list[int]:
    """Return the ids of the drawers of a palace that others supersede."""
    rows = connection.execute(
        "SELECT id FROM drawers WHERE palace_id = ? AND superseded_by IS NOT NULL", (palace,)
    )
    return [int(row[0]) for row in rows]


def searched(text: str) -> str:
    """Return a text with the parts of its identifiers behind it: `camelName` with camel, name."""
    words = dict.fromkeys(sub_tokens.WORD.findall(text))
    parts = [
        part
        for word in words
        if word.isascii() and not word.islower() and not word.isdigit()
        for part in sub_tokens.parts(word)
    ]
    return f"{text}\n{' '.join(parts)}" if parts else text


def texts(connection: sqlite3.Connection, ids: list[int]) -> list[tuple[int, str]]:
    """Return drawers with the texts by which they are searched. ids: At most 1,000."""
    rows = connection.execute(
        f"SELECT id, created_at_epoch, text, room, {_TAGS}"  # noqa: S608 - marks only
        f" FROM drawers WHERE id IN ({','.join('?' * len(ids))})",
        ids,
    )
    return [(number, text) for number, _, text in map(_message, rows)]


def _message(row: tuple[int, int, str, str, str]) -> MessageRow:
    number, created_ms, text, room, tags = row
    labels = f"{_NUMBER.sub(' ', room)} {tags}"
    return number, created_ms, f"{searched(text)}\n{searched(labels)}"


def _number(connection: sqlite3.Connection, statement: str, *values: int) -> int:
    return int(connection.execute(statement, values).fetchone()[0])
