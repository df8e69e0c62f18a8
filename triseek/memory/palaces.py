"""Palaces: made, listed, described and deleted."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.memory import names

if TYPE_CHECKING:
    import sqlite3

IDENTITY_MAX = 4_000
"""Characters of an identity: agents read it with each recall."""


@dataclass(frozen=True, slots=True)
class Palace:
    """A palace and its size."""

    id: int
    name: str
    description: str
    identity: str
    """What is said of the project before everything else; "" if nothing is."""
    drawers: int
    """Not counting those that were forgotten."""
    triples: int
    """That hold now."""
    created_ms: int


def create(
    connection: sqlite3.Connection, name: str, description: str, now_ms: int
) -> tuple[int, bool]:
    """Make a palace, and return its id and whether it is new.

    A palace that exists keeps what it has; a description that is passed replaces its own.

    Raises: as `names.palace`.
    """
    name, description = names.palace(name), names.prose(description[: names.NODE_MAX])
    row = connection.execute("SELECT id FROM palaces WHERE name = ?", (name,)).fetchone()
    if row is None:
        cursor = connection.execute(
            "INSERT INTO palaces (name, description, created_at_epoch) VALUES (?, ?, ?)",
            (name, description, now_ms),
        )
        return int(cursor.lastrowid or 0), True
    if description:
        connection.execute("UPDATE palaces SET description = ? WHERE id = ?", (description, row[0]))
    return int(row[0]), False


def id_of(connection: sqlite3.Connection, name: str) -> int:
    """Return the id of a palace.

    Raises: as `names.palace`, and
        InvalidRequest: There is none of this name.
    """
    row = connection.execute(
        "SELECT id FROM palaces WHERE name = ?", (names.palace(name),)
    ).fetchone()
    if row is None:
        raise InvalidRequest(
            f"there is no palace {name!r}",
            next_step=f"Make it: `triseek memory palaces --create {name!r}`.",
            tool_step="Call palace_list for those that exist, or palace_create.",
        )
    return int(row[0])


def identity_of(connection: sqlite3.Connection, name: str) -> tuple[int, str]:
    """Return the id of a palace and what is said of its project. Raises as `id_of`."""
    palace = id_of(connection, name)
    (identity,) = connection.execute(
        "SELECT identity FROM palaces WHERE id = ?", (palace,)
    ).fetchone()
    return palace, identity


def of_root(connection: sqlite3.Connection, root: str) -> str:
    """Return the name of the palace of a project's folder; "" if it has none.

    root: The absolute path of the folder.
    """
    row = connection.execute("SELECT name FROM palaces WHERE root = ?", (root,)).fetchone()
    return "" if row is None else str(row[0])


def create_for_root(connection: sqlite3.Connection, root: str, now_ms: int) -> str:
    """Return the name of the palace of a project's folder; make it if need be.

    It is named as the folder, with a number behind if another palace has that name.
    """
    if name := of_root(connection, root):
        return name
    wanted = re.sub(r"[^\w.@+-]+|\.\.+", "-", root.rsplit("/", 1)[-1]).strip("-. ")
    wanted = re.sub(r"^[^\w]+", "", wanted)[: names.PALACE_MAX - 10] or "project"
    taken = set(listed(connection))
    name = next(
        name
        for number in itertools.count(1)
        if (name := wanted if number == 1 else f"{wanted}-{number}") not in taken
    )
    create(connection, name, "", now_ms)
    connection.execute("UPDATE palaces SET root = ? WHERE name = ?", (root, name))
    return name


def use(connection: sqlite3.Connection, name: str, root: str) -> None:
    """Make a palace the one of a project's folder, in place of another. Raises as `id_of`."""
    palace = id_of(connection, name)
    connection.execute("UPDATE palaces SET root = NULL WHERE root = ?", (root,))
    connection.execute("UPDATE palaces SET root = ? WHERE id = ?", (root, palace))


def listed(connection: sqlite3.Connection) -> list[str]:
    """Return the names of all palaces, in order."""
    return [row[0] for row in connection.execute("SELECT name FROM palaces ORDER BY name")]


def info(connection: sqlite3.Connection, name: str) -> Palace:
    """Return what is known of a palace. Raises as `id_of`."""
    palace = id_of(connection, name)
    (description, identity, created_ms) = connection.execute(
        "SELECT description, identity, created_at_epoch FROM palaces WHERE id = ?", (palace,)
    ).fetchone()
    (drawers,) = connection.execute(
        "SELECT count(*) FROM drawers WHERE palace_id = ? AND deleted_at_epoch IS NULL", (palace,)
    ).fetchone()
    (triples,) = connection.execute(
        "SELECT count(*) FROM triples WHERE palace_id = ? AND valid_to IS NULL", (palace,)
    ).fetchone()
    return Palace(palace, name, description, identity, drawers, triples, created_ms)


def set_identity(connection: sqlite3.Connection, name: str, text: str) -> None:
    """Write what is said of a palace's project before everything else; "" for nothing.

    Raises: as `id_of`, and
        InvalidRequest: It is too long.
    """
    if len(text) > IDENTITY_MAX:
        raise InvalidRequest(
            f"an identity has at most {IDENTITY_MAX:,} characters; this has {len(text):,}"
        )
    palace = id_of(connection, name)
    connection.execute("UPDATE palaces SET identity = ? WHERE id = ?", (names.prose(text), palace))


def delete(connection: sqlite3.Connection, name: str) -> int:
    """Delete a palace with everything in it; return the number of its drawers.

    Raises: as `id_of`.
    """
    palace = info(connection, name)
    connection.execute("DELETE FROM palaces WHERE id = ?", (palace.id,))
    return palace.drawers


def change(
    connection: sqlite3.Connection, name: str, *, new_name: str = "", description: str | None = None
) -> str:
    """Rename or describe a palace; return its name then.

    Args:
        connection: A connection with a transaction.
        name: The palace.
        new_name: "" to leave it.
        description: "" for none; None to leave it.

    Raises: as `id_of`, and
        InvalidRequest: Another palace has the new name.
    """
    palace, new_name = id_of(connection, name), names.palace(new_name or name)
    if new_name != name and new_name in listed(connection):
        raise InvalidRequest(f"there is another palace {new_name!r}", next_step="Choose another.")
    connection.execute("UPDATE palaces SET name = ? WHERE id = ?", (new_name, palace))
    if description is not None:
        text = names.prose(description[: names.NODE_MAX])
        connection.execute("UPDATE palaces SET description = ? WHERE id = ?", (text, palace))
    return new_name
