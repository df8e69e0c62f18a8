"""Derive a session's rows from its events, in one transaction.

Rows are identified by their rule and the events they rest on. Deriving again changes only what
differs: rows keep their ids, and rows whose events do not amount to them any more are removed,
unless a person has pinned them. Rows that people or agents wrote, or that were imported, are left
alone.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from triseek.history.synthesis.rules import drafts_of
from triseek.history.synthesis.session_events import load
from triseek.history.synthesis.summary import Summary, summarize, summary_hash
from triseek.history.tombstones import forgotten_observations
from triseek.recall.sub_tokens import sub_tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from triseek.history.freshness import FileMark
    from triseek.history.synthesis.draft import Draft
    from triseek.history.synthesis.session_events import SessionView
    from triseek.store.sqlite import Database

_COLUMNS = (
    "project", "root", "type", "title", "subtitle", "narrative", "facts", "concepts",
    "prompt_number", "rule", "evidence", "is_dead_end", "sub", "created_at_epoch",
)  # fmt: skip
_SUMMARY_COLUMNS = (
    "project", "request", "investigated", "learned", "completed", "next_steps", "notes",
    "prompt_number", "sub", "created_at_epoch",
)  # fmt: skip


def synthesize(database: Database, session_id: int) -> int:
    """Derive the observations and the summary of one session; return the number of observations.

    Also sets `error_key` and `event_programs` of its events, and `derived_at` of the session. Does
    nothing if there is no such session.

    Raises: as `Database`.
    """
    with database.write() as connection:
        view = load(connection, session_id)
        if view is None:
            return 0
        _set_keys(connection, view)
        drafts = _without_forgotten(connection, view, drafts_of(view))
        _store(connection, view, drafts)
        _store_summary(connection, view, summarize(view, drafts))
        connection.execute(
            "UPDATE sessions SET derived_at = ? WHERE id = ?",
            (time.time_ns() // 1_000_000, session_id),
        )
        return len(drafts)


def synthesize_pending(database: Database, *, most: int = 1_000_000) -> Iterator[int]:
    """Derive the sessions whose `derived_at` is 0, oldest first; yield each one's id when done.

    Raises: as `Database`.
    """
    with database.read() as connection:
        rows = connection.execute(
            "SELECT id FROM sessions WHERE derived_at = 0 ORDER BY id LIMIT ?", (most,)
        ).fetchall()
    for (session_id,) in rows:
        synthesize(database, session_id)
        yield session_id


def _without_forgotten(
    connection: sqlite3.Connection, view: SessionView, drafts: list[Draft]
) -> list[Draft]:
    """Return the drafts except for those of observations that somebody has forgotten."""
    hashes = [draft.row_hash(view) for draft in drafts]
    forgotten = forgotten_observations(connection, hashes)
    return [
        draft for draft, row_hash in zip(drafts, hashes, strict=True) if row_hash not in forgotten
    ]


def _set_keys(connection: sqlite3.Connection, view: SessionView) -> None:
    """Store which errors and programs the events have, where that differs from what is stored."""
    stored = dict(
        connection.execute("SELECT id, error_key FROM tool_events WHERE session_id = ?", (view.id,))
    )
    programs: dict[int, set[str]] = {}
    for program, event_id in connection.execute(
        "SELECT program, event_id FROM event_programs JOIN tool_events ON tool_events.id = event_id"
        " WHERE session_id = ?",
        (view.id,),
    ):
        programs.setdefault(event_id, set()).add(program)
    keys: list[tuple[str, int]] = []
    old: list[tuple[int]] = []
    new: list[tuple[str, int]] = []
    for event in view.events:
        if event.error.key != stored.get(event.id):
            keys.append((event.error.key, event.id))
        names, before = {run.program for run in event.runs}, programs.get(event.id, set())
        if names != before:
            old += [(event.id,)] if before else []
            new += [(name, event.id) for name in sorted(names)]
    connection.executemany("UPDATE tool_events SET error_key = ? WHERE id = ?", keys)
    connection.executemany("DELETE FROM event_programs WHERE event_id = ?", old)
    connection.executemany("INSERT INTO event_programs (program, event_id) VALUES (?, ?)", new)


def _store(
    connection: sqlite3.Connection,
    view: SessionView,
    drafts: list[Draft],
) -> None:
    """Make the session's rule rows those of the drafts."""
    stored = {
        row_hash: (number, tuple(row))
        for number, row_hash, *row in connection.execute(
            f"SELECT id, row_hash, {', '.join(_COLUMNS)} FROM observations"  # noqa: S608
            " WHERE session_id = ? AND origin = 'rule'",
            (view.id,),
        )
    }
    hashes = set()
    for draft in drafts:
        row_hash = draft.row_hash(view)
        hashes.add(row_hash)
        row = _row(view, draft)
        number, old = stored.get(row_hash, (None, None))
        if number is None:
            number = connection.execute(
                f"INSERT INTO observations (session_id, row_hash, origin, {', '.join(_COLUMNS)})"  # noqa: S608
                f" VALUES (?, ?, 'rule', {', '.join('?' * len(_COLUMNS))})",
                (view.id, row_hash, *row),
            ).lastrowid
        elif row != old:
            connection.execute(
                f"UPDATE observations SET {', '.join(f'{name} = ?' for name in _COLUMNS)}"  # noqa: S608
                " WHERE id = ?",
                (*row, number),
            )
        if row != old and number is not None:
            _store_files(connection, number, draft.evidence.marks())
    gone = [number for row_hash, (number, _) in stored.items() if row_hash not in hashes]
    connection.executemany(
        "DELETE FROM observations WHERE id = ? AND pinned = 0", [(number,) for number in gone]
    )


