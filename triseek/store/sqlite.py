"""SQLite databases of the wings: connections, migrations, checks and backups.

Each wing has one SQLite file, owned by one process (the daemon), in write-ahead log mode: readers
see the last commit and do not wait for a writer. The schema's version is the file's
`user_version`. Migrations are numbered from 1, and all that are missing run in one transaction. A
database that has a schema is copied before it is migrated.

Errors of SQLite are raised as triseek's errors, with the file's name. Each wing decides what to do
with a damaged or full database; nothing here deletes its rows.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.errors import Busy, FormatTooNew, StateCorrupt, StateUnwritable
from triseek.model import budget
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

APPLICATION = 0x74726973
"""The `application_id` of triseek's databases: "tris"."""
BUSY_S = 5.0
"""Seconds to wait for another process's transaction."""
READERS_MAX = 4
"""The most read connections that are kept open."""
STEPS = 20_000
"""SQLite virtual machine instructions between two checks of a request's budget."""
BACKUP_PAGES = 4_096
"""Pages that a backup copies in one step; others may use the database between steps."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration of a schema. A released migration never changes."""

    number: int
    """From 1, without gaps."""
    apply: str | Callable[[sqlite3.Connection], None]
    """SQL statements, or a function that runs them. Neither may begin or end a transaction."""


