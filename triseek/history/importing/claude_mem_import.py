"""Imports a database of claude-mem: its sessions, observations, summaries and prompts.

Each row becomes one of ours. A session is that of the agent which it belongs to, so what
claude-mem says of a conversation stands beside the conversation itself if that is imported, too.
Rows are recognized by where they come from: a second import adds nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from triseek.history.importing import claude_mem
from triseek.history.importing.claude_mem_writing import Writer
from triseek.history.importing.file_report import FileReport
from triseek.history.importing.writing import FOREIGN_PREFIX
from triseek.history.tombstones import Tombstones, import_key
from triseek.model import budget
from triseek.model.index import no_progress

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable

    from triseek.history.importing.claude_mem import ClaudeMem
    from triseek.model.index import Progress
    from triseek.store.sqlite import Database

ROWS_MAX = 500
"""Rows that are written in one transaction."""


def plan(path: str) -> FileReport:
    """Return how many rows a database has. Raises OSError as `claude_mem.reading`."""
    with claude_mem.reading(path) as source:
        counts = source.count()
    return FileReport(
        path, sessions=counts["sdk_sessions"], messages=counts["user_prompts"],
        observations=counts["observations"], summaries=counts["session_summaries"],
    )  # fmt: skip


def run(database: Database, path: str, *, progress: Progress = no_progress) -> FileReport:
    """Import a database of claude-mem. The caller holds the lock of imports.

    Args:
        database: The history.
        path: A regular file, and no link.
        progress: Called with the stage `import` and rows.

    Raises:
        OSError: It cannot be read, or is none. What was imported before stays.
        TriseekError: As `Database` and `tombstones.import_key`.
    """
    key = import_key(database)
    report = FileReport(path)
    with claude_mem.reading(path) as source:
        stamp = json.dumps(claude_mem.state(path))
        total = sum(source.count().values())
        with database.read() as connection:
            tombstones = Tombstones(connection, key)
        writer = Writer(tombstones, report)
        _write_all(database, writer, source, lambda done: progress("import", done, total))
    with database.write() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO facts_of_database (name, value) VALUES (?, ?)",
            (f"{FOREIGN_PREFIX}{path}", stamp),
        )
    return report


def _write_all(
    database: Database, writer: Writer, source: ClaudeMem, advance: Callable[[int], None]
) -> None:
    """Write all rows, sessions first, because the others belong to them."""
    done = 0
    steps: tuple[tuple[Iterable[object], Callable[..., None]], ...] = (
        (source.sessions(), writer.session),
        (source.prompts(), writer.prompt),
        (source.observations(), writer.observation),
        (source.summaries(), writer.summary),
    )
    for rows, write in steps:
        batch: list[object] = []
        for row in rows:
            batch.append(row)
            if len(batch) == ROWS_MAX:
                done += _write(database, batch, write)
                advance(done)
        done += _write(database, batch, write)
        advance(done)
    with database.write() as connection:
        writer.first_prompts(connection)


def is_imported(connection: sqlite3.Connection, path: str) -> bool:
    """Return whether a database is as it was when it was imported. Raises OSError."""
    row = connection.execute(
        "SELECT value FROM facts_of_database WHERE name = ?", (f"{FOREIGN_PREFIX}{path}",)
    ).fetchone()
    return row is not None and row[0] == json.dumps(claude_mem.state(path))


def _write(database: Database, batch: list[object], write: Callable[..., None]) -> int:
    """Write rows in one transaction, empty the list and return how many they were."""
    budget.check()
    count = len(batch)
    with database.write() as connection:
        for row in batch:
            write(connection, row)
    batch.clear()
    return count
