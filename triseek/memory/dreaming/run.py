"""One run of the consolidation: how long it may take, what it changes, what it reports."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from triseek.memory.dreaming import log

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from triseek.memory.dreaming.log import Change
    from triseek.store.sqlite import Database

BUDGET_S = 30.0
"""Seconds of a run if nothing else was said."""
PAUSE_S = 0.005
"""Seconds between two transactions, so that others who write get their turn."""
CHANGES_MAX = 1_000
"""Changes that a report lists; further ones are counted, and are in the log."""


class Flag(Protocol):
    """A sign to stop."""

    def is_set(self) -> bool:
        """Return whether to stop."""


@dataclass(slots=True)
class Report:
    """What a run did, or what it would do."""

    run: int = 0
    """Its number in the log; 0 if it changed nothing or was a dry run."""
    is_dry: bool = False
    ended: str = "done"
    """"done", "budget" if its seconds were over, "cancelled"."""
    looked_at: int = 0
    """Drawers that were compared."""
    left: int = 0
    """Drawers that wait for the next run."""
    superseded: int = 0
    purged: int = 0
    """Drawers that were forgotten longer ago than they can be brought back."""
    closets: int = 0
    """Rooms whose keywords were renewed."""
    seconds: float = 0.0
    changes: list[Change] = field(default_factory=list)
    """The first `CHANGES_MAX`."""


class Run:
    """A run of the consolidation."""

    def __init__(
        self,
        database: Database,
        palaces: Sequence[int] | None,
        *,
        is_dry: bool,
        budget_s: float,
        cancelled: Flag | None,
    ) -> None:
        """Begin.

        Args:
            database: The memory database.
            palaces: The ids of the palaces; None for all.
            is_dry: Whether to change nothing, and only to report what would be changed.
            budget_s: Seconds after which to stop; what is left is done by the next run.
            cancelled: Set to stop; it is asked after each drawer.
        """
        self.database, self.is_dry = database, is_dry
        self.only = None if palaces is None else json.dumps(list(palaces))
        """The palaces for `json_each`; None for all."""
        self.report = Report(is_dry=is_dry)
        self._cancelled = cancelled
        self._began = time.monotonic()
        self._budget_s = budget_s

    def goes_on(self) -> bool:
        """Return whether to go on."""
        if self._cancelled is not None and self._cancelled.is_set():
            self.report.ended = "cancelled"
        elif time.monotonic() - self._began > self._budget_s:
            self.report.ended = "budget"
        return self.report.ended == "done"

    def note(self, connection: sqlite3.Connection | None, changes: Sequence[Change]) -> None:
        """Add changes to the report, and to the log with the transaction that makes them.

        connection: None in a dry run.
        """
        if connection is not None and changes:
            now_ms = time.time_ns() // 1_000_000
            self.report.run = self.report.run or log.begin(connection, now_ms)
            log.write(connection, self.report.run, changes, now_ms)
        room = CHANGES_MAX - len(self.report.changes)
        self.report.changes += changes[: max(room, 0)]
        self.report.superseded += sum(change.step == log.DUPLICATE for change in changes)
        self.report.purged += sum(change.step == log.PURGE for change in changes)

    def pause(self) -> None:
        """Wait for a moment between two transactions."""
        if not self.is_dry:
            time.sleep(PAUSE_S)

    def finish(self) -> Report:
        """Return the report."""
        with self.database.read() as connection:
            (self.report.left,) = connection.execute(
                "SELECT count(*) FROM dream_queue"
                if self.only is None
                else "SELECT count(*) FROM dream_queue q JOIN drawers d ON d.id = q.drawer_id"
                " WHERE d.palace_id IN (SELECT value FROM json_each(?))",
                () if self.only is None else (self.only,),
            ).fetchone()
        self.report.seconds = time.monotonic() - self._began
        return self.report
