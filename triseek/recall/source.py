"""What the recall index reads of a database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence

    from triseek.recall.page import Quoted
    from triseek.store.sqlite import Database

MessageRow: TypeAlias = tuple[int, int, str]
"""Id, Unix time in milliseconds, text."""
SessionRows: TypeAlias = tuple[int, int, Iterable[MessageRow]]
"""Id, start (Unix milliseconds, 0 if unknown), messages in order."""


class Source(Protocol):
    """The sessions of a database, and what has changed.

    Ids of sessions and of messages are never given twice. Each method gets a connection that sees
    one state of the database.
    """

    in_memory_max: int
    """The most messages in sessions that changed, for a search to index them by itself."""

    @property
    def database(self) -> Database:
        """The database."""

    def position(self, connection: sqlite3.Connection) -> int:
        """Return a number that is greater after each change of a session's messages; 0 if none."""

    def changed(self, connection: sqlite3.Connection, position: int) -> set[int]:
        """Return the sessions with changes after a position."""

    def size(self, connection: sqlite3.Connection, position: int) -> int:
        """Return how many messages, about, sessions with changes after a position have."""

    def count(self, connection: sqlite3.Connection) -> int:
        """Return the number of sessions."""

    def session_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all sessions."""

    def message_ids(self, connection: sqlite3.Connection) -> Iterable[int]:
        """Return the ids of all messages."""

    def read(
        self, connection: sqlite3.Connection, session_ids: Iterable[int]
    ) -> Iterator[SessionRows]:
        """Yield these sessions; one that is gone has no messages."""


class QuotedSource(Source, Protocol):
    """A source whose messages a search quotes."""

    def to_scan(
        self, connection: sqlite3.Connection, wanted: Collection[int] | None
    ) -> Iterator[SessionRows]:
        """Yield the wanted sessions (None for all) that a search without an index reads."""

    def last_message(self, connection: sqlite3.Connection) -> int:
        """Return the greatest id of a message; 0 if there is none."""

    def times(
        self, connection: sqlite3.Connection, message_ids: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        """Return the times of those messages that are there, by their id and their session's."""

    def first_message(
        self, connection: sqlite3.Connection, session_id: int
    ) -> tuple[int, int] | None:
        """Return id and time of a session's first message; None if there is none."""

    def merged(self, connection: sqlite3.Connection, quoted: Sequence[Quoted]) -> list[Quoted]:
        """Return the hits without copies of others, which those hits name."""

    def texts(self, connection: sqlite3.Connection, message_ids: Iterable[int]) -> dict[int, str]:
        """Return the texts of these messages."""
