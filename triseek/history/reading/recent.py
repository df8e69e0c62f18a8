"""The last sessions of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.history import times
from triseek.history.reading import filters, records
from triseek.history.writing import AGENT
from triseek.model.plain_text import visible

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from triseek.history.results import RecentSession

_TITLES_MAX = 50


def recent_sessions(
    connection: sqlite3.Connection, project: filters.Where, limit: int, now_ms: int
) -> list[RecentSession]:
    """Return the last sessions in which something was said or done, oldest first.

    Args:
        connection: A read transaction.
        project: Conditions for rows `s` of `sessions`.
        limit: Most sessions.
        now_ms: Unix time.
    """
    rows = connection.execute(
        "SELECT s.id, s.external_id, s.status, s.started_at_epoch, s.prompt_counter"  # noqa: S608
        f" FROM sessions s WHERE {project.sql} AND NOT s.is_sub_agent AND s.agent != ?"
        " AND (EXISTS (SELECT 1 FROM session_summaries WHERE session_id = s.id)"
        "  OR EXISTS (SELECT 1 FROM messages WHERE session_id = s.id AND role = 'user')"
        "  OR EXISTS (SELECT 1 FROM observations WHERE session_id = s.id))"
        " ORDER BY s.started_at_epoch DESC, s.id DESC LIMIT ?",
        (*project.parameters, AGENT, limit),
    ).fetchall()
    return [_session(connection, row, now_ms) for row in reversed(rows)]


def _session(connection: sqlite3.Connection, row: Sequence[Any], now_ms: int) -> RecentSession:
    id_, external, status, began, prompts = row
    summary = connection.execute(
        "SELECT prompt_number, request, completed, learned, next_steps, created_at_epoch"
        " FROM session_summaries WHERE session_id = ?"
        " ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
        (id_,),
    ).fetchone()
    number, request, completed, learned, next_steps, time_ms = summary or (
        prompts, "", "", "", "", began,
    )  # fmt: skip
    titles = connection.execute(
        "SELECT o.title, o.id FROM observations o"  # noqa: S608
        f" WHERE o.session_id = ? AND {filters.visible('o')}"
        " ORDER BY o.created_at_epoch, o.id LIMIT ?",
        (id_, now_ms, _TITLES_MAX),
    )
    return {
        "id": external,
        "status": "summary" if summary else status,
        "prompt_number": number,
        "request": records.one_line(request or records.first_prompt(connection, id_)),
        "completed": visible(completed),
        "learned": visible(learned),
        "next_steps": visible(next_steps),
        "files_read": records.session_files(connection, id_, "read"),
        "files_edited": records.session_files(connection, id_, "modified"),
        "observations": [
            records.one_line(title) or f"Observation #{number_}" for title, number_ in titles
        ],
        "date": times.shown(time_ms),
    }
