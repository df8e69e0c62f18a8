"""The daemon's sessions: their logs, snapshots and what resuming them needs, made durable behind.

An entry is written to its log at once and is safe from a kill; from a loss of power once it was
synced here, a few seconds later.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from triseek import paths
from triseek.daemon.saving import Saving
from triseek.service.checkpoints import Checkpoints
from triseek.service.recording import Recorder
from triseek.service.resuming import Resuming
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from triseek.model.session import Session
    from triseek.service.service import Service
    from triseek.sessions.memo.memo import Memo

logger = logging.getLogger(__name__)

SYNC_S = 5.0
PRUNE_S = 30 * 86_400.0
"""Sessions that began by themselves are deleted when nobody has used them for so long. Snapshots
stay, and so do sessions that somebody asked for."""
FINISH_S = 0.8
"""How long the end waits for a snapshot that is being made."""


class SessionKeeping:
    """Owns the sessions of this machine, and saves them on a timer and at the end."""

    def __init__(
        self,
        service: Service,
        memo: Memo,
        *,
        auto_open: bool = True,
        auto_snapshot: bool = True,
    ) -> None:
        """Read what an earlier daemon wrote down.

        Args:
            service: The roots that are open.
            memo: Told of what is resumed.
            auto_open: Whether a prompt begins a session where none is open.
            auto_snapshot: Whether a snapshot is made before an agent makes its context shorter.
        """
        self.sessions = Sessions(paths.sessions())
        self.snapshots = Snapshots(paths.snapshots())
        self.checkpoints = Checkpoints(service, self.sessions, self.snapshots)
        keep = self.checkpoints.before_compaction if auto_snapshot else _keep_nothing
        self.recorder = Recorder(self.sessions, keep, by_itself=auto_open)
        self.resuming = Resuming(service, self.sessions, self.snapshots, self.checkpoints, memo)
        self._saving = Saving("sessions", self._save, SYNC_S)

    def start(self) -> None:
        """Begin."""
        self._saving.start()

    def busy(self) -> bool:
        """Never: what is not synced yet is synced at the end."""
        return False

    def close(self) -> None:
        """Save, and save no more."""
        self._saving.stop(FINISH_S)
        self.checkpoints.finish(FINISH_S)
        self._saving.now()

    def _save(self) -> None:
        self.sessions.save()
        removed = self.sessions.prune(PRUNE_S)
        if removed:
            logger.info("sessions pruned", extra={"sessions": removed})


def _keep_nothing(_session: Session, _harness: str | None) -> None:
    """Nothing is kept without being asked for."""
