"""`friction`: errors that come again, and how they were fixed last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.history.answers.conversation_ref import ConversationRef, conversation
from triseek.history.answers.fix import Fix, last_fix

if TYPE_CHECKING:
    from triseek.store.sqlite import Database

ALONE_MIN = 3
"""Times that an error of a single conversation must occur to count."""


@dataclass(frozen=True, slots=True)
class RecurringError:
    """An error that came again."""

    error: str
    """The signature's key, with which `fix` finds it."""
    count: int
    sessions: int
    first_ms: int
    last_ms: int
    conversation: ConversationRef
    """Where it occurred last."""
    fix: Fix | None
    """The newest one; None if it never passed again."""


def friction(
    database: Database, project: str = "", *, since_ms: int = 0, limit: int = 20
) -> tuple[RecurringError, ...]:
    """Return the errors that occurred in several conversations, or often in one; most first.

    Args:
        database: The history.
        project: Only conversations of this project, or of this root; "" for all.
        since_ms: Only errors since then; Unix milliseconds.
        limit: The most errors.

    Raises: as `Database`.
    """
    with database.read() as connection:
        # The index holds all that is counted: outputs are not read.
        rows = connection.execute(
            # Forks of a conversation repeat what happened in it, at the same time or with its ids.
            "WITH met AS (SELECT error_key, min(session_id) AS session, created_at_epoch AS at"
            " FROM tool_events INDEXED BY tool_events_by_error"
            " CROSS JOIN sessions ON sessions.id = session_id"
            " WHERE error_key != '' AND (?1 = '' OR project = ?1 OR root = ?1)"
            " AND created_at_epoch >= ?2"
            " AND (parent_external_id = '' OR NOT EXISTS ("
            "SELECT 1 FROM sessions p JOIN tool_events e ON e.session_id = p.id"
            " WHERE p.agent = sessions.agent AND p.external_id = sessions.parent_external_id"
            " AND e.external_id = tool_events.external_id))"
            " GROUP BY error_key, at, iif(at > 0, 0, tool_events.id))"
            " SELECT error_key, count(*) AS times, count(DISTINCT session) AS sessions,"
            " min(at), max(at) AS last FROM met"
            " GROUP BY error_key HAVING sessions > 1 OR times >= ?3"
            " ORDER BY sessions DESC, times DESC, last DESC, error_key LIMIT ?4",
            (project, since_ms, ALONE_MIN, limit),
        ).fetchall()
        errors = []
        for key, count, sessions, first, last in rows:
            session_id = connection.execute(
                "SELECT session_id FROM tool_events JOIN sessions ON sessions.id = session_id"
                " WHERE error_key = ?1 AND error_key != '' AND created_at_epoch = ?2"
                " AND (?3 = '' OR project = ?3 OR root = ?3) ORDER BY tool_events.id DESC LIMIT 1",
                (key, last, project),
            ).fetchone()[0]
            where = conversation(connection, session_id)
            fix = last_fix(connection, key, project)
            errors.append(RecurringError(key, count, sessions, first, last, where, fix))
    return tuple(errors)
