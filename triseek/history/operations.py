"""What the command line asks of the history: functions of a `History` that return JSON documents.

The daemon runs them for the command line; where none runs, the command's own process does.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypedDict, cast

from triseek.errors import InvalidRequest
from triseek.history import lookup, selecting
from triseek.history.browsing import activity
from triseek.history.browsing.selection import ListingFilters
from triseek.history.consent import NOTHING_KEPT
from triseek.model.plain_text import excerpt_line

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.answers.fix import FixAnswer
    from triseek.history.answers.how import HowAnswer
    from triseek.history.lookup import SessionRow
    from triseek.history.requests import By
    from triseek.history.service import History
    from triseek.recall.page import RecallHit

LIMIT_MAX = 100


class ConversationHit(TypedDict):
    """One result of a search."""

    conversation: SessionRow
    message_id: int
    role: str
    time_ms: int
    score: float
    excerpt: str
    copies: int
    """Other conversations that have the same message."""


class SearchReply(TypedDict):
    """The reply to `search`."""

    query: str
    by: str
    total: int
    is_kept: bool
    """Whether there is a conversation to be found."""
    results: list[ConversationHit]


class ShownEntry(TypedDict):
    """A message, or a use of a tool, in `show`."""

    kind: str
    """user, assistant, summary, or tool."""
    time_ms: int
    text: str
    """Of a message; of a use of a tool its command, or its name and arguments."""
    output: str
    failed: bool | None
    exit_status: int | None
    files: list[str]


class ShowReply(TypedDict):
    """The reply to `show`."""

    conversation: SessionRow
    resume: list[str]
    entries: list[ShownEntry]


class AgentCount(TypedDict):
    """What is kept of one agent."""

    agent: str
    conversations: int
    messages: int
    events: int
    first_ms: int
    last_ms: int


class StatsReply(TypedDict):
    """The reply to `stats`."""

    agents: list[AgentCount]
    projects: list[tuple[str, int]]
    """The projects with the most conversations, and how many."""
    days: dict[str, int]
    """Messages by day of the last 53 weeks, `YYYY-MM-DD`, local."""
    sources_gone: int
    """Files whose text is kept although the agent has deleted them."""


class AnswerReply(TypedDict):
    """The reply to `fix`, `how`, `blame` and `friction`."""

    found: bool
    text: str
    """The answer as lines for people."""
    answer: dict[str, Any]


def search(
    history: History,
    query: str,
    by: By = "session",
    limit: int = 10,
    agent: str = "",
    project: str = "",
    since_ms: int = 0,
) -> SearchReply:
    """Find conversations, or messages, by what was said in them.

    Raises:
        InvalidRequest: The query is empty, or `limit` is out of bounds.
    """
    if not query.strip():
        raise InvalidRequest("the query is empty", next_step="Name what was said.")
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidRequest(f"limit has to be from 1 to {LIMIT_MAX}")
    if by not in ("session", "message"):
        raise InvalidRequest(
            f"cannot search by {by!r:.40}", next_step="Say session, message or observation."
        )
    with history.database.read() as connection:
        sessions = _matching(connection, agent, project)
        is_kept = _is_kept(connection)
    page = history.recall.search(
        query,
        by=by,
        limit=limit,
        sessions=sessions,
        since_ms=since_ms,
    )
    with history.database.read() as connection:
        results = [row for hit in page.hits if (row := _result(connection, hit)) is not None]
    return SearchReply(query=query, by=by, total=page.total, is_kept=is_kept, results=results)


def show(history: History, name: str) -> ShowReply:
    """Return a whole conversation, in order.

    Raises: as `lookup.find`.
    """
    with history.database.read() as connection:
        return whole(connection, lookup.find(connection, name))


def whole(connection: sqlite3.Connection, number: int) -> ShowReply:
    """Return a whole conversation by its row."""
    row = cast("SessionRow", lookup.session(connection, number))
    entries = [*_messages(connection, number), *_events(connection, number)]
    entries.sort(key=lambda entry: entry[0])
    return ShowReply(
        conversation=row,
        resume=lookup.resume_command(row),
        entries=[entry for _, entry in entries],
    )


def stats(history: History) -> StatsReply:
    """Return how much is kept, by agent, project and day."""
    with history.database.read() as connection:
        agents = [
            AgentCount(
                agent=agent, conversations=count, messages=messages, events=events,
                first_ms=first or 0, last_ms=last or 0,
            )
            for agent, count, messages, events, first, last in connection.execute(_BY_AGENT)
        ]  # fmt: skip
        projects = connection.execute(
            "SELECT project, count(*) FROM sessions WHERE NOT is_sub_agent GROUP BY project"
            " ORDER BY count(*) DESC, project LIMIT 20"
        ).fetchall()
        days = activity.messages_by_day(connection, activity.today())
        (gone,) = connection.execute(
            "SELECT count(*) FROM sources WHERE gone_at IS NOT NULL"
        ).fetchone()
    return StatsReply(agents=agents, projects=projects, days=days, sources_gone=gone)


def forget(
    history: History, names: list[str], project: str = "", *, dry_run: bool = False
) -> dict[str, int]:
    """Remove records, by their ids or by project, from every file of the state folder.

    Raises:
        InvalidRequest: Nothing is named. And as `selecting.selection_of`.
    """
    if not names and not project:
        raise InvalidRequest("nothing is named", next_step="Name conversations, or a project.")
    with history.database.read() as connection:
        selection = selecting.selection_of(connection, names)
        if project:
            selection = selecting.with_project(connection, selection, project)
    forgotten = history.count_forgotten(selection) if dry_run else history.forget(selection)
    return {name: getattr(forgotten, name) for name in forgotten.__slots__}


def fix(history: History, error: str, project: str, limit: int) -> AnswerReply:
    """Return what was done after an error when it went away."""
    from triseek.history.answers import fix as fixes
    from triseek.history.answers import texts

    answer = fixes.fix(history.database, error, project=project, limit=limit)
    return _answered(history, bool(answer.fixes), texts.fix_text(answer), answer)


def how(history: History, command: str, project: str, limit: int) -> AnswerReply:
    """Return how a command has been run."""
    from triseek.history.answers import how as runs
    from triseek.history.answers import texts

    answer = runs.how(history.database, command, project=project, limit=limit)
    return _answered(history, bool(answer.variants), texts.how_text(answer), answer)


def blame(history: History, path: str, limit: int) -> AnswerReply:
    """Return which conversations have changed a file."""
    from triseek.history.answers import blame as changes
    from triseek.history.answers import texts

    changed = changes.blame(history.database, path, limit=limit)
    return _answered(
        history, bool(changed), texts.blame_text(path, changed),
        {"path": path, "changes": [dataclasses.asdict(change) for change in changed]},
    )  # fmt: skip


def friction(history: History, project: str, since_ms: int, limit: int) -> AnswerReply:
    """Return the errors that come again."""
    from triseek.history.answers import friction as recurring
    from triseek.history.answers import texts

    errors = recurring.friction(history.database, project, since_ms=since_ms, limit=limit)
    return _answered(
        history, bool(errors), texts.friction_text(errors),
        {"errors": [dataclasses.asdict(error) for error in errors]},
    )  # fmt: skip


def _answered(
    history: History, found: bool, text: str, answer: FixAnswer | HowAnswer | dict[str, Any]
) -> AnswerReply:
    """Return a reply; without a conversation it says how to import some."""
    if not found:
        with history.database.read() as connection:
            text = text if _is_kept(connection) else NOTHING_KEPT
    fields = answer if isinstance(answer, dict) else dataclasses.asdict(answer)
    return AnswerReply(found=found, text=text, answer=fields)


def _is_kept(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sessions LIMIT 1").fetchone() is not None


_BY_AGENT = """
SELECT agent, count(*),
    (SELECT count(*) FROM messages JOIN sessions AS s ON s.id = session_id
        WHERE s.agent = sessions.agent),
    (SELECT count(*) FROM tool_events JOIN sessions AS s ON s.id = session_id
        WHERE s.agent = sessions.agent),
    min(nullif(started_at_epoch, 0)), max(completed_at_epoch)
