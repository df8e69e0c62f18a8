"""A part of a palace's graph, to be drawn: the triples of a time, or around a subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.memory import names
from triseek.memory.graph import Triple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

TRIPLES_MAX = 5_000
SUBJECTS_MAX = 1_000
DEPTH_MAX = 3
_COLUMNS = "id, subject, predicate, object, valid_from, valid_to, confidence, provenance"
_ASKED_MAX = 400
"""Nodes of one query around a subject."""


@dataclass(frozen=True, slots=True)
class Extract:
    """Triples of a palace, in the order in which they began."""

    triples: Sequence[Triple]
    total: int
    """How many there are at that time in the whole palace."""
    first_ms: int | None
    """When the first triple of the palace began; None if it has none."""
    last_ms: int | None
    """When a triple began or ended last."""


def extract(
    connection: sqlite3.Connection,
    palace: int,
    *,
    as_of_ms: int | None = None,
    closed: bool = False,
    subject: str = "",
    depth: int = 1,
    limit: int = TRIPLES_MAX,
) -> Extract:
    """Return the triples of a palace, the newest of them if there are more than the limit.

    Args:
        connection: A connection of the memory database.
        palace: Its id.
        as_of_ms: What held at this Unix time; None for now.
        closed: Return what held at any time, and ignore `as_of_ms`.
        subject: Return only what is within `depth` steps of this node; "" for all.
        depth: Bounded to `DEPTH_MAX`.
        limit: The most triples; bounded to `TRIPLES_MAX`.

    Raises: as `names.node`.
    """
    when, values = _when(as_of_ms, closed=closed)
    limit = min(max(limit, 0), TRIPLES_MAX)
    (total,) = connection.execute(
        f"SELECT count(*) FROM triples WHERE palace_id = ? AND {when}",  # noqa: S608
        [palace, *values],
    ).fetchone()
    first, last = connection.execute(
        "SELECT min(valid_from), max(max(valid_from, coalesce(valid_to, 0)))"
        " FROM triples WHERE palace_id = ?",
        (palace,),
    ).fetchone()
    if subject:
        steps = min(max(depth, 1), DEPTH_MAX)
        start = names.node("subject", subject)
        rows = _around(connection, palace, start, steps, limit, (when, values))
    else:
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM triples WHERE palace_id = ? AND {when}"  # noqa: S608
            " ORDER BY id DESC LIMIT ?",
            [palace, *values, limit],
        ).fetchall()
    rows.sort(key=lambda row: (row[4], row[0]))
    return Extract([Triple(*row[1:]) for row in rows], total, first, last)


def subjects(
    connection: sqlite3.Connection, palace: int, *, prefix: str = "", limit: int = SUBJECTS_MAX
) -> list[tuple[str, int]]:
    """Return the subjects of which something holds, with the number of triples, most first.

    prefix: Only those that begin so.
    """
    return connection.execute(
        "SELECT subject, count(*) FROM triples WHERE palace_id = ? AND valid_to IS NULL"
        " AND substr(subject, 1, length(?)) = ? GROUP BY subject ORDER BY 2 DESC, 1 LIMIT ?",
        (palace, prefix, prefix, min(max(limit, 0), SUBJECTS_MAX)),
    ).fetchall()


def _when(as_of_ms: int | None, *, closed: bool) -> tuple[str, list[object]]:
    if closed:
        return "TRUE", []
    if as_of_ms is None:
        return "valid_to IS NULL", []
    return "valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)", [as_of_ms, as_of_ms]


def _around(
    connection: sqlite3.Connection,
    palace: int,
    start: str,
    depth: int,
    limit: int,
    condition: tuple[str, list[object]],
) -> list[tuple[int, str, str, str, int, int | None, float, str | None]]:
    """Return the rows within some steps of a node, against the direction of triples as well."""
    when, values = condition
    by_id: dict[int, tuple[int, str, str, str, int, int | None, float, str | None]] = {}
    seen, border = {start}, [start]
    for _ in range(depth):
        reached: list[str] = []
        for end in ("subject", "object"):
            for at in range(0, len(border), _ASKED_MAX):
                part = border[at : at + _ASKED_MAX]
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM triples WHERE palace_id = ?"  # noqa: S608
                    f" AND {end} IN ({','.join('?' * len(part))}) AND {when}"
                    " ORDER BY id DESC LIMIT ?",
                    [palace, *part, *values, limit - len(by_id)],
                )
                for row in rows:
                    by_id[row[0]] = row
                    reached += (row[1], row[3])
        border = [node for node in dict.fromkeys(reached) if node not in seen]
        seen.update(border)
        if len(by_id) >= limit or not border:
            break
    return list(by_id.values())[:limit]
