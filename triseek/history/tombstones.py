"""Remembers what was forgotten, without its text, so that a later import does not bring it back.

A tombstone is an HMAC of what identifies a record, with a key that is kept outside of the database.
A message has two: one of its ids, and one of its text, because agents copy messages into new
conversations (forks) under other ids. A use of a tool keeps its id in a copy.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import paths, private
from triseek.errors import InvalidRequest, StateUnwritable
from triseek.store import atomic

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.store.sqlite import Database

KEY_NAME = "history.key"
_KEY_BYTES = 32
_OF_KEY = "key:"
"""Begins a row that says with which key others were made: a keyed hash, too."""
TEXT_MIN = 24
"""Characters of a text that has a tombstone of its own; shorter ones are said again by chance."""
USE_MIN = 16
"""Characters of the id of a tool's use by which copies are known; shorter ones may be counters."""


class Tombstones:
    """The tombstones of one database. Not for several threads at once."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        """Load the tombstones of the database that `connection` belongs to."""
        self._key = key
        self._keys = {row[0] for row in connection.execute("SELECT key FROM tombstones")}

    def __len__(self) -> int:
        """Return the number of tombstones."""
        return len(self._keys)

    def has_session(self, agent: str, conversation: str) -> bool:
        """Return whether a whole conversation was forgotten."""
        return bool(self._keys) and self.of_session(agent, conversation) in self._keys

    def has_record(self, agent: str, conversation: str, record: str, text: str) -> bool:
        """Return whether a message or tool event was forgotten, by its ids or its text."""
        if not self._keys:
            return False
        by_id = self.of_record(agent, conversation, record)
        return by_id in self._keys or (len(text) >= TEXT_MIN and self.of_text(text) in self._keys)

    def has_use(self, agent: str, use: str) -> bool:
        """Return whether a tool event is a copy of one in a forgotten conversation, by its id."""
        return bool(self._keys) and len(use) >= USE_MIN and self.of_use(agent, use) in self._keys

    def has_title(self, agent: str, conversation: str) -> bool:
        """Return whether a conversation's title was forgotten, with the message it quotes."""
        return bool(self._keys) and self.of_title(agent, conversation) in self._keys

    def of_session(self, agent: str, conversation: str) -> str:
        """Return the tombstone of a conversation."""
        return self._of("session", agent, conversation)

    def of_record(self, agent: str, conversation: str, record: str) -> str:
        """Return the tombstone of a message or tool event."""
        return self._of("record", agent, conversation, record)

    def of_text(self, text: str) -> str:
        """Return the tombstone of a text."""
        return self._of("text", text)

    def of_use(self, agent: str, use: str) -> str:
        """Return the tombstone of a tool event's id, in whichever conversation."""
        return self._of("use", agent, use)

    def of_title(self, agent: str, conversation: str) -> str:
        """Return the tombstone of a conversation's title."""
        return self._of("title", agent, conversation)

    def of_observation(self, row_hash: str) -> str:
        """Return the tombstone of an observation: its hash says what it is derived from."""
        return self._of("observation", row_hash)

    def of_source(self, agent: str, path: str) -> str:
        """Return the keyed hash of a transcript's path."""
        return self._of("source", agent, path)

    def add(self, connection: sqlite3.Connection, keys: Iterable[str], at_ms: int) -> None:
        """Write tombstones, in the transaction of `connection`."""
        new = set(keys)
        connection.executemany(
            "INSERT OR IGNORE INTO tombstones (key, forgotten_at) VALUES (?, ?)",
            [(key, at_ms) for key in (*new, _of_key(self._key))],
        )
        self._keys |= new

    def cover(
        self, connection: sqlite3.Connection, agent: str, conversation: str, parent: str
    ) -> bool:
        """Return whether a conversation was forgotten, or its parent: then it is from now on.

        parent: The conversation whose sub-agent it is; "" if it is none.
        """
        if self.has_session(agent, conversation):
            return True
        if not parent or not self.has_session(agent, parent):
            return False
        key = self.of_session(agent, conversation)
        self.add(connection, [key], time.time_ns() // 1_000_000)
        return True

    def _of(self, *parts: str) -> str:
        return _keyed(self._key, *parts)


def forgotten_observations(connection: sqlite3.Connection, hashes: Iterable[str]) -> set[str]:
    """Return those of some row hashes whose observations were forgotten.

    Raises: as `load_key`.
    """
    if connection.execute("SELECT 1 FROM tombstones LIMIT 1").fetchone() is None:
        return set()
    key = load_key()
    return {
        row_hash
        for row_hash in hashes
        if connection.execute(
            "SELECT 1 FROM tombstones WHERE key = ?", (_keyed(key, "observation", row_hash),)
        ).fetchone()
    }


def import_key(database: Database) -> bytes:
    """Return the key with which an import recognises what was forgotten.

    Raises: as `load_key` and `Database`, and
        InvalidRequest: Tombstones were made with another key, which is lost: what was forgotten
            would come back.
    """
    key = load_key()
    with database.read() as connection:
        lost = connection.execute(
            "SELECT 1 FROM tombstones WHERE key GLOB ? AND key != ?", (f"{_OF_KEY}*", _of_key(key))
        ).fetchone()
    if lost is not None:
        raise InvalidRequest(
            "the key by which forgotten conversations are recognised is lost:"
            " an import would bring them back",
            next_step=f"Restore {Path(paths.keys(), KEY_NAME)} from a backup,"
            " or accept that: `triseek history import --lost-key …`.",
        )
    return key


def accept_lost_key(database: Database) -> None:
    """Accept that what was forgotten with another key may be imported again.

    Raises: as `load_key` and `Database`.
    """
    key = load_key()
    with database.write() as connection:
        connection.execute(
            "DELETE FROM tombstones WHERE key GLOB ? AND key != ?", (f"{_OF_KEY}*", _of_key(key))
        )


def load_key() -> bytes:
    """Return the key of the tombstones, made the first time.

    Raises:
        StateUnwritable: It cannot be read or written.
    """
    path = Path(paths.keys(), KEY_NAME)
    try:
        private.make(path.parent)
        if path.is_file() and len(key := path.read_bytes()) == _KEY_BYTES:
            return key
        key = secrets.token_bytes(_KEY_BYTES)
        aside = path.with_suffix(f".{secrets.token_hex(4)}.partial")
        with open(aside, "wb", opener=private.opener) as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        atomic.publish(aside, path)
    except OSError as error:
        raise StateUnwritable(f"{path}: {error.strerror}") from error
    return key


def _of_key(key: bytes) -> str:
    return _OF_KEY + _keyed(key, "key")


def _keyed(key: bytes, *parts: str) -> str:
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hmac.new(key, text, hashlib.sha256).hexdigest()
