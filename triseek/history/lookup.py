"""Finds sessions by the ids that people type, and describes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypedDict

from triseek.errors import InvalidRequest

if TYPE_CHECKING:
    import sqlite3

FEW = 5
_SUMMARY = re.compile(r"#?[Ss]([0-9]{1,18})|claude-mem://session-summary/([0-9]{1,18})")
_COLUMNS = (
    "id", "agent", "external_id", "parent_external_id", "is_sub_agent", "project", "root", "cwd",
    "branch", "title", "model", "prompt_counter", "started_at_epoch", "completed_at_epoch",
)  # fmt: skip


class SessionRow(TypedDict):
    """A session as JSON."""

    id: int
    agent: str
    session: str
    """The agent's own id."""
    parent: str
    is_sub_agent: bool
    project: str
    root: str
    cwd: str
    branch: str
    title: str
    """The agent's title, else the first prompt."""
    model: str
    prompts: int
    started_ms: int
    ended_ms: int


def find(connection: sqlite3.Connection, name: str) -> int:
    """Return the id of a session: by its agent's id, its beginning or address, a summary's `S4`.

    Raises:
        InvalidRequest: There is none, or several begin like that.
    """
    name = name.removeprefix("claude-mem://session/")
    if summary := _SUMMARY.fullmatch(name):
        row = connection.execute(
            "SELECT session_id FROM session_summaries WHERE id = ?",
            (int(summary[1] or summary[2]),),
        ).fetchone()
        if row:
            return int(row[0])
    rows = connection.execute(
        "SELECT id, external_id FROM sessions WHERE external_id >= ? AND external_id < ?"
        " ORDER BY external_id != ?, external_id LIMIT ?",
        (name, f"{name}\U0010ffff", name, FEW),
    ).fetchall()
    if not name or not rows:
        raise InvalidRequest(
            f"no conversation {name!r:.80}",
            next_step="`triseek history search` names conversations.",
            tool_step="memory_search names conversations.",
        )
    if len(rows) > 1 and rows[0][1] != name:
        others = ", ".join(row[1] for row in rows)
        raise InvalidRequest(
            f"several conversations begin with {name!r:.80}: {others}",
            next_step="Give more of the id.",
        )
    return int(rows[0][0])


def session(connection: sqlite3.Connection, number: int) -> SessionRow | None:
    """Return a session by its number; None if it does not exist."""
    row = connection.execute(
        f"SELECT {', '.join(_COLUMNS)} FROM sessions WHERE id = ?",  # noqa: S608 - our own names
        (number,),
    ).fetchone()
    if row is None:
        return None
    fields: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    return SessionRow(
        id=number,
        agent=fields["agent"],
        session=fields["external_id"],
        parent=fields["parent_external_id"],
        is_sub_agent=bool(fields["is_sub_agent"]),
        project=fields["project"],
        root=fields["root"],
        cwd=fields["cwd"],
        branch=fields["branch"],
        title=fields["title"] or _first_prompt(connection, number),
        model=fields["model"],
        prompts=fields["prompt_counter"],
        started_ms=fields["started_at_epoch"],
        ended_ms=fields["completed_at_epoch"],
    )


def resume_command(row: SessionRow) -> list[str]:
    """Return the agent's own command that reopens a conversation; empty if it has none."""
    from triseek.agents import registry  # takes longer to import than a search

    for agent in registry.with_transcripts():
        if agent.name == row["agent"] and agent.transcripts and not row["is_sub_agent"]:
            return list(agent.transcripts.resume(row["session"]))
    return []


def _first_prompt(connection: sqlite3.Connection, number: int) -> str:
    row = connection.execute(
        "SELECT text FROM messages WHERE session_id = ? AND role = 'user' ORDER BY id LIMIT 1",
        (number,),
    ).fetchone()
    return " ".join(row[0].split())[:160] if row else ""
