"""Reads a database of claude-mem, from its version 4 to the current one.

Its schema has grown: columns were added, and the ids of sessions were renamed. So the columns are
looked up by all of their names, and what a version lacks is empty. The database may belong to a
program that is running: it is opened for reading only, and no file is made beside it unless there
is a write-ahead log already. Values may have any type.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from triseek.agents import jsonl, transcript_database
from triseek.agents.transcript_values import compact, time_ms
from triseek.history.importing.cleaning import TEXT_MAX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from triseek.agents.transcript_database import TranscriptDatabase

DEFAULT_PATH = (".claude-mem", "claude-mem.db")
"""Where claude-mem keeps it, below the home folder."""
TABLES = ("sdk_sessions", "observations", "session_summaries", "user_prompts")
ITEMS_MAX = 1_000
"""Entries of a list that are kept."""
_MAGIC = b"SQLite format 3\0"
_FIRST = -(1 << 63)
_EXTERNAL = ("content_session_id", "claude_session_id")
_MEMORY = ("memory_session_id", "sdk_session_id")


class ForeignSession(NamedTuple):
    """A row of `sdk_sessions`."""

    external_id: str
    """The id at its agent; "" if it has none."""
    memory_id: str
    """The id by which observations and summaries name it; "" if it has none."""
    agent: str
    """Such as `claude` or `codex`; "" in older versions."""
    project: str
    title: str
    prompt: str
    """The first prompt."""
    status: str
    prompts: int
    started_ms: int
    completed_ms: int


class ForeignObservation(NamedTuple):
    """A row of `observations`."""

    key: str
    """The same each time that the row is read, and in a copy of the database."""
    memory_id: str
    project: str
    type: str
    title: str
    subtitle: str
    narrative: str
    text: str
    facts: list[str]
    concepts: list[str]
    read: list[str]
    modified: list[str]
    prompt_number: int
    created_ms: int


class ForeignSummary(NamedTuple):
    """A row of `session_summaries`."""

    key: str
    memory_id: str
    project: str
    texts: dict[str, str]
    """request, investigated, learned, completed, next_steps, notes."""
    read: list[str]
    edited: list[str]
    prompt_number: int
    created_ms: int


class ForeignPrompt(NamedTuple):
    """A row of `user_prompts`."""

    key: str
    external_id: str
    prompt_number: int
    text: str
    created_ms: int


@dataclass(frozen=True, slots=True)
class ClaudeMem:
    """An open database."""

    _database: TranscriptDatabase
    _tables: frozenset[str]

    def count(self) -> dict[str, int]:
        """Return the number of rows of each table; 0 for those that a version lacks."""
        return {
            table: self._database.rows(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 - ours
            if table in self._tables
            else 0
            for table in TABLES
        }

    def sessions(self) -> Iterator[ForeignSession]:
        """Yield the sessions. This and the others raise sqlite3.Error for a damaged database."""
        for row in self._rows(
            "sdk_sessions", external=_EXTERNAL, memory=_MEMORY, agent=("platform_source",),
            project=("project",), title=("custom_title",), prompt=("user_prompt",),
            status=("status",), prompts=("prompt_counter",), started=("started_at_epoch",),
            started_at=("started_at",), completed=("completed_at_epoch",),
            completed_at=("completed_at",),
        ):  # fmt: skip
            yield ForeignSession(
                external_id=_text(row["external"]).strip(), memory_id=_text(row["memory"]).strip(),
                agent=_text(row["agent"]).strip(), project=_text(row["project"]),
                title=_text(row["title"]), prompt=_text(row["prompt"]),
                status=_text(row["status"]), prompts=_number(row["prompts"]),
                started_ms=_time(row["started"], row["started_at"]),
                completed_ms=_time(row["completed"], row["completed_at"]),
            )  # fmt: skip

    def observations(self) -> Iterator[ForeignObservation]:
        """Yield the observations."""
        for row in self._rows(
            "observations", memory=_MEMORY, project=("project",), type=("type",),
            title=("title",), subtitle=("subtitle",), narrative=("narrative",), text=("text",),
            facts=("facts",), concepts=("concepts",), read=("files_read",),
            modified=("files_modified",), prompt=("prompt_number",), device=("origin_device_id",),
            local=("origin_local_id",), created=("created_at_epoch",), created_at=("created_at",),
        ):  # fmt: skip
            created_ms = _time(row["created"], row["created_at"])
            yield ForeignObservation(
                key=_key("observation", row, created_ms), memory_id=_text(row["memory"]).strip(),
                project=_text(row["project"]), type=_text(row["type"]).strip(),
                title=_text(row["title"]), subtitle=_text(row["subtitle"]),
                narrative=_text(row["narrative"]), text=_text(row["text"]),
                facts=_list(row["facts"]), concepts=_list(row["concepts"]),
                read=_list(row["read"]), modified=_list(row["modified"]),
                prompt_number=_number(row["prompt"]), created_ms=created_ms,
            )  # fmt: skip

    def summaries(self) -> Iterator[ForeignSummary]:
        """Yield the summaries of sessions."""
        names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
        for row in self._rows(
            "session_summaries", memory=_MEMORY, project=("project",), read=("files_read",),
            edited=("files_edited",), prompt=("prompt_number",), device=("origin_device_id",),
            local=("origin_local_id",), created=("created_at_epoch",), created_at=("created_at",),
            **{name: (name,) for name in names},
        ):  # fmt: skip
            created_ms = _time(row["created"], row["created_at"])
            yield ForeignSummary(
                key=_key("summary", row, created_ms), memory_id=_text(row["memory"]).strip(),
                project=_text(row["project"]), texts={name: _text(row[name]) for name in names},
                read=_list(row["read"]), edited=_list(row["edited"]),
                prompt_number=_number(row["prompt"]), created_ms=created_ms,
            )  # fmt: skip

    def prompts(self) -> Iterator[ForeignPrompt]:
        """Yield the prompts of people."""
        for row in self._rows(
            "user_prompts", external=_EXTERNAL, number=("prompt_number",), text=("prompt_text",),
            device=("origin_device_id",), local=("origin_local_id",),
            created=("created_at_epoch",), created_at=("created_at",),
        ):  # fmt: skip
            created_ms = _time(row["created"], row["created_at"])
            yield ForeignPrompt(
                key=_key("prompt", row, created_ms), external_id=_text(row["external"]).strip(),
                prompt_number=_number(row["number"]), text=_text(row["text"]),
                created_ms=created_ms,
            )  # fmt: skip

    def _rows(self, table: str, **names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table; each value by its name here, from the first column it has."""
        if table not in self._tables:
            return
        columns = self._database.columns(table)
        selected = [
            _bounded(next((name for name in some if name in columns), ""))
            for some in names.values()
        ]
        query = (
            f"SELECT rowid, {', '.join(selected)} FROM {table} WHERE rowid > ?"  # noqa: S608 - ours
            " ORDER BY rowid LIMIT ?"
        )
        for number, *values in self._database.pages(query, _FIRST):
            yield {"rowid": number, **dict(zip(names, values, strict=True))}


