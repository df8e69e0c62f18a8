"""`blame`: which conversations changed a file, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.history.answers.conversation_ref import ConversationRef, conversation
from triseek.history.answers.later_events import TEXT_MAX, edits_freshness
from triseek.history.synthesis.edit_shape import lines_changed, symbols_of
from triseek.history.synthesis.session_events import relative
from triseek.history.synthesis.summary import request_of

if TYPE_CHECKING:
    import sqlite3

    from triseek.model.freshness import Freshness
    from triseek.store.sqlite import Database

EDITS_MAX = 2_000
"""Edits of the file that are examined, newest first."""
PATHS_MAX = 20
"""Files that a name without folders may stand for."""


@dataclass(frozen=True, slots=True)
class Change:
    """The edits of a file that one prompt led to."""

    path: str
    """Relative to the conversation's root if it is below it."""
    conversation: ConversationRef
    prompt_number: int
    prompt: str
    """Its first sentence."""
    reason: str
    """The subject of the commit that followed in the conversation; "" if there was none."""
    edits: int
    added: int
    removed: int
    symbols: tuple[str, ...]
    """Names that the edits define."""
    time_ms: int
    """Of the last edit."""
    freshness: Freshness | None
    """Whether the text that the last edit left is still there."""


@dataclass(slots=True)
class _Edits:
    path: str
    time_ms: int
    left: str
    count: int = 0
    added: int = 0
    removed: int = 0
    names: dict[str, None] = field(default_factory=dict)


def blame(
    database: Database, path: str, *, project: str = "", limit: int = 20
) -> tuple[Change, ...]:
    """Return the changes of a file, newest first, one for each prompt.

    Args:
        database: The history.
        path: Absolute, relative to a conversation's root, or a name without folders.
        project: Only conversations of this project; "" for all.
        limit: The most changes.

    Raises: as `Database`.
    """
    with database.read() as connection:
        paths = _spellings(connection, path)
        marks = ", ".join("?" * len(paths))
        rows = connection.execute(
            f"""SELECT session_id, prompt_number, path, substr(before, 1, ?), substr(after, 1, ?),
            created_at_epoch FROM event_files JOIN tool_events ON tool_events.id = event_id
            WHERE path IN ({marks}) AND role = 'modified' AND coalesce(failed, 0) = 0
            ORDER BY tool_events.id DESC LIMIT ?""",  # noqa: S608
            (TEXT_MAX, TEXT_MAX, *paths, EDITS_MAX),
        )
        by_prompt: dict[tuple[int, int, str], _Edits] = {}
        for session_id, prompt, where, before, after, time_ms in rows:
            whole = after if len(after) < TEXT_MAX else ""
            edits = by_prompt.setdefault((session_id, prompt, where), _Edits(where, time_ms, whole))
            plus, minus = lines_changed(before, after)
            edits.count, edits.added, edits.removed = (
                edits.count + 1, edits.added + plus, edits.removed + minus,
            )  # fmt: skip
            edits.names.update(dict.fromkeys(symbols_of(where, after)))
        newest = sorted(by_prompt.items(), key=lambda item: (-item[1].time_ms, item[0]))
        changes: list[Change] = []
        for (session_id, prompt, _), edits in newest:
            of_session = conversation(connection, session_id)
            if project in ("", of_session.project, of_session.root):
                changes.append(_change(connection, of_session, prompt, edits))
            if len(changes) == limit:
                break
    return tuple(changes)


def _spellings(connection: sqlite3.Connection, path: str) -> list[str]:
    """Return the absolute paths that a path may stand for."""
    path = path[:4_096].removeprefix("./")
    if path.startswith("/"):
        return [path]
    roots = [row[0] for row in connection.execute("SELECT DISTINCT root FROM sessions LIMIT 2000")]
    whole = [f"{root.rstrip('/')}/{path}" for root in roots if root]
    marks = ", ".join("?" * len(whole))
    rows = connection.execute(
        f"SELECT DISTINCT path FROM event_files WHERE path IN ({marks})",  # noqa: S608
        whole,
    ).fetchall()
    if not rows:
        escaped = path.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        rows = connection.execute(
            "SELECT DISTINCT path FROM event_files WHERE path LIKE ? ESCAPE '\\' LIMIT ?",
            (f"%/{escaped}", PATHS_MAX),
        ).fetchall()
    return [row[0] for row in rows]


def _change(
    connection: sqlite3.Connection, of_session: ConversationRef, prompt: int, edits: _Edits
) -> Change:
    name = relative(edits.path, of_session.root)
    asked = connection.execute(
        "SELECT substr(text, 1, 2000) FROM messages WHERE session_id = ? AND prompt_number = ?"
        " AND role = 'user' ORDER BY id LIMIT 1",
        (of_session.session_id, prompt),
    ).fetchone()
    commit = connection.execute(
        "SELECT title FROM observation_files JOIN observations ON observations.id = observation_id"
        " WHERE path = ? AND session_id = ? AND rule = 'commit' AND created_at_epoch >= ?"
        " ORDER BY created_at_epoch, observations.id LIMIT 1",
        (name, of_session.session_id, edits.time_ms),
    ).fetchone()
    return Change(
        name, of_session, prompt, request_of(asked[0]) if asked else "",
        commit[0] if commit else "", edits.count, edits.added, edits.removed,
        tuple(edits.names)[:8], edits.time_ms,
        edits_freshness(of_session.root, {name: edits.left}, edits.time_ms),
    )  # fmt: skip
