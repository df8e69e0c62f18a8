"""The history of this machine, as one object: its database and its recall index."""

from __future__ import annotations

import logging
import os
import threading
from typing import TYPE_CHECKING

from triseek import paths
from triseek.errors import TriseekError
from triseek.history import consent, forgetting
from triseek.history.database import NAME, open_database
from triseek.history.importing import run, sources
from triseek.history.recall.engine import Recall
from triseek.history.synthesis.synthesize import synthesize_pending
from triseek.model import budget
from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from triseek.agents.base import Agent, InstallPlace
    from triseek.history.forgetting import Forgotten, Selection
    from triseek.history.importing.run import ImportReport
    from triseek.model.index import Progress
    from triseek.store.sqlite import Database


logger = logging.getLogger(__name__)

WAIT_S = 30.0
"""Seconds that `forget` waits for an import that is running."""


class History:
    """The database and the recall index of one state folder. Thread-safe."""

    def __init__(self, folder: str = "") -> None:
        """Use the history in `folder`, or that of the state folder. Opens nothing yet."""
        self.folder = folder or paths.history()
        self._lock = threading.Lock()
        self._database: Database | None = None
        self._recall: Recall | None = None

    def exists(self) -> bool:
        """Return whether there is a history, without making one."""
        return os.path.exists(os.path.join(self.folder, NAME))  # noqa: PTH110, PTH118

    @property
    def database(self) -> Database:
        """The database, opened with its first use. Raises as `Database`."""
        with self._lock:
            if self._database is None:
                self._database = open_database(self.folder)
                self._finish_forgetting(self._database)
            return self._database

    @property
    def recall(self) -> Recall:
        """The recall index, opened with its first use. Raises as `database`."""
        database = self.database
        with self._lock:
            if self._recall is None:
                self._recall = self._recall_of(database)
            return self._recall

    def import_conversations(
        self,
        agents: Sequence[Agent],
        here: InstallPlace,
        *,
        since_ms: int = 0,
        progress: Progress = no_progress,
    ) -> ImportReport:
        """Import what is new of some agents, and bring everything derived from it up to date.

        Raises: as `importing.run.run`.
        """
        with self.database.write() as connection:
            consent.give(connection, [agent.name for agent in agents])
        return self._import(agents, here, since_ms, progress, lambda _path: True)

    def follow(
        self, here: InstallPlace, only: Callable[[str], bool] = lambda _path: True
    ) -> ImportReport:
        """Import what is new of the agents that the person has imported before."""
        self._finish_forgetting(self.database)
        with self.database.read() as connection:
            names = consent.agents(connection)
        agents = [agent for agent in sources.importable() if agent.name in names]
        return self._import(agents, here, 0, no_progress, only)

    def forget(self, selection: Selection) -> Forgotten:
        """Remove what is selected from every file of the history.

        Raises: as `forgetting.forget`; `Busy` also if an import does not end in `WAIT_S` seconds.
        """
        database, recall = self.database, self.recall
        with run.alone(self.folder, WAIT_S):
            forgotten = forgetting.forget(database, selection)
            recall.drop()
            forgetting.note_finished(database)
        recall.update()
        return forgotten

    def derive(self) -> None:
        """Derive the observations of sessions that have changed, and index what was said."""
        for _ in synthesize_pending(self.database):
            budget.check()
        self.recall.update()

    def close(self) -> None:
        """Close the files. Does nothing the second time."""
        with self._lock:
            if self._database is not None:
                self._database.close()

    def _recall_of(self, database: Database) -> Recall:
        return Recall(os.path.join(self.folder, "recall"), database)  # noqa: PTH118

    def _finish_forgetting(self, database: Database) -> None:
        """Remove from all files what was forgotten, if that was interrupted and nothing imports."""
        if not forgetting.is_unfinished(database):
            return
        try:
            with run.alone(self.folder):
                forgetting.scrub(database)
                self._recall_of(database).drop()
                forgetting.note_finished(database)
        except TriseekError as error:  # it is tried again with the next use
            logger.warning("forgetting not finished", extra={"reason": str(error)})

    def _import(
        self,
        agents: Sequence[Agent],
        here: InstallPlace,
        since_ms: int,
        progress: Progress,
        only: Callable[[str], bool],
    ) -> ImportReport:
        report = run.run(
            self.database, agents, here,
            folder=self.folder, since_ms=since_ms, progress=progress, only=only,
        )  # fmt: skip
        self.derive()
        return report
