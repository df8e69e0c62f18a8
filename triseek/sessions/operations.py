"""What can be done with sessions and snapshots: the tools and the daemon's verbs both call this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.model.session import checked_id
from triseek.sessions import exports
from triseek.sessions.hydration import BUDGET
from triseek.sessions.snapshot import PINS_MAX, diff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from triseek.model.session import Session, Status
    from triseek.model.snapshot import SnapshotManifest, Trigger
    from triseek.sessions.checkpoints import Checkpoints
    from triseek.sessions.hydration import Resumed
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.results import HandoffAnswer, SessionRecord, SnapshotAnswer
    from triseek.sessions.snapshot import Damaged, Snapshots, WantedPin
    from triseek.sessions.snapshot_files import Snapshot

GOAL_MAX = 20_000
"""Maximum characters of a goal as it is passed; what is kept of it is shorter."""
NAME_MAX = 500
"""Maximum characters of the name of an agent or a model."""


def record(session: Session) -> SessionRecord:
    """Return a session as answers have it."""
    return cast("SessionRecord", session.document())


class SnapshotOptions(NamedTuple):
    """What a snapshot is to record besides its session."""

    pins: Sequence[WantedPin] = ()
    harness: str = ""
    """The agent that requests it; "" for the last agent in the log."""
    model: str = ""


class TakenSnapshot(NamedTuple):
    """A snapshot that was made."""

    manifest: SnapshotManifest
    folder: Path

    def document(self) -> SnapshotAnswer:
        """Return the answer of `session_snapshot`."""
        return {
            "snapshot_id": self.manifest.snapshot_id,
            "snapshot_dir": str(self.folder),
            "manifest": self.manifest.document(),
        }


class HandedOff(NamedTuple):
    """A snapshot that was made to hand work off."""

    taken: TakenSnapshot
    briefing: Path
    session: Session
    """The session, resolved."""
    pack: str = ""
    """The pack that was exported; "" for none."""

    def document(self) -> HandoffAnswer:
        """Return the answer of `session_handoff`."""
        head = {**self.taken.document(), "briefing": str(self.briefing)}
        pack = {"pack": self.pack} if self.pack else {}
        return cast("HandoffAnswer", {**head, **pack, "session": record(self.session)})


class SessionOperations:
    """Operations on the sessions and snapshots of this machine. Thread-safe.

    `folder` is where the work is done, absolute; a session belongs to the repository around it.
    Each raises `InvalidRequest` if an argument is not valid or names nothing that exists, and
    `StateUnwritable` if something cannot be written.
    """

    def __init__(
        self,
        sessions: Sessions,
        snapshots: Snapshots,
        checkpoints: Checkpoints,
        resume: Callable[[str, str, Mapping[str, object], int, str], Resumed],
    ) -> None:
        """Work on what the daemon keeps.

        resume: `app.resume.Resuming.resume`, in which other wings take part.
        """
        self._sessions = sessions
        self._snapshots = snapshots
        self._checkpoints = checkpoints
        self._resume = resume

    def open(self, folder: str, goal: str = "", session_id: str = "") -> Session:
        """Open a new session, or continue one."""
        return self._sessions.open(project(folder), _limited("goal", goal, GOAL_MAX), session_id)

    def status(self, folder: str, session_id: str = "") -> tuple[Session, int]:
        """Return a session, by default the one open in the repository, and the size of its log."""
        session = self._named(folder, session_id)
        return session, len(self._sessions.log(session.session_id))

    def sessions(self, folder: str, status: Status | Literal[""] = "") -> Sequence[Session]:
        """Return a repository's sessions, last changed first."""
        return self._sessions.all(project(folder), status)

    def close(self, session_id: str, status: Status) -> Session:
        """Close a session."""
        return self._sessions.close(session_id, status)

    def snapshot(self, folder: str, session_id: str, capture: SnapshotOptions) -> TakenSnapshot:
        """Take a snapshot of a session."""
        return self._taken(self._named(folder, session_id), capture, "asked")

    def handoff(
        self, folder: str, session_id: str, capture: SnapshotOptions, output: str = ""
    ) -> HandedOff:
        """Take a snapshot with a briefing, and close the session as resolved.

        output: The name of a pack to write into the exports folder; "" for none.
        """
        session = self._named(folder, session_id)
        if output:
            exports.checked_name(output)  # before anything is written
        taken = self._taken(session, capture, "handoff")
        snapshot_id = taken.manifest.snapshot_id
        briefing = self._snapshots.write_briefing(snapshot_id)
        pack = exports.write(self._snapshots.folder(snapshot_id), output) if output else ""
        closed = self._sessions.close(session.session_id, "resolved")
        return HandedOff(taken, briefing, closed, pack)

    def snapshots(
        self, folder: str = "", session_id: str = ""
    ) -> tuple[Sequence[SnapshotManifest], Sequence[Damaged]]:
        """Return the snapshots, newest first, and those that cannot be read.

        Args:
            folder: In the repository whose snapshots are listed; "" for all.
            session_id: The session whose snapshots are listed; "" for all.
        """
        if session_id:
            checked_id(session_id)
        manifests = self._snapshots.all(project(folder) if folder else "", session_id)
        return manifests, self._snapshots.damaged()

    def content(self, snapshot_id: str) -> Snapshot:
        """Return the content of a snapshot."""
        return self._snapshots.get(snapshot_id)

    def difference(self, snapshot_a: str, snapshot_b: str) -> dict[str, list[str]]:
        """Return what only the second or only the first of two snapshots has."""
        return diff(self._snapshots.get(snapshot_a), self._snapshots.get(snapshot_b))

    def resume(
        self,
        folder: str,
        snapshot_id: str,
        who: Mapping[str, object],
        budget_tokens: int = BUDGET,
        payload_file: str = "",
    ) -> Resumed:
        """Resume a snapshot; the arguments are those of `app.resume.Resuming.resume`."""
        if budget_tokens < 1:
            raise InvalidRequest(f"budget_tokens has to be a number from 1, not {budget_tokens}")
        return self._resume(snapshot_id, folder, who, budget_tokens, payload_file)

    def _named(self, folder: str, session_id: str) -> Session:
        if session_id:
            return self._sessions.get(session_id)
        root = project(folder)
        session = self._sessions.current(root)
        if session is None:
            raise InvalidRequest(
                f"no session is open in {root}",
                next_step="Open one with `session_open`, or pass `session_id`.",
            )
        return session

    def _taken(self, session: Session, capture: SnapshotOptions, trigger: Trigger) -> TakenSnapshot:
        if len(capture.pins) > PINS_MAX:
            raise InvalidRequest(
                f"pinned_snippet_paths has to be a list of at most {PINS_MAX}",
                next_step="Pin fewer lines, or longer stretches of them.",
            )
        manifest, folder = self._checkpoints.take(
            session.session_id,
            pins=capture.pins,
            harness=_limited("source_harness", capture.harness, NAME_MAX) or None,
            model=_limited("source_model", capture.model, NAME_MAX) or None,
            trigger=trigger,
        )
        return TakenSnapshot(manifest, folder)


def _limited(name: str, text: str, most: int) -> str:
    if len(text) > most:
        raise InvalidRequest(f"{name} has to be a text of at most {most:,} characters")
    return text
