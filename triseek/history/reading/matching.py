"""Which rows of a table match, in which order, and how many there are."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history import full_text

if TYPE_CHECKING:
    from triseek.history.reading.filters import Where


@dataclass(frozen=True, slots=True)
class Searched:
    """A table that is searched by its full text."""

    name: str
    """The table or view; its index is `{name}_fts`."""
    weights: tuple[float, ...]
    """Of bm25, for each column of the index."""
    columns: tuple[str, ...]
    """Names that a query may put before a colon."""
    beside: str = ""
    """A join with the session of each row."""


_WITH_SESSION = "JOIN sessions s ON s.id = o.session_id"
OBSERVATIONS = Searched(
    "observations",
    (8, 4, 1, 1, 4, 3, 2),
    ("title", "subtitle", "narrative", "text", "facts", "concepts"),
)
SUMMARIES = Searched(
    "session_summaries",
    (4, 1, 3, 3, 2, 1, 2),
    ("request", "investigated", "learned", "completed", "next_steps", "notes"),
    _WITH_SESSION,
)
PROMPTS = Searched("user_prompts", (1, 1), ("prompt_text",), _WITH_SESSION)

_ORDERS = {
    "relevance": "rank, time DESC, id DESC",
    "date_desc": "time DESC, id DESC",
    "date_asc": "time, id",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of the matching rows."""

    order: str = "date_desc"
    limit: int = 20
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
    """The rows of a slice."""

    ids: list[int]
    scores: list[float]
    """From 0 to 1, the best match of all has 1; empty if nothing was searched for."""
    total: int
    """Matching rows, in all slices."""
    interpreted: str = ""
    """How the query was understood, if that is not as it was written."""
    partial: bool = False
    """Whether no row has all words, and these have some."""


def listed(connection: sqlite3.Connection, table: Searched, where: Where, part: Slice) -> Hits:
    """Return the rows for which some conditions hold, by date."""
    rows = f"FROM {table.name} o {table.beside} WHERE {where.sql}"
    order = _ORDERS["date_desc" if part.order == "relevance" else part.order]
    ids = connection.execute(
        f"SELECT o.id AS id, o.created_at_epoch AS time {rows} ORDER BY {order} LIMIT ? OFFSET ?",
        (*where.parameters, part.limit, part.offset),
    ).fetchall()
    [[total]] = connection.execute(f"SELECT count(*) {rows}", where.parameters)
    return Hits(ids=[row[0] for row in ids], scores=[], total=total)


def searched(
    connection: sqlite3.Connection, table: Searched, query: str, where: Where, part: Slice
) -> Hits:
    """Return the rows that match a query: all of its words, else any of them.

    Whatever the query is, it has a meaning: see `full_text`.
    """
    parsed = full_text.expression(query, table.columns)
    try:
        hits = _matched(connection, table, parsed.match, where, part)
    except sqlite3.OperationalError as error:
        if (error.sqlite_errorcode & 0xFF) != sqlite3.SQLITE_ERROR:
            raise
        parsed = full_text.words_only(query)  # what FTS5 refuses is a list of words
        hits = _matched(connection, table, parsed.match, where, part)
    is_partial = not hits.total and bool(parsed.partial)
    if is_partial:
        hits = _matched(connection, table, parsed.partial, where, part)
    return Hits(
        ids=hits.ids,
        scores=hits.scores,
        total=hits.total,
        interpreted=parsed.interpreted,
        partial=is_partial and hits.total > 0,
    )


def _matched(
    connection: sqlite3.Connection, table: Searched, match: str, where: Where, part: Slice
) -> Hits:
    if not match:
        return Hits(ids=[], scores=[], total=0)
    index = f"{table.name}_fts"
    weights = ", ".join(map(str, table.weights))
    source = (  # CROSS keeps SQLite from asking the index once for each row of the table
        f"FROM {index} CROSS JOIN {table.name} o ON o.id = {index}.rowid {table.beside}"
        f" WHERE {index} MATCH ? AND {where.sql}"
    )
    rows = connection.execute(
        f"WITH hits AS MATERIALIZED (SELECT o.id AS id, o.created_at_epoch AS time,"  # noqa: S608
        f" bm25({index}, {weights}) AS rank {source})"
        f" SELECT id, rank, count(*) OVER (), min(rank) OVER (), max(rank) OVER () FROM hits"
        f" ORDER BY {_ORDERS[part.order]} LIMIT ? OFFSET ?",
        (match, *where.parameters, part.limit, part.offset),
    ).fetchall()
    if rows:
        total = rows[0][2]
    else:  # behind the last page, or nothing matches
        [[total]] = connection.execute(f"SELECT count(*) {source}", (match, *where.parameters))
    scores = [
        round(1 - (rank - best) / (worst - best), 3) if worst > best else 1.0
        for _, rank, _, best, worst in rows
    ]
    return Hits(ids=[row[0] for row in rows], scores=scores, total=total)