FROM sessions GROUP BY agent ORDER BY agent
"""


def _matching(connection: sqlite3.Connection, agent: str, project: str) -> list[int] | None:
    """Return the sessions of an agent and a project, by name or root folder; None for all."""
    if not agent and not project:
        return None
    where = ListingFilters(agent=agent, project=project).of_sessions()
    rows = connection.execute(f"SELECT s.id FROM sessions s WHERE {where.sql}", where.parameters)  # noqa: S608
    return [row[0] for row in rows]


def _result(connection: sqlite3.Connection, hit: RecallHit) -> ConversationHit | None:
    """Return a hit as JSON; None if it has been removed meanwhile."""
    row = lookup.session(connection, hit.session_id)
    message = connection.execute(
        "SELECT role, text, created_at_epoch FROM messages WHERE id = ?", (hit.message_id,)
    ).fetchone()
    if row is None or message is None:
        return None
    role, text, time_ms = message
    return ConversationHit(
        conversation=row,
        message_id=hit.message_id,
        role=role,
        time_ms=time_ms,
        score=round(hit.score, 4),
        excerpt=excerpt_line(text, *hit.span),
        copies=hit.copies,
    )


def _messages(
    connection: sqlite3.Connection, number: int
) -> list[tuple[tuple[int, int, int], ShownEntry]]:
    return [
        (
            (time_ms, 0, row),
            ShownEntry(
                kind=role, time_ms=time_ms, text=text, output="", failed=None, exit_status=None,
                files=[],
            ),
        )
        for row, role, text, time_ms in connection.execute(
            "SELECT id, role, text, created_at_epoch FROM messages WHERE session_id = ?", (number,)
        )
    ]  # fmt: skip


def _events(
    connection: sqlite3.Connection, number: int
) -> list[tuple[tuple[int, int, int], ShownEntry]]:
    files: dict[int, list[str]] = {}
    for event, path in connection.execute(
        "SELECT event_id, path FROM event_files JOIN tool_events ON tool_events.id = event_id"
        " WHERE session_id = ? ORDER BY path",
        (number,),
    ):
        files.setdefault(event, []).append(path)
    return [
        (
            (time_ms, 1, row),
            ShownEntry(
                kind="tool", time_ms=time_ms, text=command or f"{name} {arguments}".strip(),
                output=output, failed=None if failed is None else bool(failed),
                exit_status=exit_status, files=files.get(row, []),
            ),
        )
        for row, name, arguments, command, output, failed, exit_status, time_ms
        in connection.execute(
            "SELECT id, name, input, command, output, failed, exit_status, created_at_epoch"
            " FROM tool_events WHERE session_id = ?",
            (number,),
        )
    ]  # fmt: skip
