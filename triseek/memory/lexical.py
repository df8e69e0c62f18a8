"""Finds drawers by their words: SQLite's full-text index, all words first, then any of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from triseek.memory import names
from triseek.recall.words import STOP

if TYPE_CHECKING:
    import sqlite3

WORDS_MAX = 32
"""Words of a query that are searched."""
QUERY_MAX = 10_000
"""Characters of a query that are read."""
_WORD = re.compile(r"[^\W_]+")


def search(
    connection: sqlite3.Connection,
    palace: int,
    query: str,
    limit: int,
    *,
    room: str = "",
    tag: str = "",
    since_ms: int = 0,
    superseded: bool = False,
) -> dict[int, float]:
    """Return the ids of the drawers that answer a query with their scores, best first.

    superseded: Whether to return drawers that others supersede, too.

    A score is from 0 to 1, relative to the best. Drawers with all words come before the others.
    """
    words = [
        word
        for word in dict.fromkeys(_WORD.findall(query[:QUERY_MAX].lower()))
        if word not in STOP and word.isprintable()
    ][:WORDS_MAX]
    scores: dict[int, float] = {}
    for joiner in (" ", " OR ")[: len(words)]:
        match = joiner.join(f'"{word}"' for word in words)
        sql = (
            "SELECT d.id, bm25(drawers_fts) FROM drawers_fts JOIN drawers d"
            " ON d.id = drawers_fts.rowid WHERE drawers_fts MATCH :match AND d.palace_id = :palace"
            " AND d.deleted_at_epoch IS NULL AND (d.superseded_by IS NULL OR :superseded)"
            " AND d.created_at_epoch >= :since"
        )
        if room:
            sql += " AND d.room_key = :room"
        if tag:
            sql += " AND d.id IN (SELECT drawer_id FROM drawer_tags WHERE tag = :tag)"
        rows = connection.execute(
            f"{sql} ORDER BY rank, d.id DESC LIMIT :limit",
            {
                "match": match, "palace": palace, "since": since_ms, "tag": tag,
                "room": names.room(room)[1], "limit": limit, "superseded": superseded,
            },
        )  # fmt: skip
        for at, rank in rows:
            scores.setdefault(at, -rank)
        if len(scores) >= limit:
            break
    best = max(scores.values(), default=0.0) or 1.0
    return {at: max(0.0, score / best) for at, score in list(scores.items())[:limit]}
