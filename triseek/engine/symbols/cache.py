"""Symbols of texts that were parsed before, by the hash of their content.

One SQLite file for all roots and processes of a user. It holds nothing that cannot be parsed
again: it is deleted if it is damaged, its oldest rows make room for new ones, and a process that
cannot use it parses.
"""

from __future__ import annotations

import contextlib
import json
import threading
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from triseek import paths, private
from triseek.engine.symbols.parser import Parsed
from triseek.errors import FormatTooNew, StateCorrupt, TriseekError
from triseek.model.symbol import Symbol
from triseek.store.sqlite import Database, Migration

if TYPE_CHECKING:
    import sqlite3

BYTES_MAX = 64 << 20
"""Bytes of packed symbols that are kept; a tenth more before the oldest are deleted."""
TEXT_BYTES_MIN = 1 << 11
"""Smaller texts are parsed faster than they are looked up."""
_BUSY_S = 0.2
_LEVEL = 1
_MIGRATIONS = (
    Migration(
        1,
        """
        CREATE TABLE parsed (key BLOB PRIMARY KEY, packed BLOB NOT NULL) STRICT;
        CREATE TABLE total (bytes INTEGER NOT NULL) STRICT;
        INSERT INTO total VALUES (0);
        """,
    ),
)


class SymbolCache:
    """The symbols of texts; thread-safe. No method raises because of the file."""

    def __init__(self, folder: str | None = None, *, bytes_max: int = BYTES_MAX) -> None:
        """Declare the cache; the file is opened when it is first used.

        Args:
            folder: Where the file is; that of the state folder if None.
            bytes_max: Bytes of packed symbols to keep.
        """
        self._path = Path(folder or paths.symbols()) / "symbols.db"
        self._bytes_max = bytes_max
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._is_usable = True

    def get(self, edition: str, text: bytes) -> Parsed | None:
        """Return what was kept for a text and a parser; None if nothing usable was."""
        database = self._opened() if len(text) >= TEXT_BYTES_MIN else None
        if database is None:
            return None
        try:
            with database.read() as connection:
                row = connection.execute(
                    "SELECT packed FROM parsed WHERE key = ?", (_key(edition, text),)
                ).fetchone()
        except TriseekError as error:
            self._failed(error)
            return None
        return None if row is None else _unpacked(row[0], text)

    def put(self, edition: str, text: bytes, parsed: Parsed) -> None:
        """Keep the symbols of a text, if there is room and the file can be written."""
        database = self._opened() if len(text) >= TEXT_BYTES_MIN else None
        if database is None:
            return
        packed = zlib.compress(json.dumps(parsed.symbols).encode(), _LEVEL)
        if len(packed) > self._bytes_max // 8:
            return
        try:
            with database.write() as connection:
                added = connection.execute(
                    "INSERT OR IGNORE INTO parsed VALUES (?, ?)", (_key(edition, text), packed)
                ).rowcount
                if added > 0:
                    connection.execute("UPDATE total SET bytes = bytes + ?", (len(packed),))
                    (total,) = connection.execute("SELECT bytes FROM total").fetchone()
                    if total > self._bytes_max * 11 // 10:
                        _make_room(connection, total - self._bytes_max)
        except TriseekError as error:
            self._failed(error)

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            if self._database is not None:
                self._database.close()
            self._database = None

    def _opened(self) -> Database | None:
        with self._lock:
            if self._database is None and self._is_usable:
                self._database = self._open()
                self._is_usable = self._database is not None
            return self._database

    def _open(self) -> Database | None:
        for _ in range(2):
            try:
                private.make(self._path.parent)
                return Database(self._path, _MIGRATIONS, busy_s=_BUSY_S)
            except (StateCorrupt, FormatTooNew):
                _delete(self._path)
            except (TriseekError, OSError):
                return None
        return None

    def _failed(self, error: TriseekError) -> None:
        """Delete a damaged file, so that the next call makes another."""
        if isinstance(error, StateCorrupt):
            self.close()
            _delete(self._path)


def _key(edition: str, text: bytes) -> bytes:
    return xxhash.xxh3_64_digest(edition.encode()) + xxhash.xxh3_128_digest(text)


def _make_room(connection: sqlite3.Connection, size: int) -> None:
    """Delete the oldest rows until `size` bytes are free."""
    freed = newest = 0
    rows = connection.execute("SELECT rowid, length(packed) FROM parsed ORDER BY rowid")
    for row in rows:
        newest, freed = row[0], freed + row[1]
        if freed >= size:
            break
    connection.execute("DELETE FROM parsed WHERE rowid <= ?", (newest,))
    connection.execute("UPDATE total SET bytes = bytes - ?", (freed,))


def _unpacked(packed: bytes, text: bytes) -> Parsed | None:
    """Return a kept result; None unless each name is where it says.

    So neither a damaged row nor another text with the same hash gives wrong symbols.
    """
    try:
        symbols = tuple(Symbol(*row) for row in json.loads(zlib.decompress(packed)))
        for symbol in symbols:
            if text[symbol.begin : symbol.end].decode(errors="replace") != symbol.name:
                return None
    except (ValueError, TypeError, zlib.error):
        return None
    return Parsed(symbols)


def _delete(path: Path) -> None:
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with contextlib.suppress(OSError):
            Path(name).unlink()
