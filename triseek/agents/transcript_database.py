"""Reads SQLite databases of agents. They belong to programs that may be running."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import time as clock
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.agents import jsonl
from triseek.agents.payloads.fields import Fields, fields_of
from triseek.model.conversation import Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

BUSY_S = 5.0
"""Seconds to wait for the program that owns the database."""
PAGE = 256
"""Rows that are read in one step. Between two steps nothing is locked."""
VALUE_MAX = jsonl.LINE_MAX
"""Characters of a value; a longer one is not read."""
MARGIN_MS = 600_000
"""How long before its mark a row counts as new: programs take the time before they commit."""
DAY_MS = 86_400_000
"""The same for conversations whose time may be older than the newest of their rows."""
_WAL = 2
"""The version of the file format in which a database has a write-ahead log."""


class TranscriptDatabase:
    """A connection that only reads. Values have any type; invalid UTF-8 is replaced."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query: one that has a limit, or whose rows are small."""
        return self._connection.execute(query, values).fetchall()

    def pages(self, query: str, after: Any, *values: object) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - a key of any type
        """Yield the rows of a query, `PAGE` at a time.

        Args:
            query: Its first column is a key, its first parameter `after` and its last a limit:
                `SELECT k … WHERE k > ? … ORDER BY k LIMIT ?`.
            after: The key after which to begin.
            values: The other parameters.
        """
        while page := self.rows(query, after, *values, PAGE):
            yield from page
            after = page[-1][0]

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns; none if there is no such table."""
        rows = self.rows("SELECT name FROM pragma_table_info(?)", table)
        return frozenset(str(row[0]) for row in rows)


@contextlib.contextmanager
def reading(path: str, *, is_closed: bool = False) -> Iterator[TranscriptDatabase]:
    """Open a database for reading.

    is_closed: Whether no program has it open: then SQLite makes no files beside it.

    Raises:
        OSError: It cannot be read, is no regular file or no database; also from within the block,
            where the program holds it for longer than `BUSY_S`, or it is damaged.
    """
    jsonl.opened(path).close()  # SQLite would wait for a pipe, and follow a link
    try:
        uri = f"{Path(path).absolute().as_uri()}?{'immutable=1' if is_closed else 'mode=ro'}"
        connection = sqlite3.connect(uri, uri=True, timeout=BUSY_S, check_same_thread=False)
        with contextlib.closing(connection):
            connection.text_factory = _text
            for pragma in ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON"):
                connection.execute(f"PRAGMA {pragma}")
            yield TranscriptDatabase(connection)
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"SQLite: {error}", path) from error


def has_no_log(path: str) -> bool:
    """Return whether it is a database with a write-ahead log that no program has open.

    Such a log exists from the first program that opens the database to the last that closes it.
    Without it, SQLite would make one, and leave it there. Raises OSError if it cannot be read.
    """
    with jsonl.opened(path) as file:
        head = file.read(20)
    return head[18:] == bytes((_WAL, _WAL)) and not os.path.lexists(f"{path}-wal")


def bounded(column: str) -> str:
    """Return the SQL expression of a column whose value is NULL where it is too long."""
    return f"CASE WHEN length({column}) <= {VALUE_MAX} THEN {column} END"


def fields(value: object, where: str) -> Fields | Unreadable:
    """Return the object in a JSON text or blob, or why there is none."""
    if isinstance(value, str):
        value = value.encode("utf-8", "replace")
    if not isinstance(value, bytes):
        reason = f"missing, or longer than {VALUE_MAX >> 20} MiB" if value is None else "not JSON"
        return Unreadable(where=where, reason=reason)
    parsed = jsonl.parsed_line(value, where)
    return parsed if parsed is not None else Unreadable(where=where, reason="empty")


def nested(text: str) -> Fields:
    """Return the object in a JSON text that is a part of something else; empty if it has none."""
    return fields_of(jsonl.parsed(text.encode("utf-8", "replace"), ""))


def not_later(time: int) -> int:
    """Return a time in milliseconds, or now if it is in the future: what comes next is earlier."""
    return min(time, int(clock.time() * 1000))


def word(value: object) -> str:
    """Return a value as an id; "" if it is none."""
    return Fields({"id": value}).word("id")


def number(value: object) -> int:
    """Return a value that is a whole number from 0 on; 0 if it is something else."""
    return value if isinstance(value, int) and value > 0 else 0


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
