"""The history of this machine, as one object: its database and its recall index.

What a search does not need is imported where it is used: without a daemon, a command waits for it.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek import paths
from triseek.errors import InvalidRequest, TriseekError
from triseek.history import consent, forgetting
from triseek.history.database import NAME, open_database
from triseek.history.importing import run, sources
from triseek.history.own_sessions import Removed
from triseek.model import budget
from triseek.model.index import no_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.agents.base import Agent, InstallPlace
    from triseek.history.forgetting import Forgotten
    from triseek.history.importing.file_report import FileReport
    from triseek.history.importing.run import ImportReport
    from triseek.history.own_sessions import OwnSessions
    from triseek.history.selecting import Selection
    from triseek.model.index import Progress
    from triseek.recall.engine import Recall
    from triseek.store.sqlite import Database

logger = logging.getLogger(__name__)

WAIT_S = 30.0
"""Seconds that `forget` waits for an import that is running."""
IMPORT_WAIT_S = 5.0
"""Seconds that an import on request waits for one that is running, as the daemon's short ones."""


class History:
    """The database and the recall index of one state folder. Thread-safe."""

    def __init__(self, folder: str = "", own: OwnSessions | None = None) -> None:
        """Open nothing yet.

        Args:
            folder: Where the history lies; "" for the state folder's.
            own: What triseek's own sessions have recorded; None to leave it out.
        """
        self.folder = folder or paths.history()
        self._own = own
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

        What triseek's own sessions have recorded is imported with them.

        Raises: as `importing.run.run`.
        """
        with self.database.write() as connection:
            consent.give(connection, [agent.name for agent in agents], since_ms)
        every = self.with_own(agents)
        since = {agent.name: since_ms for agent in every}
        return self._import(every, here, since, progress, wait_s=IMPORT_WAIT_S)

    def with_own(self, agents: Sequence[Agent]) -> list[Agent]:
        """Return some agents and, as the last one, the source of triseek's own sessions."""
        return [*agents, *([] if self._own is None else [self._own.agent()])]

    def import_pack(self, path: str, here: InstallPlace) -> ImportReport:
        """Import the conversations of a pack that no better source has recorded.

        Raises: as `OwnSessions.pack` and `importing.run.run`.
        """
        if self._own is None:
            raise InvalidRequest("packs cannot be read here")
        source = self._own.pack(path)
        return self._import([source], here, {}, no_progress, is_all=False, wait_s=IMPORT_WAIT_S)

    def import_claude_mem(self, path: str, progress: Progress = no_progress) -> FileReport:
        """Import a database of claude-mem, and index what is new.

        Raises: as `claude_mem_import.run`; Busy if another import runs.
        """
        from triseek.history.importing import claude_mem_import

        database = self.database
        with run.alone(self.folder, IMPORT_WAIT_S):
            report = claude_mem_import.run(database, path, progress=progress)
        self.derive()
        return report

    def import_archive(self, path: str) -> FileReport:
        """Restore an archive, and index what is new.

        Raises: as `archive_import.run`; Busy if another import runs.
        """
        from triseek.history.importing import archive_import

        database = self.database
        with run.alone(self.folder, IMPORT_WAIT_S):
            report = archive_import.run(database, path)
        self.derive()
        return report

    def follow(self, here: InstallPlace) -> ImportReport:
        """Import what is new of the agents that the person has imported before."""
        with self.database.read() as connection:
            since = consent.agents(connection)
        agents = [agent for agent in sources.importable() if agent.name in since]
        if since:
            agents = self.with_own(agents)
        return self._import(agents, here, since, no_progress)

    def forget(self, selection: Selection) -> Forgotten:
        """Remove what is selected from every file of the history and of triseek's own sessions.

        Raises: as `forgetting.forget` and `OwnSessions.forget`; Busy also if an import does not end
            within `WAIT_S` seconds.
        """
        database, recall = self.database, self.recall
        with run.alone(self.folder, WAIT_S):
            removed = self._forget_own(selection, dry_run=False)
            forgotten = forgetting.forget(database, selection)
            recall.purge()
            forgetting.note_finished(database)
        recall.update()
        return _with_own(forgotten, removed)

    def count_forgotten(self, selection: Selection) -> Forgotten:
        """Return what `forget` would remove, and remove nothing. Raises as that."""
        forgotten = forgetting.count(self.database, selection)
        return _with_own(forgotten, self._forget_own(selection, dry_run=True))

    def derive(self) -> None:
        """Derive the observations of sessions that have changed, and index what was said."""
        from triseek.history.synthesis.synthesize import synthesize_pending

        for _ in synthesize_pending(self.database):
            budget.check()
        self.recall.update()

    def session_context(self, root: str, budget_tokens: int) -> str:
        """Return what an agent that starts in a project is shown; "" if nothing is kept of it.

        Raises: as `database`, and as `session_context.session_context`.
        """
        from triseek.history import session_context

        with self.database.read() as connection:
            now_ms = time.time_ns() // 1_000_000
            return session_context.session_context(connection, root, budget_tokens, now_ms)

    def rest(self) -> None:
        """Release the memory that searches have left behind, of a history that is open."""
        with self._lock:
            recall = self._recall
        if recall is not None:
            recall.release()

    def close(self) -> None:
        """Close the files. Does nothing the second time."""
        with self._lock:
            if self._database is not None:
                self._database.close()

    def _recall_of(self, database: Database) -> Recall:
        from triseek.history.message_source import MessageSource
        from triseek.recall.engine import Recall

        return Recall(os.path.join(self.folder, "recall"), MessageSource(database))  # noqa: PTH118

    def _finish_forgetting(self, database: Database) -> None:
        """Remove from all files what was forgotten, if that was interrupted and nothing imports."""
        if not forgetting.is_unfinished(database):
            return
        from triseek.history.synthesis.synthesize import synthesize_pending

        try:
            with run.alone(self.folder):
                for _ in synthesize_pending(database):  # what quotes a forgotten message
                    budget.check()
                forgetting.scrub(database)
                self._recall_of(database).purge()
                forgetting.note_finished(database)
        except TriseekError as error:  # it is tried again with the next use
            logger.warning("forgetting not finished", extra={"reason": str(error)})

    def _import(
        self,
        agents: Sequence[Agent],
        here: InstallPlace,
        since: Mapping[str, int],
        progress: Progress,
        *,
        is_all: bool = True,
        wait_s: float = 0.0,
    ) -> ImportReport:
        self._finish_forgetting(self.database)
        report = run.run(
            self.database, agents, here, folder=self.folder, since=since,
            progress=progress, is_all=is_all, wait_s=wait_s,
        )  # fmt: skip
        self.derive()
        return report

    def _forget_own(self, selection: Selection, *, dry_run: bool) -> Removed:
        """Forget whole conversations in triseek's own sessions, before their names are gone."""
        if self._own is None or not selection.sessions:
            return Removed()
        with self.database.read() as connection:
            names = forgetting.names(connection, selection)
        return self._own.forget(names, dry_run=dry_run)


def _with_own(forgotten: Forgotten, removed: Removed) -> Forgotten:
    return replace(forgotten, logs=removed.logs, snapshots=removed.snapshots, packs=removed.packs)
