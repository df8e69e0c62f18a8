"""session_snapshot: snapshots with the state of the repository, which only the application knows.

What an agent at work is about to lose is kept without a request: before it compacts its context,
its hook has a snapshot made in the background.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from typing import TYPE_CHECKING

from triseek.agents.registry import recorded_name
from triseek.engine.roots import is_indexed
from triseek.errors import TriseekError
from triseek.files.tree import git
from triseek.model.snapshot import GitState, inner_path
from triseek.sessions.own_blocks import without_own
from triseek.sessions.requests import SessionSnapshotRequest
from triseek.sessions.snapshot import LOG_MAX, Circumstances
from triseek.sessions.snapshot_files import BRIEFING
from triseek.sessions.working_set import FRECENCY_MAX, gather

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from triseek.engine.service import Service
    from triseek.model.session import LogEntry, Session
    from triseek.model.snapshot import SnapshotManifest, Trigger
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.snapshot import Snapshots

logger = logging.getLogger(__name__)

AGAIN_S = 600.0
"""Minimum time between snapshots of a session that nobody requested: some agents report a
compaction with every request."""
KEPT_MAX = 10
"""Snapshots of a session that nobody requested; older ones are removed."""


class Checkpoints:
    """Makes snapshots; threads may share it."""

    def __init__(self, service: Service, sessions: Sessions, snapshots: Snapshots) -> None:
        self._service = service
        self._sessions = sessions
        self._snapshots = snapshots
        self._identities: dict[str, tuple[str, float]] = {}
        self._kept_at: dict[str, float] = {}
        self._behind: threading.Thread | None = None
        self._lock = threading.Lock()

    def take(
        self,
        session_id: str,
        request: SessionSnapshotRequest,
        trigger: Trigger = "asked",
    ) -> tuple[SnapshotManifest, Path]:
        """Make a snapshot of a session.

        Args:
            session_id: The session, whatever the request names.
            request: The lines to quote, the model, and the agent that requests it: "" for the last
                agent in the log.
            trigger: Why the snapshot is made.

        Returns:
            The manifest, and the folder.

        Raises:
            InvalidRequest: There is no such session, or lines cannot be quoted.
            StateUnwritable: It cannot be written.
        """
        session = self._sessions.get(session_id)
        log = self._sessions.log(session_id)
        newest = log.newest(LOG_MAX)
        generation, epoch = self._position(session.repo_root)
        about = Circumstances(
            self.git(session.repo_root),
            self.identity(session.repo_root),
            generation,
            epoch,
            recorded_name(request.source_harness) or _last_harness(newest.entries),
            request.source_model or None,
            trigger,
        )
        work = gather(newest.entries).working_set(self.frecency(session.repo_root))
        return self._snapshots.create(session, newest, work, request.pinned_snippet_paths, about)

    def before_compaction(self, session: Session, harness: str | None) -> None:
        """Make a snapshot in the background, unless there has just been one."""
        now = time.monotonic()
        with self._lock:
            last = self._kept_at.get(session.session_id)
            is_busy = self._behind is not None and self._behind.is_alive()
            if is_busy or (last is not None and now - last < AGAIN_S):
                return
            self._kept_at[session.session_id] = now
            self._behind = threading.Thread(
                target=self._keep, args=(session, harness), name="triseek-snapshot", daemon=True
            )
            self._behind.start()

    def finish(self, within_s: float) -> None:
        """Wait for a snapshot that is being made, at most `within_s`."""
        with self._lock:
            behind = self._behind
        if behind is not None:
            behind.join(within_s)

    def git(self, root: str) -> GitState:
        """Return the state of the working tree relative to its commit, as a snapshot has it.

        A file in which only our own block is uncommitted does not count as uncommitted.
        """
        dirty = git.dirty(root)
        if dirty is None:
            return GitState(commit=None, branch=None, dirty_files=[], hunk_summary={})
        files = without_own(root, list(dirty.files))
        return GitState(
            commit=dirty.commit or None,
            branch=dirty.branch or None,
            dirty_files=sorted(map(_json_text, files)),
            hunk_summary={
                _json_text(path): dirty.lines[path] for path in sorted(files) if path in dirty.lines
            },
        )

    def identity(self, root: str) -> str:
        """Return the identity of a repository; git runs once, since first commits do not change."""
        now = time.monotonic()
        identity, requested_at = self._identities.get(root, ("", -math.inf))
        if not identity and now - requested_at > AGAIN_S:  # no commit yet, or git timed out
            identity = git.identity(root)
            self._identities[root] = identity, now
        return identity

    def _position(self, root: str) -> tuple[int, int]:
        """Return generation and epoch of the journal of a watched root; zeros for another root."""
        for engine in self._service.engines():
            if engine.root == root and engine.watched is not None:
                clock = engine.watched.journal.clock
                return clock.generation, clock.epoch
        return 0, 0

    def frecency(self, root: str) -> list[tuple[str, float]]:
        """Return the files used most, and their scores."""
        if not is_indexed(root):
            return []
        scores = self._service.engine(root, exact=True).scores()
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        named = ((_json_text(path), round(score, 6)) for path, score in ranked)
        return list(itertools.islice(filter(_is_inner, named), FRECENCY_MAX))

    def _keep(self, session: Session, harness: str | None) -> None:
        try:
            request = SessionSnapshotRequest(source_harness=harness or "")
            manifest, _ = self.take(session.session_id, request, "compaction")
            logger.info("kept before compaction", extra={"snapshot": manifest.snapshot_id})
            manifests = self._snapshots.all(session_id=session.session_id)
            unrequested = [each for each in manifests if self._is_unrequested(each)]
            for old in unrequested[KEPT_MAX:]:
                self._snapshots.remove(old.snapshot_id)
        except TriseekError as error:
            logger.warning("not kept before compaction", extra={"reason": str(error)})
        except Exception:
            logger.exception("not kept before compaction")

    def _is_unrequested(self, manifest: SnapshotManifest) -> bool:
        """Whether nobody requested it, nor has written a briefing for it since."""
        folder = self._snapshots.folder(manifest.snapshot_id)
        return manifest.trigger == "compaction" and not (folder / BRIEFING).exists()


def _last_harness(entries: Sequence[LogEntry]) -> str | None:
    names = (entry.payload.get("harness") for entry in reversed(entries))
    return next((name for name in names if isinstance(name, str) and name), None)


def _json_text(path: bytes) -> str:
    """Return a path as text that JSON can hold."""
    return path.decode("utf-8", "replace")


def _is_inner(scored: tuple[str, float]) -> bool:
    try:
        inner_path(scored[0])
    except ValueError:
        return False
    return True
