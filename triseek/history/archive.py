"""An archive of the history: everything that is kept, as compressed JSON lines.

The first line names the format, the last one says how many rows there are. Between them a line of
each session is followed by the lines of its rows. An object holds the columns of its row under
their own names; what is derived from others (search columns, programs, keys of errors) is left out,
and so are tombstones, which hold for this machine only.
"""

from __future__ import annotations

import gzip
import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek import private
from triseek.model import budget
from triseek.model.plain_text import encodable
from triseek.store import atomic

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from triseek.store.sqlite import Database

FORMAT = "triseek-history"
VERSION = 1
LEVEL = 6
"""Of the compression: higher ones take much longer and save little."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A table, and its columns that are archived."""

    table: str
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    optional: tuple[str, ...] = ()
    """Numbers that may be NULL."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns."""
        return (*self.texts, *self.numbers, *self.optional)


SESSION = Kind(
    "sessions",
    ("agent", "external_id", "parent_external_id", "project", "root", "cwd", "branch", "title",
     "model", "status"),
    ("is_sub_agent", "prompt_counter", "started_at_epoch", "completed_at_epoch"),
)  # fmt: skip
ROWS = {
    "message": Kind(
        "messages", ("external_id", "parent", "role", "text"),
        ("prompt_number", "created_at_epoch"),
    ),
    "event": Kind(
        "tool_events", ("external_id", "parent", "name", "input", "command", "output"),
        ("prompt_number", "created_at_epoch", "ended_at_epoch"), ("exit_status", "failed"),
    ),
    "observation": Kind(
        "observations",
        ("project", "root", "type", "title", "subtitle", "narrative", "text", "facts", "concepts",
         "origin", "rule", "row_hash", "evidence"),
        ("prompt_number", "is_dead_end", "pinned", "created_at_epoch"),
        ("valid_until", "superseded_by"),
    ),
    "summary": Kind(
        "session_summaries",
        ("project", "request", "investigated", "learned", "completed", "next_steps", "notes",
         "origin", "row_hash"),
        ("prompt_number", "created_at_epoch"),
    ),
}  # fmt: skip
"""Kind of line → what belongs to a session, in the order of the lines."""
FILES = {
    "event": ("event_files", "event_id", ("path", "role", "before", "after")),
    "observation": ("observation_files", "observation_id", ("path", "role", "sha")),
}
"""Kind of line → the table of its files, the column that names the row, and the others."""


def write(database: Database, target: Path) -> int:
    """Write an archive, atomically, that only this user can read; return the number of rows.

    Each session is as it is when its turn comes.

    Raises:
        OSError: The file cannot be written.
        TriseekError: As `Database`.
    """
    aside = target.with_name(f"{target.name}.{secrets.token_hex(4)}.partial")
    count = 0
    try:
        with (
            open(aside, "xb", opener=private.opener) as raw,
            gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as file,
        ):
            for line in _lines(database):
                file.write(line)
                count += 1
        atomic.publish(aside, target)
    finally:
        aside.unlink(missing_ok=True)
    return count - 2


def _lines(database: Database) -> Iterator[bytes]:
    yield _line({"kind": FORMAT, "version": VERSION})
    with database.read() as connection:
        numbers = [row[0] for row in connection.execute("SELECT id FROM sessions ORDER BY id")]
    count = 0
    for number in numbers:
        budget.check()
        with database.read() as connection:
            for document in _of_session(connection, number):
                count += 1
                yield _line(document)
    yield _line({"kind": "end", "rows": count})


def _of_session(connection: sqlite3.Connection, number: int) -> Iterator[dict[str, Any]]:
    """Yield a session and its rows; nothing if it has been forgotten meanwhile."""
    for _, document in _rows(connection, SESSION, "id", number):
        yield {"kind": "session", **document}
    for kind, table in ROWS.items():
        for row, document in _rows(connection, table, "session_id", number):
            if kind in FILES:
                document["id"], document["files"] = row, _files(connection, kind, row)
            yield {"kind": kind, **document}


def _rows(
    connection: sqlite3.Connection, kind: Kind, owner: str, number: int
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of an owner, each with its number; columns that say nothing are left out."""
    rows = connection.execute(
        f"SELECT id, {', '.join(kind.columns)} FROM {kind.table}"  # noqa: S608 - our own names
        f" WHERE {owner} = ? ORDER BY id",
        (number,),
    )
    for row, *values in rows:
        pairs = zip(kind.columns, values, strict=True)
        yield row, {name: value for name, value in pairs if value not in ("", None)}


def _files(connection: sqlite3.Connection, kind: str, row: int) -> list[dict[str, str]]:
    table, owner, columns = FILES[kind]
    rows = connection.execute(
        f"SELECT {', '.join(columns)} FROM {table} WHERE {owner} = ? ORDER BY path, role",  # noqa: S608
        (row,),
    )
    return [dict(zip(columns, values, strict=True)) for values in rows]


def _line(document: dict[str, Any]) -> bytes:
    text = json.dumps(encodable(document), ensure_ascii=False, separators=(",", ":"))
    return text.encode() + b"\n"
