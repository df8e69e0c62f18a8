"""Restores an archive of the history (history/archive) into the one that is there.

What is there already stays as it is. Every value is checked and redacted as if it came from an
agent, because anybody can write such a file.
"""

from __future__ import annotations

import gzip
import json
import time
import zlib
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from triseek.agents import jsonl
from triseek.agents.payloads.fields import Fields
from triseek.history.archive import FILES, FORMAT, ROWS, SESSION, VERSION
from triseek.history.importing.cleaning import TEXT_MAX, clean, clean_name
from triseek.history.importing.file_report import FileReport
from triseek.history.tombstones import Tombstones, import_key
from triseek.model import budget
from triseek.model.conversation import Unreadable
from triseek.recall.sub_tokens import observation_sub, sub_tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sized

    from triseek.history.archive import Kind
    from triseek.store.sqlite import Database

ROWS_MAX = 500
"""Lines that are written in one transaction."""
ID_MAX = 512
FILES_MAX = 10_000
"""Files of one row that are kept."""
_NUMBER_MAX = 1 << 62
_IDS = frozenset(("agent", "external_id", "parent_external_id", "parent", "row_hash"))
_ALLOWED = {
    "status": ("active", "completed", "failed"),
    "role": ("user", "assistant", "summary"),
    "origin": ("rule", "explicit", "import"),
}
"""Column → its values. Of another value, the row is skipped."""
_KEYS = {
    "message": "external_id", "event": "external_id", "observation": "row_hash",
    "summary": "row_hash",
}  # fmt: skip
"""Kind of line → the column that is unique in a session."""
_COUNTERS = {
    "message": "messages", "event": "events", "observation": "observations",
    "summary": "summaries",
}  # fmt: skip


def is_archive(path: str) -> bool:
    """Return whether a file is compressed and begins like a JSON line, which a pack does not."""
    try:
        with jsonl.opened(path) as raw, gzip.GzipFile(fileobj=raw) as file:
            return file.read(1) == b"{"
    except (OSError, EOFError, zlib.error):
        return False


def run(database: Database, path: str) -> FileReport:
    """Restore an archive. The caller holds the lock of imports.

    path: A regular file, and no link.

    Raises:
        OSError: It cannot be read, is damaged, cut short or no archive. What was read stays.
        TriseekError: As `Database` and `tombstones.import_key`.
    """
    report = FileReport(path)
    key = import_key(database)
    with database.read() as connection:
        writer = _Writer(Tombstones(connection, key), report)
    lines = _lines(path, report)
    while batch := list(islice(lines, ROWS_MAX)):
        budget.check()
        with database.write() as connection:
            for where, document in batch:
                reason = writer.write(connection, document)
                if reason:
                    report.skipped.append(f"{where}: {reason}")
    with database.write() as connection:
        writer.link(connection)
    return report


def _lines(path: str, report: FileReport) -> Iterator[tuple[str, Fields]]:
    """Yield the lines between the first and the last one. Raises OSError as `run`."""
    number, is_whole = 0, False
    with jsonl.opened(path) as raw, gzip.GzipFile(fileobj=raw) as file:
        try:
            _check_head(file.readline(1_000), path)
            for number, (start, _, line) in enumerate(jsonl.lines(cast("BinaryIO", file)), 1):
                where = f"line {number + 1}"
                document = jsonl.parsed_line(line, where) if line else jsonl.too_long(start)
                if isinstance(document, Unreadable):
                    report.skipped.append(f"{where}: {document.reason}")
                elif document is not None and document.text("kind") == "end":
                    is_whole = document.get("rows") == number - 1
                elif document is not None:
                    yield where, document
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise OSError(0, f"the archive is damaged after line {number + 1}: {error}") from error
    if not is_whole:
        raise OSError(0, f"the archive is cut short after line {number + 1}")


def _check_head(line: bytes, path: str) -> None:
    try:
        head = json.loads(line)
    except (ValueError, RecursionError):
        head = None
    if not isinstance(head, dict) or head.get("kind") != FORMAT:
        raise OSError(0, "not an archive of triseek's history", path)
    if head.get("version") != VERSION:
        raise OSError(0, f"written by another version: {head.get('version')!r:.20}", path)


