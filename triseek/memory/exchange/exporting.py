"""Writes palaces as JSON lines.

The first line names the format and its version. The line of a palace is followed by those of its
drawers and its facts, in the order in which they were written. A field that says nothing is left
out. Vectors and everything else that is derived from a text are left out, too.

What was forgotten may be what nobody else is to see. So forgotten drawers and earlier texts are
written only if they are asked for.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.model.moment import rfc3339

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from triseek.store.sqlite import Database

FORMAT = "triseek-memory"
VERSION = 1
PAGE = 500
"""Drawers that are read at once."""


def lines(
    database: Database, palaces: Sequence[str], *, with_forgotten: bool = False
) -> Iterator[str]:
    """Yield the lines of an export, all of one state of the database.

    Args:
        database: The memory database.
        palaces: The names of the palaces.
        with_forgotten: Whether to write forgotten drawers and earlier texts, too.

    Raises: as `Database.read`.
    """
    yield _line(format=FORMAT, version=VERSION)
    with database.read() as connection:
        for palace in palaces:
            yield from _palace(connection, palace, with_forgotten=with_forgotten)


def _palace(connection: sqlite3.Connection, palace: str, *, with_forgotten: bool) -> Iterator[str]:
    number, root, description, identity, created = connection.execute(
        "SELECT id, root, description, identity, created_at_epoch FROM palaces WHERE name = ?",
        (palace,),
    ).fetchone()
    yield _line(
        kind="palace", name=palace, root=root, description=description or None,
        identity=identity or None, created_at=rfc3339(created),
    )  # fmt: skip
    after = 0
    while page := _drawers(connection, number, after, with_forgotten=with_forgotten):
        yield from (_line(**fields) for _, fields in page)
        after = page[-1][0]
    for subject, predicate, target, begin, end, confidence, provenance, multi in connection.execute(
        "SELECT subject, predicate, object, valid_from, valid_to, confidence, provenance, is_multi"
        " FROM triples WHERE palace_id = ? ORDER BY id",
        (number,),
    ):
        yield _line(
            kind="fact", subject=subject, predicate=predicate, object=target,
            valid_from=rfc3339(begin), valid_to=rfc3339(end), confidence=confidence,
            provenance=provenance, multi=bool(multi) or None,
        )  # fmt: skip


def _drawers(
    connection: sqlite3.Connection, palace: int, after: int, *, with_forgotten: bool
) -> list[tuple[int, dict[str, Any]]]:
    """Return the next drawers, by their ids."""
    rows = connection.execute(
        "SELECT d.id, d.uuid, d.room, d.text, d.importance, d.source, d.created_at_epoch,"
        " d.updated_at_epoch, d.deleted_at_epoch, s.uuid"
        " FROM drawers d LEFT JOIN drawers s"
        " ON s.id = d.superseded_by AND (:forgotten OR s.deleted_at_epoch IS NULL)"
        " WHERE d.palace_id = :palace AND d.id > :after"
        " AND (:forgotten OR d.deleted_at_epoch IS NULL) ORDER BY d.id LIMIT :page",
        {"palace": palace, "after": after, "forgotten": with_forgotten, "page": PAGE},
    ).fetchall()
    ids = [row[0] for row in rows]
    tags = _lists(connection, "tag", "drawer_tags", "position", ids)
    changes = (
        _lists(connection, "text, changed_at_epoch", "drawer_changes", "id", ids)
        if with_forgotten
        else {}
    )
    page = []
    for number, uuid, room, text, importance, source, created, updated, deleted, superseded in rows:
        earlier = [{"content": old, "until": rfc3339(at)} for old, at in changes.get(number, ())]
        fields = {
            "kind": "drawer", "drawer_id": uuid, "room": room, "content": text,
            "tags": [tag for (tag,) in tags.get(number, ())] or None, "importance": importance,
            "source": source or None, "created_at": rfc3339(created),
            "updated_at": rfc3339(updated) if updated != created else None,
            "superseded_by": superseded, "deleted_at": rfc3339(deleted),
            "earlier": earlier or None,
        }  # fmt: skip
        page.append((number, fields))
    return page


def _lists(
    connection: sqlite3.Connection, columns: str, table: str, order: str, ids: Sequence[int]
) -> dict[int, list[tuple[Any, ...]]]:
    """Return the rows of a table that belong to some drawers, in order."""
    marks = ",".join("?" * len(ids))
    rows = connection.execute(
        f"SELECT drawer_id, {columns} FROM {table} WHERE drawer_id IN ({marks})"  # noqa: S608 - ours
        f" ORDER BY drawer_id, {order}",
        ids,
    )
    lists: dict[int, list[tuple[Any, ...]]] = {}
    for number, *values in rows:
        lists.setdefault(number, []).append(tuple(values))
    return lists


def _line(**fields: object) -> str:
    kept = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n"