class Database:
    """The database of one wing; thread-safe.

    Raises on creation, and from `read` and `write`:
        StateUnwritable: The file cannot be created or written, or the disk is full.
        StateCorrupt: The file is damaged, or is not a triseek database.
        FormatTooNew: A later version of triseek has migrated it.
        Busy: Another process holds it for longer than `busy_s`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        migrations: Sequence[Migration],
        *,
        busy_s: float = BUSY_S,
        trusts_schema: bool = False,
    ) -> None:
        """Open the file, creating it if need be, and run the missing migrations.

        Args:
            path: The database file, in an existing folder.
            migrations: All migrations, in order.
            busy_s: Seconds to wait for another process's transaction.
            trusts_schema: Whether triggers may use virtual tables, as those do that keep a
                full-text index in step.
        """
        if [one.number for one in migrations] != list(range(1, len(migrations) + 1)):
            raise ValueError("migrations are numbered from 1, without gaps")
        self.path = Path(path)
        self._busy_s = busy_s
        self._trusts_schema = trusts_schema
        self._writing = threading.Lock()
        self._pool_lock = threading.Lock()
        self._readers: list[sqlite3.Connection] = []
        self._closed = False
        with self._translated():
            self.path.touch(0o600)
            self._writer = self._connect()
            try:
                self._prepare(migrations)
            except BaseException:
                self._writer.close()
                raise

    @property
    def version(self) -> int:
        """The schema version: the number of the last migration."""
        with self.read() as connection:
            return _number(connection, "user_version")

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Run a block in one transaction: committed when it ends, rolled back if it raises."""
        with self._writing, self._translated():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection that sees one state of the database throughout the block.

        A query is interrupted when its request ends: see `model.budget`.
        """
        with self._translated():
            connection = self._reader()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.rollback()
                self._give_back(connection)

    def check(self) -> list[str]:
        """Return the errors that SQLite's integrity and foreign key checks find, a sentence each.

        Takes a second for each few hundred megabytes.
        """
        with self.read() as connection:
            lines = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchmany(20)
        faults = [] if lines == ["ok"] else lines
        faults += [f"row {row[1]} of {row[0]} refers to a row that is not there" for row in broken]
        return faults

    def rewrite(self) -> None:
        """Write the whole database anew, so that no file holds anything of deleted rows.

        Raises:
            Busy: Another process reads or writes it.
        """
        with self._writing, self._translated():
            self._close_readers()
            self._writer.execute("VACUUM")
            (is_busy, *_) = self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if is_busy:
            raise Busy(f"{self.path} is in use; deleted rows may still be in its log")

    def back_up(self, target: str | os.PathLike[str]) -> None:
        """Copy the database as it is now, atomically. Others may use it meanwhile."""
        aside = Path(f"{os.fspath(target)}.{secrets.token_hex(4)}.partial")
        with self._translated():
            aside.touch(0o600)
            try:
                with contextlib.closing(sqlite3.connect(aside)) as copy, self.read() as connection:
                    connection.backup(copy, pages=BACKUP_PAGES)
                atomic.publish(aside, target)
            finally:
                aside.unlink(missing_ok=True)

    def close(self) -> None:
        """Checkpoint the write-ahead log and close the file. Does nothing the second time."""
        with self._writing, self._pool_lock:
            if self._closed:
                return
            self._closed = True
            for connection in self._readers:
                connection.close()
            self._readers.clear()
            with contextlib.suppress(sqlite3.Error):  # the next open reads what is in the log
                self._writer.execute("PRAGMA optimize")
                self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._writer.close()

    def _close_readers(self) -> None:
        with self._pool_lock:
            for connection in self._readers:
                connection.close()
            self._readers.clear()

    def _prepare(self, migrations: Sequence[Migration]) -> None:
        """Check that it is a triseek database, and run the missing migrations."""
        version = self._checked_version(len(migrations))
        if version == len(migrations):
            return
        with self.write() as connection:
            # Another process may have migrated it meanwhile.
            version = self._checked_version(len(migrations))
            if 0 < version < len(migrations):
                self.back_up(self.path.with_suffix(f".before-{version + 1}.db"))
            for migration in migrations[version:]:
                _apply(connection, migration)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {len(migrations)}")

    def _checked_version(self, newest: int) -> int:
        version = _number(self._writer, "user_version")
        owner = _number(self._writer, "application_id")
        is_empty = not _number(self._writer, "schema_version")
        if owner != APPLICATION and not is_empty:
            raise StateCorrupt(f"{self.path} is no database of triseek's")
        if version > newest:
            raise FormatTooNew(
                f"{self.path} has schema {version}, and this triseek knows {newest}",
                next_step="Upgrade triseek.",
            )
        return version

    def _reader(self) -> sqlite3.Connection:
        with self._pool_lock:
            if self._closed:
                raise StateUnwritable(f"{self.path} is closed")
            if self._readers:
                return self._readers.pop()
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        connection.set_progress_handler(_has_no_time, STEPS)
        return connection

    def _give_back(self, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if not self._closed and len(self._readers) < READERS_MAX:
                self._readers.append(connection)
                return
        connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self._busy_s, isolation_level=None, check_same_thread=False
        )
        try:
            for pragma in (
                "journal_mode = WAL",
                "synchronous = NORMAL",
                "foreign_keys = ON",
                f"trusted_schema = {int(self._trusts_schema)}",
                "cell_size_check = ON",
            ):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Translate errors of SQLite and the system into triseek's errors."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._error(error) from error
        except OSError as error:
            raise StateUnwritable(f"{self.path}: {error.strerror}") from error

    def _error(self, error: sqlite3.DatabaseError) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_INTERRUPT:
            budget.check()  # raises the error that ended the request
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return Busy(f"{self.path} is in use by another process")
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StateCorrupt(f"{self.path} is damaged: {error}")
        if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):  # a quota is an I/O error, too
            return StateUnwritable(f"{self.path}: {error}", next_step=_MORE_SPACE)
        if code in _UNWRITABLE:
            return StateUnwritable(f"{self.path}: {error}")
        return error


_UNWRITABLE = frozenset((sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM))
_MORE_SPACE = "Free space on its disk and try again; what was written before is kept."


def _apply(connection: sqlite3.Connection, migration: Migration) -> None:
    if not isinstance(migration.apply, str):
        migration.apply(connection)
        return
    # `executescript` would commit first.
    statement = ""
    for line in migration.apply.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""
    if statement.strip():
        connection.execute(statement)


def _has_no_time() -> int:
    """Return 1 if the current request has ended, upon which SQLite interrupts the query; else 0."""
    try:
        budget.check()
    except Exception:  # noqa: BLE001 - `_error` raises it again
        return 1
    return 0


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])
