"""What the history tools of one agent work on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from triseek.engine.roots import project
from triseek.history.reading.filters import Where

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Mapping, Sequence

    from triseek.engine.tool_host import ToolHost
    from triseek.store.sqlite import Database

    Freshness: TypeAlias = Callable[[sqlite3.Connection, Sequence[int]], Mapping[int, str]]


class RecallHit(Protocol):
    """A session or message that was found."""

    session_id: int
    """The row of `sessions`."""
    message_id: int
    """The row of `messages` that matches best."""
    score: float
    """From 0 to 1."""
    span: tuple[int, int]
    """The part of the message's text that matches, in characters."""


class RecallPage(Protocol):
    """A page of what was found, best first."""

    hits: Sequence[RecallHit]
    total: int


class Recall(Protocol):
    """Finds what was said."""

    def search(
        self,
        query: str,
        *,
        by: Literal["session", "message"],
        limit: int,
        offset: int = 0,
        sessions: Collection[int] | None = None,
        since_ms: int = 0,
    ) -> RecallPage:
        """Return sessions or messages; of `sessions` only, and not before `since_ms`."""
        ...


class HistoryService(Protocol):
    """What the daemon keeps for this wing."""

    database: Database
    recall: Recall


@dataclass(frozen=True, slots=True)
class Place:
    """The project in which an agent works."""

    name: str
    root: str

    def of_sessions(self) -> Where:
        """Return the conditions for rows `s` of `sessions` that belong to it."""
        where = Where()
        where.add("s.root = ? OR (s.root = '' AND s.project = ?)", self.root, self.name)
        return where


class HistoryContext:
    """What the history tools of one agent work on."""

    def __init__(self, host: ToolHost) -> None:
        """Work on the root of `host`."""
        self._host = host

    @property
    def service(self) -> HistoryService:
        """What the daemon keeps. Raises as `ToolHost.daemon_service`."""
        service: HistoryService = self._host.daemon_service("history")
        return service

    @property
    def database(self) -> Database:
        """The history database. Raises as `service`."""
        return self.service.database

    @property
    def recall(self) -> Recall:
        """The search of what was said. Raises as `service`."""
        return self.service.recall

    @property
    def place(self) -> Place:
        """The project of the agent's root."""
        root = project(self._host.root)
        return Place(PurePath(root).name or root, root)

    def freshness(
        self, connection: sqlite3.Connection, observations: Sequence[int]
    ) -> Mapping[int, str]:
        """Return of observations whether their evidence still holds, as far as that is known."""
        del connection, observations
        return {}


def now_ms() -> int:
    """Return the Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
