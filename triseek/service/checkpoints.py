"""session_snapshot: how a session stands, with what only the application knows of its repository.

What an agent at work is about to lose is kept without being asked for: before it makes its context
shorter, a snapshot is made behind its hook.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import TriseekError
from triseek.files import git_state
from triseek.model.agents import told_name
from triseek.model.snapshot import GitState, inner_path
from triseek.service.roots import is_indexed
from triseek.sessions.snapshot import LOG_MAX, Circumstances
from triseek.sessions.snapshot_files import BRIEFING
from triseek.sessions.working_set import FRECENCY_MAX, gather

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from triseek.model.session import Entry, Session
    from triseek.model.snapshot import Manifest, Trigger
    from triseek.service.service import Service
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.snapshot import Snapshots, Wanted

logger = logging.getLogger(__name__)

AGAIN_S = 600.0
"""A session is not kept more often than that without being asked: some agents tell of a shorter
context with every request."""
KEPT_MAX = 10
"""Snapshots of a session that nobody asked for; older ones make room."""


class Position(NamedTuple):
    """Where the journal of a root is."""

    generation: int
    epoch: int


class Checkpoints:
    """Makes snapshots; shared by threads."""

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
        *,
        pins: Sequence[Wanted] = (),
        harness: str | None = None,
        model: str | None = None,
        trigger: Trigger = "asked",
    ) -> tuple[Manifest, Path]:
        """Write down how a session stands.

        Args:
            session_id: Which.
            pins: Lines to quote.
            harness: Who asks; else whoever the log's last entry is of.
            model: Theirs.
            trigger: Why.

        Returns:
            The manifest, and the folder.

        Raises:
            InvalidRequest: There is no such session, or lines cannot be quoted.
            StateUnwritable: It cannot be kept.
        """
        session = self._sessions.get(session_id)
        log = self._sessions.log(session_id)
        newest = log.newest(LOG_MAX)
        position = self.position(session.repo_root)
        about = Circumstances(
            self.git(session.repo_root),
            self.identity(session.repo_root),
            position.generation,
            position.epoch,
            told_name(harness) or _last_harness(newest.entries),
            model,
            trigger,
        )
        work = gather(newest.entries).working_set(self.frecency(session.repo_root))
        return self._snapshots.create(session, newest, work, pins, about)

    def before_compaction(self, session: Session, harness: str | None) -> None:
        """Make a snapshot behind whoever calls, unless there has just been one."""
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
        """Wait for a snapshot that is being made."""
        with self._lock:
            behind = self._behind
        if behind is not None:
            behind.join(within_s)

    def git(self, root: str) -> GitState:
        """The working tree beside its commit, as a snapshot has it."""
        dirty = git_state.dirty(root)
        if dirty is None:
            return GitState(commit=None, branch=None, dirty_files=[], hunk_summary={})
        return GitState(
            commit=dirty.commit or None,
            branch=dirty.branch or None,
            dirty_files=sorted(_told(path) for path in dirty.files),
            hunk_summary={_told(path): lines for path, lines in sorted(dirty.lines.items())},
        )

    def identity(self, root: str) -> str:
        """What a repository is recognised by; git is asked once, for its first commits stay."""
        now = time.monotonic()
        known, asked = self._identities.get(root, ("", -math.inf))
        if not known and now - asked > AGAIN_S:  # git may have no commit yet, or take too long
            known = git_state.identity(root)
            self._identities[root] = known, now
        return known

    def position(self, root: str) -> Position:
        """The journal's, of a root that is watched."""
        for engine in self._service.engines():
            if engine.root == root and engine.watched is not None:
                clock = engine.watched.journal.clock
                return Position(clock.generation, clock.epoch)
        return Position(0, 0)

    def frecency(self, root: str) -> list[tuple[str, float]]:
        """The files used most, and their scores."""
        if not is_indexed(root):
            return []
        scores = self._service.engine(root, exact=True).scores()
        ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
        named = ((_told(path), round(score, 6)) for path, score in ranked)
        return list(itertools.islice(filter(_is_inner, named), FRECENCY_MAX))

    def _keep(self, session: Session, harness: str | None) -> None:
        try:
            manifest, _ = self.take(session.session_id, harness=harness, trigger="compaction")
            logger.info("kept before compaction", extra={"snapshot": manifest.snapshot_id})
            for old in self._unasked(session.session_id)[KEPT_MAX:]:
                self._snapshots.remove(old.snapshot_id)
        except TriseekError as error:
            logger.warning("not kept before compaction", extra={"reason": str(error)})
        except Exception:
            logger.exception("not kept before compaction")

    def _unasked(self, session_id: str) -> list[Manifest]:
        found = self._snapshots.all(session_id=session_id)
        return [one for one in found if one.trigger == "compaction" and not self._briefed(one)]

    def _briefed(self, manifest: Manifest) -> bool:
        """Whether somebody has made something of it since."""
        return (self._snapshots.folder(manifest.snapshot_id) / BRIEFING).exists()


def _last_harness(entries: Sequence[Entry]) -> str | None:
    told = (entry.payload.get("harness") for entry in reversed(entries))
    return next((name for name in told if isinstance(name, str) and name), None)


def _told(path: bytes) -> str:
    """A path as JSON can say it."""
    return path.decode("utf-8", "replace")


def _is_inner(scored: tuple[str, float]) -> bool:
    try:
        inner_path(scored[0])
    except ValueError:
        return False
    return True