def is_database(path: str) -> bool:
    """Return whether a file is an SQLite database; False if it cannot be read."""
    try:
        with jsonl.opened(path) as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


@contextlib.contextmanager
def reading(path: str) -> Iterator[ClaudeMem]:
    """Open a database of claude-mem.

    path: A regular file, and no link.

    Raises:
        OSError: It cannot be read, is damaged or is no such database, or it has changed meanwhile;
            also from within the block.
    """
    is_closed = transcript_database.has_no_log(path)
    before = _stamp(path)
    with transcript_database.reading(path, is_closed=is_closed) as database:
        rows = database.rows(  # views and virtual tables could run anything
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
        )
        tables = frozenset(str(row[0]) for row in rows)
        missing = {"sdk_sessions", "observations"} - tables
        if missing:
            reason = f"not a database of claude-mem: it has no table {min(missing)}"
            raise OSError(errno.EINVAL, reason, path)
        yield ClaudeMem(database, tables)
    if is_closed and _stamp(path) != before:
        raise OSError(errno.EBUSY, "claude-mem has changed it meanwhile; import it again", path)


def state(path: str) -> list[tuple[int, int, int]]:
    """Return what changes when a database or its write-ahead log does. Raises OSError."""
    return [_stamp(file) for file in (path, f"{path}-wal") if file == path or os.path.exists(file)]  # noqa: PTH110


def _stamp(path: str) -> tuple[int, int, int]:
    status = os.stat(path)  # noqa: PTH116
    return status.st_ino, status.st_size, status.st_mtime_ns


def _bounded(column: str) -> str:
    """Return the SQL expression of a column: text up to `TEXT_MAX` characters, numbers, or NULL."""
    if not column:
        return "NULL"
    return (
        f"CASE typeof({column}) WHEN 'text' THEN substr({column}, 1, {TEXT_MAX})"
        f" WHEN 'blob' THEN NULL ELSE {column} END"
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else str(value)


def _number(value: object) -> int:
    """Return a whole number from 0 to a billion; 0 for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    return value if isinstance(value, int) and 0 <= value <= 10**9 else 0


def _time(epoch: object, text: object) -> int:
    """Return a time in Unix milliseconds, by its number, else by its text; 0 if unknown."""
    return time_ms(epoch) or time_ms(text)


def _list(value: object) -> list[str]:
    """Return the entries of a JSON list; a text that is none is the only entry."""
    text = _text(value).strip()
    if not text:
        return []
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    if not isinstance(items, list):
        items = [items]
    texts = [item if isinstance(item, str) else compact(item) for item in items[:ITEMS_MAX]]
    return [text for text in texts if text and text != "null"]


def _key(kind: str, row: Mapping[str, Any], created_ms: int) -> str:
    """Return what identifies a row in all copies: its number on the device that made it."""
    device, local = _text(row["device"]), _text(row["local"])
    if not (device and local):
        device, local = "", _text(row["rowid"])
    return f"{kind}:{device}:{local}:{created_ms}"