class _Writer:
    """Writes the lines of one archive."""

    def __init__(self, tombstones: Tombstones, report: FileReport) -> None:
        self._tombstones = tombstones
        self._report = report
        self._session: tuple[int, str, str] | None = None
        """Number, agent and id of the session whose rows come."""
        self._is_forgotten = False
        self._numbers: dict[int, int] = {}
        """Observations: the archive's number → ours."""
        self._superseded: dict[int, int] = {}
        """Ours → the archive's number of what replaces it."""
        self._now_ms = time.time_ns() // 1_000_000

    def write(self, connection: sqlite3.Connection, line: Fields) -> str:
        """Write a line; return why it cannot be written, or ""."""
        kind = line.text("kind")
        if kind == "session":
            return self._write_session(connection, line)
        if kind not in ROWS:
            return "unknown kind"
        if self._is_forgotten:
            self._report.forgotten += 1
            return ""
        if self._session is None:
            return "it belongs to no session"
        values = _values(ROWS[kind], line)
        if isinstance(values, str):
            return values
        key = values[_KEYS[kind]]
        if not key:
            return f"{_KEYS[kind]} is missing"
        number, agent, external = self._session
        text = values["text"] if kind == "message" else ""
        is_copy = kind == "event" and self._tombstones.has_use(agent, key)
        if is_copy or self._tombstones.has_record(agent, external, key, text):
            self._report.forgotten += 1
            return ""
        files = _files(kind, line)
        row, is_new = self._insert(connection, kind, number, values, files)
        if kind == "observation":
            self._numbers[_number(line.get("id"))] = row
            if is_new and values["superseded_by"]:
                self._superseded[row] = values["superseded_by"]
        return ""

    def link(self, connection: sqlite3.Connection) -> None:
        """Write which observations replace others, after all of them are there."""
        connection.executemany(
            "UPDATE observations SET superseded_by = ? WHERE id = ?",
            [
                (self._numbers[newer], row)
                for row, newer in self._superseded.items()
                if newer in self._numbers and self._numbers[newer] != row
            ],
        )

    def _write_session(self, connection: sqlite3.Connection, line: Fields) -> str:
        self._session, self._is_forgotten = None, False
        values = _values(SESSION, line)
        if isinstance(values, str):
            return values
        agent, external = values["agent"], values["external_id"]
        if not agent or not external:
            return "a session without agent or id"
        parent = values["parent_external_id"] if values["is_sub_agent"] else ""
        if self._tombstones.cover(connection, agent, external, parent):
            self._is_forgotten = True
            self._report.forgotten += 1
            return ""
        query = "SELECT id FROM sessions WHERE agent = ? AND external_id = ?"
        row = connection.execute(query, (agent, external)).fetchone()
        number = (
            row[0]
            if row
            else self._add(connection, "sessions", {**values, "derived_at": self._now_ms})
        )
        self._session = number, agent, external
        self._count("sessions", is_new=row is None)
        return ""

    def _insert(
        self,
        connection: sqlite3.Connection,
        kind: str,
        session: int,
        values: dict[str, Any],
        files: list[tuple[str, ...]],
    ) -> tuple[int, bool]:
        """Insert a row unless it is there; return its number, and whether it is new."""
        table, key = ROWS[kind].table, _KEYS[kind]
        known = connection.execute(
            f"SELECT id FROM {table} WHERE session_id = ? AND {key} = ?",  # noqa: S608 - our names
            (session, values[key]),
        ).fetchone()
        self._count(_COUNTERS[kind], is_new=known is None)
        if known:
            return known[0], False
        columns = {**values, "session_id": session}
        columns.pop("superseded_by", None)
        if kind != "event":
            columns["sub"] = _sub(kind, values, [path for path, *_ in files])
        row = self._add(connection, table, columns)
        if kind in FILES:
            files_table, owner, names = FILES[kind]
            connection.executemany(
                f"INSERT OR IGNORE INTO {files_table} ({owner}, {', '.join(names)})"  # noqa: S608
                f" VALUES (?, {_marks(names)})",
                [(row, *file) for file in files],
            )
        if kind == "event":  # what is derived from events was left out of the archive
            connection.execute("UPDATE sessions SET derived_at = 0 WHERE id = ?", (session,))
        return row, True

    def _add(self, connection: sqlite3.Connection, table: str, columns: dict[str, Any]) -> int:
        cursor = connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({_marks(columns)})",  # noqa: S608
            tuple(columns.values()),
        )
        return int(cursor.lastrowid or 0)

    def _count(self, counter: str, *, is_new: bool) -> None:
        counter = counter if is_new else "known"
        setattr(self._report, counter, getattr(self._report, counter) + 1)


def _values(kind: Kind, line: Fields) -> dict[str, Any] | str:
    """Return the columns of a row, clean; or why it is none."""
    values: dict[str, Any] = {}
    for name in kind.texts:
        text = line.text(name)
        values[name] = clean_name(text[:ID_MAX]) if name in _IDS else clean(text, TEXT_MAX)
        if name in _ALLOWED and values[name] not in _ALLOWED[name]:
            return f"{name} is {values[name]!r:.40}"
    for name in kind.numbers:
        values[name] = _number(line.get(name))
    for name in kind.optional:
        value = line.get(name)
        values[name] = _number(value) if isinstance(value, int) else None
    if kind.table == "session_summaries" and values["origin"] == "explicit":
        return "a summary is not explicit"
    return values


def _files(kind: str, line: Fields) -> list[tuple[str, ...]]:
    """Return the files of a row, clean; those of an unknown role are left out."""
    items = line.get("files")
    if kind not in FILES or not isinstance(items, list):
        return []
    names = FILES[kind][2]
    rows = [
        tuple(clean(Fields(item).text(name), TEXT_MAX) for name in names)
        for item in items[:FILES_MAX]
        if isinstance(item, dict)
    ]
    return [row for row in rows if row[0] and row[1] in ("read", "modified")]


def _sub(kind: str, values: dict[str, Any], paths: list[str]) -> str:
    """Return the search column of a row."""
    if kind == "message":
        return sub_tokens((values["text"],)) if values["role"] == "user" else ""
    if kind == "observation":
        fields = [values[name] for name in ("title", "subtitle", "narrative", "text")]
        return observation_sub(fields, (values["facts"],), (values["concepts"],), paths)
    names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    return sub_tokens([values[name] for name in names])


def _number(value: object) -> int:
    return value if isinstance(value, int) and abs(value) < _NUMBER_MAX else 0


def _marks(values: Sized) -> str:
    return ", ".join("?" * len(values))
