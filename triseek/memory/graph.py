"""The temporal knowledge graph: what held of a subject, from when until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.memory import names
from triseek.model.moment import rfc3339

if TYPE_CHECKING:
    import sqlite3

    from triseek.memory.results import TripleRecord

TRIPLES_MAX = 1_000
"""The most triples that one query returns."""
_COLUMNS = "subject, predicate, object, valid_from, valid_to, confidence, provenance"


@dataclass(frozen=True, slots=True)
class Triple:
    """A fact with the time in which it held."""

    subject: str
    predicate: str
    object: str
    valid_from: int
    """Unix milliseconds."""
    valid_to: int | None
    """None if it holds still."""
    confidence: float
    provenance: str | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A subject and predicate for which several objects hold at once."""

    subject: str
    predicate: str
    triples: tuple[Triple, ...]
    """In the order in which they began."""
    is_multi: bool
    """Whether each was written as one of several."""


def record(triple: Triple) -> TripleRecord:
    """Return a fact as tools, commands and HTTP show it."""
    return {
        "subject": triple.subject,
        "predicate": triple.predicate,
        "object": triple.object,
        "valid_from": rfc3339(triple.valid_from),
        "valid_to": rfc3339(triple.valid_to),
        "confidence": triple.confidence,
        "provenance": triple.provenance,
    }


def assert_fact(
    connection: sqlite3.Connection,
    palace: int,
    fact: tuple[str, str, str],
    now_ms: int,
    *,
    confidence: float = 1.0,
    provenance: str = "",
    multi: bool = False,
) -> Triple:
    """Write that a fact holds from now on, and close what it replaces.

    Replaced is what holds of the same subject and predicate; with `multi`, only the same object.

    Args:
        connection: A connection with a transaction.
        palace: The id of the palace.
        fact: Subject, predicate and object.
        now_ms: Unix milliseconds.
        confidence: Bounded to 0 to 1.
        provenance: Where it is known from; "" if that was not said.
        multi: Whether the subject may have several objects for this predicate.

    Raises: as `names.node` and `names.share`.
    """
    subject, predicate, target = map(names.node, ("subject", "predicate", "object"), fact)
    confidence = names.share("confidence", confidence)
    source = names.node("provenance", provenance) if provenance else None
    where = "palace_id = ? AND subject = ? AND predicate = ? AND valid_to IS NULL"
    key: tuple[object, ...] = (palace, subject, predicate)
    if multi:
        where, key = f"{where} AND object = ?", (*key, target)
    (latest,) = connection.execute(
        f"SELECT coalesce(max(valid_from), 0) FROM triples WHERE {where}",  # noqa: S608
        key,
    ).fetchone()
    begin = max(now_ms, latest)  # a clock may have been set back
    connection.execute(f"UPDATE triples SET valid_to = ? WHERE {where}", (begin, *key))  # noqa: S608
    connection.execute(
        f"INSERT INTO triples (palace_id, {_COLUMNS}, is_multi)"  # noqa: S608 - columns only
        " VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)",
        (*key[:3], target, begin, confidence, source, int(multi)),
    )
    return Triple(subject, predicate, target, begin, None, confidence, source)


def retract(
    connection: sqlite3.Connection, palace: int, fact: tuple[str, str, str], now_ms: int
) -> int:
    """Close what holds of a subject and predicate; return the number of triples.

    fact: Subject, predicate and object; "" as the object for every object.

    Raises: as `names.node`.
    """
    subject, predicate = names.node("subject", fact[0]), names.node("predicate", fact[1])
    target = names.node("object", fact[2]) if fact[2] else ""
    cursor = connection.execute(
        "UPDATE triples SET valid_to = max(?, valid_from)"
        " WHERE palace_id = ? AND subject = ? AND predicate = ? AND valid_to IS NULL"
        " AND (object = ? OR ? = '')",
        (now_ms, palace, subject, predicate, target, target),
    )
    return cursor.rowcount


def facts(
    connection: sqlite3.Connection, palace: int, subject: str, *, as_of_ms: int | None = None
) -> list[Triple]:
    """Return what holds of a subject, in the order in which it began.

    as_of_ms: Return what held at this Unix time instead.
    """
    when = "valid_to IS NULL"
    values: list[object] = [palace, names.node("subject", subject)]
    if as_of_ms is not None:
        when = "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)"
        values += [as_of_ms, as_of_ms]
    return _triples(connection, when, values)


def history(connection: sqlite3.Connection, palace: int, subject: str) -> list[Triple]:
    """Return everything that ever held of a subject, in the order in which it began."""
    return _triples(connection, "TRUE", [palace, names.node("subject", subject)])


def contradictions(connection: sqlite3.Connection, palace: int) -> list[Contradiction]:
    """Return the subjects and predicates of a palace for which several objects hold.

    Those whose facts were not all written as one of several come first: they contradict each
    other. palace: Its id.
    """
    keys = connection.execute(
        "SELECT subject, predicate, min(is_multi) FROM triples"
        " WHERE palace_id = ? AND valid_to IS NULL GROUP BY subject, predicate"
        " HAVING count(DISTINCT object) > 1 ORDER BY min(is_multi), subject, predicate LIMIT ?",
        (palace, TRIPLES_MAX),
    ).fetchall()
    return [
        Contradiction(
            subject,
            predicate,
            tuple(
                Triple(*row)
                for row in connection.execute(
                    f"SELECT {_COLUMNS} FROM triples WHERE palace_id = ? AND subject = ?"  # noqa: S608
                    " AND predicate = ? AND valid_to IS NULL ORDER BY valid_from, id LIMIT ?",
                    (palace, subject, predicate, TRIPLES_MAX),
                )
            ),
            bool(is_multi),
        )
        for subject, predicate, is_multi in keys
    ]


def _triples(connection: sqlite3.Connection, when: str, values: list[object]) -> list[Triple]:
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM triples WHERE palace_id = ? AND subject = ? AND {when}"  # noqa: S608
        " ORDER BY valid_from, id LIMIT ?",
        [*values, TRIPLES_MAX],
    )
    return [Triple(*row) for row in rows]
