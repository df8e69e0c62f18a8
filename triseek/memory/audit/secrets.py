"""Secrets that were kept before their form was recognized.

All that is written is redacted first. Text of an older version of triseek, or of a database that
somebody copied, may hold what today's redaction removes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from triseek.memory.database import scrub
from triseek.redaction import redact

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from triseek.memory.audit.findings import Findings
    from triseek.store.sqlite import Database

BATCH = 50
"""Texts of one transaction."""
_TEXTS = (
    ("drawers", "text", "text", "uuid", "drawers.palace_id = ?"),
    ("drawers", "source", "source", "uuid", "drawers.palace_id = ?"),
    ("drawer_changes", "text", "earlier text", "(SELECT uuid FROM drawers WHERE id = drawer_id)",
     "drawer_id IN (SELECT id FROM drawers WHERE palace_id = ?)"),
    ("triples", "subject", "subject", "subject || ' ' || predicate", "palace_id = ?"),
    ("triples", "predicate", "predicate", "subject || ' ' || predicate", "palace_id = ?"),
    ("triples", "object", "object", "subject || ' ' || predicate", "palace_id = ?"),
    ("triples", "provenance", "provenance", "subject || ' ' || predicate", "palace_id = ?"),
    ("palaces", "description", "description", "name", "id = ?"),
    ("palaces", "identity", "identity", "name", "id = ?"),
)  # fmt: skip
"""Table, column, how it is called, what names the row, and the condition for a palace."""


class _Text(NamedTuple):
    table: str
    column: str
    title: str
    id: int
    where: str
    text: str


def check(connection: sqlite3.Connection, palace: int, findings: Findings) -> None:
    """Report the texts of a palace that today's redaction would change. palace: Its id."""
    for text in _texts(connection, palace):
        findings.add(
            "secret", text.where, f"its {text.title} holds a secret",
            "triseek memory audit --fix",
        )  # fmt: skip


def remove(database: Database, palace: int) -> tuple[int, bool]:
    """Redact the texts of a palace that hold secrets.

    palace: Its id.

    Returns:
        The number of texts, and whether the database was written anew, so that no file of it holds
        them; it is not if another process uses it.
    """
    with database.read() as connection:
        texts = list(_texts(connection, palace))
    for begin in range(0, len(texts), BATCH):
        with database.write() as connection:
            for text in texts[begin : begin + BATCH]:
                more = ", embedder = '', vector = NULL" if text[:2] == ("drawers", "text") else ""
                connection.execute(
                    f"UPDATE {text.table} SET {text.column} = ?{more}"  # noqa: S608 - own names
                    f" WHERE id = ? AND {text.column} = ?",
                    (redact(text.text), text.id, text.text),
                )
    return len(texts), not texts or scrub(database)


def _texts(connection: sqlite3.Connection, palace: int) -> Iterator[_Text]:
    for table, column, title, where, condition in _TEXTS:
        for number, name, text in connection.execute(
            f"SELECT id, {where}, {column} FROM {table} WHERE {condition}",  # noqa: S608 - own names
            (palace,),
        ):
            if text and redact(text) != text:
                yield _Text(table, column, title, number, name, text)
