"""Decides which source a conversation is taken from, if several have recorded it.

The agent's own transcript says most. What triseek's hooks have recorded of the same conversation
stands in for it until it is imported, and what a pack holds stands in for both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

OWN, PACK = "triseek", "pack"
"""Names, as agents of sources, of triseek's own session logs and of packs."""
LESSER = (PACK, OWN)
"""Sources that hold conversations of several agents, the one that gives way to all others first."""


def rank(source_agent: str) -> int:
    """Return how much a source says; of two sources the one with the higher rank is taken."""
    return LESSER.index(source_agent) if source_agent in LESSER else len(LESSER)


def may_write(
    connection: sqlite3.Connection, agent: str, conversation: str, source_agent: str
) -> bool:
    """Return whether no source of a higher rank has recorded a conversation."""
    row = connection.execute(
        "SELECT sources.agent, EXISTS (SELECT 1 FROM messages WHERE session_id = sessions.id)"
        " OR EXISTS (SELECT 1 FROM tool_events WHERE session_id = sessions.id)"
        " FROM sessions LEFT JOIN sources ON sources.id = source_id"
        " WHERE sessions.agent = ? AND external_id = ?",
        (agent, conversation),
    ).fetchone()
    if row is None:
        return True
    holder, is_recorded = row
    if holder is None:  # such as a claude-mem database
        return not is_recorded
    return rank(holder) <= rank(source_agent)


def displace(
    connection: sqlite3.Connection, agent: str, conversation: str, source_id: int, rank_: int
) -> None:
    """Remove what sources of a lower rank have recorded of a conversation.

    Observations that somebody wrote stay. The conversation belongs to `source_id` from then on.
    """
    held = connection.execute(
        "SELECT sessions.id, sources.agent FROM sessions JOIN sources ON sources.id = source_id"
        " WHERE sessions.agent = ? AND external_id = ?",
        (agent, conversation),
    ).fetchone()
    if held is None or rank(held[1]) >= rank_:
        return
    row = held[:1]
    for statement in (
        "DELETE FROM messages WHERE session_id = ?",
        "DELETE FROM tool_events WHERE session_id = ?",
        "DELETE FROM observations WHERE session_id = ? AND origin = 'rule'",
        "DELETE FROM session_summaries WHERE session_id = ? AND origin = 'rule'",
    ):
        connection.execute(statement, row)
    connection.execute(
        "UPDATE sessions SET source_id = ?, prompt_counter = 0, derived_at = 0 WHERE id = ?",
        (source_id, *row),
    )