def _store_files(connection: sqlite3.Connection, number: int, marks: list[FileMark]) -> None:
    connection.execute("DELETE FROM observation_files WHERE observation_id = ?", (number,))
    connection.executemany(
        "INSERT INTO observation_files (observation_id, path, role, sha) VALUES (?, ?, ?, ?)",
        [(number, mark["path"], mark["role"], mark.get("sha", "")) for mark in marks],
    )


def _row(view: SessionView, draft: Draft) -> tuple[str | int, ...]:
    """Return the values of `_COLUMNS`."""
    words = "\n".join([draft.title, draft.subtitle, draft.narrative, *draft.facts])
    return (
        view.project, view.root, draft.type, draft.title, draft.subtitle, draft.narrative,
        json.dumps(draft.facts, ensure_ascii=False), json.dumps(draft.concepts), draft.prompt,
        draft.rule, draft.evidence.document(), int(draft.is_dead_end), sub_tokens((words,)),
        draft.time_ms,
    )  # fmt: skip


def _store_summary(
    connection: sqlite3.Connection,
    view: SessionView,
    summary: Summary | None,
) -> None:
    """Make the session's derived summary this one; a session that did nothing has none."""
    row_hash = summary_hash(view)
    if summary is None or summary.is_empty:
        connection.execute(
            "DELETE FROM session_summaries WHERE session_id = ? AND row_hash = ?",
            (view.id, row_hash),
        )
        return
    texts = (
        summary.request, summary.investigated, summary.learned, summary.completed,
        summary.next_steps, summary.notes,
    )  # fmt: skip
    row = (view.project, *texts, summary.prompt, sub_tokens(texts), summary.time_ms)
    names = ", ".join(_SUMMARY_COLUMNS)
    old = connection.execute(
        f"SELECT {names} FROM session_summaries WHERE session_id = ? AND row_hash = ?",  # noqa: S608
        (view.id, row_hash),
    ).fetchone()
    if old == row:
        return
    changes = ", ".join(f"{name} = excluded.{name}" for name in _SUMMARY_COLUMNS)
    connection.execute(
        f"INSERT INTO session_summaries (session_id, row_hash, origin, {names})"  # noqa: S608
        f" VALUES (?, ?, 'rule', {', '.join('?' * len(row))})"
        f" ON CONFLICT (session_id, row_hash) DO UPDATE SET {changes}",
        (view.id, row_hash, *row),
    )
