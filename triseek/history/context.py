"""What the history tools of one agent work on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from triseek.engine.roots import project
from triseek.history.freshness import freshness_of
from triseek.history.reading.filters import Where

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence

    from triseek.history.service import History
    from triseek.recall.engine import Recall
    from triseek.store.sqlite import Database

    Freshness: TypeAlias = Callable[[sqlite3.Connection, Sequence[int]], Mapping[int, str]]


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


class Host(Protocol):
    """What the tools need of a `ToolHost`."""

    @property
    def root(self) -> str:
        """The folder of the agent, absolute."""

    def daemon_service(self, toolset: str) -> Any:  # noqa: ANN401 - each wing knows its own
        """Return what is kept for a toolset."""


class HistoryContext:
    """What the history tools of one agent work on."""

    def __init__(self, host: Host) -> None:
        """Work on the root of `host`."""
        self._host = host

    @property
    def service(self) -> History:
        """What the daemon keeps. Raises as `ToolHost.daemon_service`."""
        service: History = self._host.daemon_service("history")
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
        """Return of observations whether their evidence still holds: FRESH, MOVED, STALE or GONE.

        Those whose evidence names no file are left out.
        """
        states, place = {}, self.place
        for number in observations:
            row = connection.execute(
                "SELECT project, root, evidence, created_at_epoch FROM observations WHERE id = ?",
                (number,),
            ).fetchone()
            if row is None:
                continue
            project_, root, *rest = row
            # claude-mem knows a project by its name only
            root = root or (place.root if project_ == place.name else "")
            state = freshness_of(root, *rest)
            if state is not None:
                states[number] = state.value
        return states


def now_ms() -> int:
    """Return the Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
