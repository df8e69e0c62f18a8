"""Observations that agents and people write themselves."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery
from triseek.recall.sub_tokens import observation_sub
from triseek.redaction import PRIVATE, redact

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

AGENT = "triseek"
"""The agent of sessions that hold what was written explicitly."""
TITLE_MAX = 60
"""Characters of the text that are the title, if it has none."""
_STEP = "Take an id from a search's answer."


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """An observation to be written; nothing of it has been redacted."""

    text: str
    title: str = ""
    type: str = "discovery"
    concepts: Sequence[str] = ()
    files: Sequence[str] = ()
    project: str = ""
    """The project's name."""
    root: str = ""
    """Its root; "" if it is known by its name only."""
    pinned: bool = False
    valid_until: int | None = None
    """Unix milliseconds; None for ever."""


def remember(connection: sqlite3.Connection, draft: Draft, now_ms: int) -> tuple[int, bool]:
    """Write an observation, and return its id and whether it is new.

    The same text of the same project is written once.

    Raises:
        InvalidQuery: It has no text, or all of it is private.
    """
    text = redact(draft.text).strip()
    if text in ("", PRIVATE):
        state = "private" if text else "empty"
        raise InvalidQuery(f"text is {state}", tool_step="Pass what is to be remembered.")
    draft = replace(draft, project=redact(draft.project), root=redact(draft.root))
    title = redact(" ".join(draft.title.split())) or _title(text)
    concepts = list(dict.fromkeys(redact(name.strip()) for name in draft.concepts if name.strip()))
    files = list(dict.fromkeys(redact(path) for path in draft.files if path))
    session = _session(connection, draft.project, draft.root, now_ms)
    content = json.dumps(["explicit", title, draft.type, text, concepts, files])
    row_hash = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    row = connection.execute(
        "SELECT id FROM observations WHERE session_id = ? AND row_hash = ?", (session, row_hash)
    ).fetchone()
    if row is not None:
        _renew(connection, row[0], draft)
        return int(row[0]), False
    cursor = connection.execute(
        "INSERT INTO observations (session_id, project, root, type, title, subtitle, narrative,"
        " concepts, origin, row_hash, pinned, valid_until, sub, created_at_epoch)"
        " VALUES (?, ?, ?, ?, ?, 'Manual memory', ?, ?, 'explicit', ?, ?, ?, ?, ?)",
        (
            session, draft.project, draft.root, draft.type, title, text,
            json.dumps(concepts, ensure_ascii=False), row_hash, int(draft.pinned),
            draft.valid_until, observation_sub((title, text), (), concepts, files), now_ms,
        ),
    )  # fmt: skip
    id_ = int(cursor.lastrowid or 0)
    connection.executemany(
        "INSERT INTO observation_files (observation_id, path, role) VALUES (?, ?, 'read')",
        [(id_, path) for path in files],
    )
    return id_, True


def supersede(
    connection: sqlite3.Connection, old: int, text: str, title: str, now_ms: int
) -> tuple[int, bool]:
    """Write what holds instead of an observation, which is hidden from then on.

    Type, concepts, files, project and pin are taken over. Returns as `remember`.

    Raises:
        InvalidQuery: There is no such observation, it has been superseded, or the text is empty.
    """
    row = connection.execute(
        "SELECT type, concepts, project, root, pinned, superseded_by FROM observations"
        " WHERE id = ?",
        (old,),
    ).fetchone()
    if row is None:
        raise InvalidQuery(f"Observation #{old} not found", tool_step=_STEP)
    type_, concepts, project, root, pinned, newer = row
    if newer is not None:
        raise InvalidQuery(
            f"Observation #{old} has been superseded by #{newer}",
            tool_step=f"Supersede {newer} instead.",
        )
    paths = connection.execute(
        "SELECT DISTINCT path FROM observation_files WHERE observation_id = ? ORDER BY path", (old,)
    )
    draft = Draft(
        text=text, title=title, type=type_, concepts=_names(concepts),
        files=[path for [path] in paths], project=project, root=root, pinned=bool(pinned),
    )  # fmt: skip
    id_, is_new = remember(connection, draft, now_ms)
    if id_ == old:
        raise InvalidQuery(f"Observation #{old} says that already", tool_step="Change the text.")
    connection.execute(
        "UPDATE observations SET superseded_by = ?, pinned = 0 WHERE id = ?", (id_, old)
    )
    return id_, is_new


def pin(connection: sqlite3.Connection, id_: int, *, on: bool) -> None:
    """Pin an observation or unpin it.

    Raises:
        InvalidQuery: There is no such observation.
    """
    changed = connection.execute("UPDATE observations SET pinned = ? WHERE id = ?", (int(on), id_))
    if not changed.rowcount:
        raise InvalidQuery(f"Observation #{id_} not found", tool_step=_STEP)


def _renew(connection: sqlite3.Connection, id_: int, draft: Draft) -> None:
    """Make an observation that is written again visible, as long as it says now."""
    connection.execute(
        "UPDATE observations SET superseded_by = NULL, valid_until = ?, pinned = max(pinned, ?)"
        " WHERE id = ?",
        (draft.valid_until, int(draft.pinned), id_),
    )


def _session(connection: sqlite3.Connection, project: str, root: str, now_ms: int) -> int:
    """Return the row of the session that holds what is written of a project."""
    name = f"manual-{project}"
    rows = connection.execute(
        "SELECT id, root FROM sessions WHERE agent = ? AND external_id = ?", (AGENT, name)
    ).fetchall()
    if rows and rows[0][1] != root:  # another project of the same name
        name += f"-{hashlib.sha256(root.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        rows = connection.execute(
            "SELECT id, root FROM sessions WHERE agent = ? AND external_id = ?", (AGENT, name)
        ).fetchall()
    if rows:
        return int(rows[0][0])
    cursor = connection.execute(
        "INSERT INTO sessions (agent, external_id, project, root, title, started_at_epoch)"
        " VALUES (?, ?, ?, ?, 'Manual memories', ?)",
        (AGENT, name, project, root, now_ms),
    )
    return int(cursor.lastrowid or 0)


def _title(text: str) -> str:
    line = " ".join(text.splitlines()[0].split())
    return line if len(line) <= TITLE_MAX else line[: TITLE_MAX - 1] + "…"


def _names(document: str) -> list[str]:
    try:
        items = json.loads(document)
    except (ValueError, RecursionError):
        return []
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
