"""What a history database holds, without the numbers that the database gives to its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from triseek.store.sqlite import Database

_QUERIES = {
    "sessions": "SELECT agent, external_id, parent_external_id, is_sub_agent, project, root, cwd,"
    " branch, title, model, prompt_counter, started_at_epoch, completed_at_epoch FROM sessions",
    "messages": "SELECT s.external_id, m.external_id, m.parent, role, prompt_number, text, sub,"
    " created_at_epoch FROM messages AS m JOIN sessions AS s ON s.id = session_id",
    "events": "SELECT s.external_id, e.external_id, e.parent, prompt_number, name, input, command,"
    " exit_status, failed, output, error_key, created_at_epoch, ended_at_epoch"
    " FROM tool_events AS e JOIN sessions AS s ON s.id = session_id",
    "files": "SELECT e.external_id, path, role, before, after FROM event_files"
    " JOIN tool_events AS e ON e.id = event_id",
    "observations": "SELECT s.external_id, type, o.title, narrative, facts, rule, prompt_number,"
    " row_hash FROM observations AS o JOIN sessions AS s ON s.id = session_id"
    " WHERE origin = 'rule'",
    "summaries": "SELECT s.external_id, request, completed, row_hash FROM session_summaries"
    " JOIN sessions AS s ON s.id = session_id",
    "sources": "SELECT agent, path, size, mark, skipped FROM sources",
}


def contents(database: Database, agent: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """The rows of each table, sorted. agent: leave out the sessions of this agent."""
    with database.read() as connection:
        tables = {
            name: sorted(map(tuple, connection.execute(query)), key=repr)
            for name, query in _QUERIES.items()
        }
    tables["sessions"] = [row for row in tables["sessions"] if row[0] != agent]
    return tables


def files_with(folder: Path, *texts: str) -> list[str]:
    """The files below a folder in which one of the texts stands."""
    wanted = [text.encode() for text in texts]
    places = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix not in (".nbi", ".nbc"):
            data = path.read_bytes()
            places += [f"{path.name}: {text.decode()}" for text in wanted if text in data]
    return places
