"""Rows of the database as records of answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from triseek.history import times
from triseek.history.references import URI
from triseek.model.plain_text import clipped, visible

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from triseek.history.results import ObservationRecord, PromptRecord, SessionRecord

    _Record = TypeVar("_Record", ObservationRecord, SessionRecord, PromptRecord)

PROMPT_MAX = 160
"""Most characters of a prompt in the index format."""
TITLE_MAX = 300


def one_line(text: str, most: int = TITLE_MAX) -> str:
    """Return a text in one line that a terminal can take, cut to a length."""
    return clipped(visible(" ".join(text[: 4 * most].split())), most)


def observations(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    *,
    is_full: bool,
    scores: Sequence[float] = (),
    freshness: Mapping[int, str] | None = None,
) -> list[ObservationRecord]:
    """Return observations by their ids, in that order, without those that are not there."""
    rows = {
        row[0]: row
        for row in _by_ids(
            connection,
            "SELECT o.id, o.type, o.title, o.created_at_epoch, o.superseded_by, o.subtitle,"
            " o.narrative, o.text, o.facts, o.concepts, o.project, s.external_id, o.pinned"
            " FROM observations o JOIN sessions s ON s.id = o.session_id WHERE o.id IN ({})",
            ids,
        )
    }
    files = _files(connection, ids) if is_full else {}
    records = {
        id_: _observation(row, is_full=is_full, files=files.get(id_, []))
        for id_, row in rows.items()
    }
    for id_, status in (freshness or {}).items():
        if id_ in records:
            records[id_]["freshness"] = status
    return _in_order(ids, records, scores)


def _observation(row: Sequence[Any], *, is_full: bool, files: list[str]) -> ObservationRecord:
    id_, type_, title, time_ms, superseded_by, subtitle, narrative, text, *rest = row
    facts, concepts, project, session, pinned = rest
    record: ObservationRecord = {
        "id": id_,
        "type": one_line(type_, 40),
        "title": one_line(title) or f"Observation #{id_}",
        "date": times.shown(time_ms),
        "uri": f"{URI}observation/{id_}",
        "time_ms": time_ms,
    }
    if superseded_by is not None:
        record["superseded_by"] = superseded_by
    if is_full:
        record |= {
            "subtitle": one_line(subtitle),
            "narrative": visible(narrative),
            "text": visible(text),
            "facts": texts_of(facts),
            "concepts": texts_of(concepts),
            "files": files,
            "project": project,
            "session": session,
            "pinned": bool(pinned),
        }
    return record


def sessions(
    connection: sqlite3.Connection,
    summaries: Sequence[int],
    *,
    is_full: bool,
    scores: Sequence[float] = (),
) -> list[SessionRecord]:
    """Return sessions by the ids of their summaries, in that order."""
    rows = {
        row[0]: row
        for row in _by_ids(
            connection,
            "SELECT o.id, s.id, s.external_id, s.agent, s.project, o.request, o.created_at_epoch,"
            " o.completed, o.learned, o.investigated, o.next_steps, o.notes"
            " FROM session_summaries o JOIN sessions s ON s.id = o.session_id WHERE o.id IN ({})",
            summaries,
        )
    }
    records = {id_: _session(connection, row, is_full=is_full) for id_, row in rows.items()}
    return _in_order(summaries, records, scores)


def sessions_by_row(
    connection: sqlite3.Connection, rows: Sequence[int], *, is_full: bool
) -> list[SessionRecord]:
    """Return sessions by the ids of their own rows, in that order, with their last summaries."""
    records = []
    for id_ in rows:
        summary = connection.execute(
            "SELECT id FROM session_summaries WHERE session_id = ?"
            " ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
            (id_,),
        ).fetchone()
        if summary:
            records += sessions(connection, summary, is_full=is_full)
            continue
        row = connection.execute(
            "SELECT NULL, id, external_id, agent, project, title, started_at_epoch,"
            " '', '', '', '', '' FROM sessions WHERE id = ?",
            (id_,),
        ).fetchone()
        if row:
            records.append(_session(connection, row, is_full=is_full))
    return records


def _session(connection: sqlite3.Connection, row: Sequence[Any], *, is_full: bool) -> SessionRecord:
    summary, session, external, agent, project, request, time_ms, *rest = row
    completed, learned, investigated, next_steps, notes = rest
    record: SessionRecord = {
        "id": external,
        "request": one_line(request or first_prompt(connection, session))
        or f"Session {one_line(external)[:8]}",
        "date": times.shown(time_ms),
        "uri": f"{URI}session/{external}",
        "time_ms": time_ms,
        "agent": agent,
    }
    if summary is not None:
        record["summary"] = summary
    if is_full:
        record |= {
            "completed": visible(completed),
            "learned": visible(learned),
            "investigated": visible(investigated),
            "next_steps": visible(next_steps),
            "notes": visible(notes),
            "files": session_files(connection, session),
            "project": project,
        }
    return record


def session_files(connection: sqlite3.Connection, session: int, role: str = "") -> list[str]:
    """Return the files of a session: those of its observations, sorted."""
    rows = connection.execute(
        "SELECT DISTINCT f.path FROM observations o"
        " JOIN observation_files f ON f.observation_id = o.id"
        " WHERE o.session_id = ? AND (? = '' OR f.role = ?) ORDER BY f.path LIMIT 200",
        (session, role, role),
    )
    return [visible(row[0]) for row in rows]


def first_prompt(connection: sqlite3.Connection, session: int) -> str:
    """Return the first prompt of a session; "" if it has none."""
    row = connection.execute(
        "SELECT substr(text, 1, 2000) FROM messages WHERE session_id = ? AND role = 'user'"
        " ORDER BY prompt_number, id LIMIT 1",
        (session,),
    ).fetchone()
    return str(row[0]) if row else ""


def prompts(
    connection: sqlite3.Connection,
    ids: Sequence[int],
    *,
    is_full: bool,
    scores: Sequence[float] = (),
) -> list[PromptRecord]:
    """Return prompts by their ids, in that order."""
    rows = _by_ids(
        connection,
        "SELECT o.id, o.prompt_number, o.prompt_text, o.created_at_epoch, s.external_id"
        " FROM user_prompts o JOIN sessions s ON s.id = o.session_id WHERE o.id IN ({})",
        ids,
    )
    records: dict[int, PromptRecord] = {
        id_: {
            "id": id_,
            "number": number,
            "text": visible(text) if is_full else one_line(text, PROMPT_MAX),
            "date": times.shown(time_ms),
            "uri": f"{URI}user-prompt/{id_}",
            "time_ms": time_ms,
            "session": session,
        }
        for id_, number, text, time_ms, session in rows
    }
    return _in_order(ids, records, scores)


def _in_order(
    ids: Sequence[int], records: Mapping[int, _Record], scores: Sequence[float]
) -> list[_Record]:
    """Return the records that are there in the order of their ids, with their scores, if any."""
    for id_, score in zip(ids, scores, strict=False):
        if id_ in records:
            records[id_]["score"] = score
    return [records[id_] for id_ in ids if id_ in records]


def texts_of(document: str) -> list[str]:
    """Return the texts of a JSON list; of what is none, none."""
    try:
        items = json.loads(document)
    except (ValueError, RecursionError):
        return []
    return (
        [one_line(item, 2_000) for item in items if isinstance(item, str)]
        if isinstance(items, list)
        else []
    )


def _files(connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, list[str]]:
    files: dict[int, list[str]] = {}
    for id_, path in _by_ids(
        connection,
        "SELECT DISTINCT observation_id, path FROM observation_files"
        " WHERE observation_id IN ({}) ORDER BY observation_id, path",
        ids,
    ):
        files.setdefault(id_, []).append(visible(path))
    return files


def _by_ids(connection: sqlite3.Connection, sql: str, ids: Sequence[int]) -> list[Any]:
    return connection.execute(sql.format(", ".join("?" * len(ids))), tuple(ids)).fetchall()
