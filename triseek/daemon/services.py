"""What the daemon keeps: the memo, the sessions, the history and the memory.

An entry of a session is written to its log at once and survives a kill of the daemon. It survives a
loss of power once it has been synced, a few seconds later.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import threading
from typing import TYPE_CHECKING

from triseek import paths
from triseek.agents.base import InstallPlace
from triseek.app.resume import Resuming
from triseek.errors import Busy, TriseekError
from triseek.history.service import History
from triseek.memo.memo import Memo
from triseek.memory.dreaming import idle
from triseek.memory.service import Memory
from triseek.model.project_memory import nothing
from triseek.sessions.checkpoints import Checkpoints
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.operations import SessionOperations
from triseek.sessions.recording import Recorder
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.service import Service
    from triseek.history.own_sessions import OwnSessions
    from triseek.model.project_memory import Remembering

logger = logging.getLogger(__name__)

SAVE_S = 5.0
"""Seconds between saves, and so the most that is lost if the daemon is killed. No hook waits for a
disk: a lost entry of the memo only means that a file is read again."""
PRUNE_S = 30 * 86_400.0
"""Seconds without use after which automatically opened sessions are deleted. Snapshots are kept,
and so are sessions that were opened on request."""
FOLLOW_S = 10.0
"""Seconds between two looks at what agents have written."""
FINISH_S = 0.8
"""Seconds that `close` waits for a save, and for a snapshot, that is running."""


class Autosave:
    """A background task that calls `save` periodically in its own thread."""

    def __init__(self, what: str, save: Callable[[], None], every_s: float) -> None:
        """Create the thread without starting it.

        Args:
            what: A name for log messages and the thread.
            save: The function to call. Its exceptions are logged and do not stop the calls.
            every_s: Seconds between calls.
        """
        self._what, self._save, self._every_s = what, save, every_s
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"triseek-{what}", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def busy(self) -> bool:
        """Return False: `close` saves what is not saved yet, so an idle exit need not wait."""
        return False

    def stop(self, within_s: float) -> None:
        """Stop the calls. within_s: the longest wait, in seconds, for a call that is running."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(within_s)

    def now(self) -> None:
        """Call `save` at once, in the calling thread."""
        try:
            self._save()
        except (OSError, TriseekError) as error:
            logger.warning("%s not saved", self._what, extra={"reason": str(error)})
        except Exception:
            logger.exception("%s not saved", self._what)

    def _run(self) -> None:
        while not self._ended.wait(self._every_s):
            self.now()


class MemoService(Autosave):
    """Owns the memo of all roots."""

    def __init__(self, *, keep: bool = True) -> None:
        """Load the saved memo; without `keep`, delete it and save nothing."""
        if not keep:
            shutil.rmtree(paths.memo(), ignore_errors=True)
        self.memo = Memo(paths.memo() if keep else None)
        super().__init__("memo", self.memo.save, SAVE_S)

    def close(self) -> None:
        """Save a last time and stop."""
        self.stop(FINISH_S)
        self.memo.close()


class SessionService(Autosave):
    """Owns the sessions of this machine, their logs and snapshots."""

    def __init__(
        self,
        service: Service,
        memo: Memo,
        *,
        auto_open: bool = True,
        auto_snapshot: bool = True,
        remembering: Remembering = nothing,
    ) -> None:
        """Load what an earlier daemon saved.

        Args:
            service: The service with the open roots.
            memo: The memo, which is notified of a resume.
            auto_open: Whether a prompt opens a session where none is open.
            auto_snapshot: Whether to take a snapshot before an agent compacts its context.
            remembering: Returns what is remembered of a project; a resume asks it.
        """
        super().__init__("sessions", self._save_and_prune, SAVE_S)
        self.sessions = Sessions(paths.sessions())
        self.snapshots = Snapshots(paths.snapshots())
        self.checkpoints = Checkpoints(service, self.sessions, self.snapshots)
        compacting = self.checkpoints.before_compaction if auto_snapshot else lambda *_: None
        self.recorder = Recorder(self.sessions, compacting, by_itself=auto_open)
        self.resuming = Resuming(
            service, self.sessions, self.snapshots, self.checkpoints, memo,
            remembering=remembering,
        )  # fmt: skip
        self.operations = SessionOperations(
            self.sessions,
            self.snapshots,
            self.checkpoints,
            self.resuming.resume,
            self.recorder.attribution,
        )

    def close(self) -> None:
        """Save a last time and stop."""
        self.stop(FINISH_S)
        self.checkpoints.finish(FINISH_S)
        self.now()

    def _save_and_prune(self) -> None:
        self.sessions.save()
        if removed := self.sessions.prune(PRUNE_S):
            logger.info("sessions pruned", extra={"sessions": removed})


class HistoryService(Autosave):
    """Owns the history, and imports what is new of agents whose conversations were imported.

    Memory that searches have taken is released within `FOLLOW_S`.
    """

    def __init__(self, *, follow: bool = True, own: OwnSessions | None = None) -> None:
        """Open nothing yet.

        Args:
            follow: Whether to import what is new by itself.
            own: What triseek's own sessions have recorded; None to leave it out.
        """
        super().__init__("history", self._follow, FOLLOW_S)
        self.history = History(own=own)
        self._follows = follow

    def close(self) -> None:
        """Stop, and close the database."""
        self.stop(FINISH_S)
        self.history.close()

    def _follow(self) -> None:
        self.history.rest()
        if not self._follows or not self.history.exists():
            return
        here = InstallPlace("", os.path.expanduser("~"), "/", dict(os.environ))  # noqa: PTH111
        with contextlib.suppress(Busy):  # a command imports
            self.history.follow(here)


class MemoryService(Autosave):
    """Owns the memory of this machine, and consolidates it while nobody uses it."""

    def __init__(self, *, dreams: bool = True) -> None:
        """Open nothing yet. dreams: Whether to consolidate it."""
        super().__init__("memory", self._dream, idle.LOOK_S)
        self.memory = Memory()
        self._dreams = dreams

    def close(self) -> None:
        """Stop, and close the database."""
        self.stop(FINISH_S)
        self.memory.close()

    def _dream(self) -> None:
        if self._dreams:
            idle.once(self.memory, self._ended)
        if self.memory.exists() and self.memory.idle_s() >= idle.IDLE_S:
            self.memory.prepare()
            self.memory.embed_missing(idle.BUDGET_S)
