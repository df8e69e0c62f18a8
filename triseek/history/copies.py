"""Hits that quote the same message: agents copy the messages of a conversation into its forks.

Some keep a message's id in the copy, others give it a new one; text and time stay.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from triseek.recall.page import Quoted


def merged(connection: sqlite3.Connection, quoted: Sequence[Quoted]) -> list[Quoted]:
    """Return the hits without those that quote the same as a better one of another conversation.

    Each stands for the conversation in which the message was said first. A message whose time is
    unknown is no copy.
    """
    times = Counter(hit.time_ms for hit in quoted if hit.time_ms)
    text_of = texts(connection, [hit.message_id for hit in quoted if times[hit.time_ms] > 1])
    hits: list[Quoted] = []
    by_message: dict[tuple[int, str], Quoted] = {}
    for hit in quoted:
        text = text_of.get(hit.message_id)
        same = hit if text is None else by_message.setdefault((hit.time_ms, text), hit)
        if same is hit or hit.session_id == same.session_id or hit.session_id in same.copies:
            hits.append(hit)
        else:
            same.copies[hit.session_id] = hit.message_id
    for hit in hits:
        if hit.copies:
            _put_first(connection, hit)
    return hits


def texts(connection: sqlite3.Connection, message_ids: Iterable[int]) -> dict[int, str]:
    """Return the texts of these messages."""
    return dict(
        connection.execute(
            "SELECT id, text FROM messages WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([*message_ids]),),
        ).fetchall()
    )


def _put_first(connection: sqlite3.Connection, hit: Quoted) -> None:
    """Exchange the hit's conversation for the one that the others were forked from."""
    messages = {hit.session_id: hit.message_id, **hit.copies}
    rows = connection.execute(
        "SELECT id, external_id, parent_external_id, started_at_epoch FROM sessions"  # noqa: S608
        f" WHERE id IN ({', '.join('?' * len(messages))})",
        tuple(messages),
    ).fetchall()
    names = {row[1] for row in rows}
    first, *_ = min(rows, key=lambda row: (row[2] in names, row[3] or 1 << 62, row[0]))
    hit.session_id, hit.message_id = first, messages.pop(first)
    hit.copies = messages
