"""What can be done with sessions and snapshots: the tools and the daemon's verbs both call this.

Each operation returns its answer in full; a tool cuts it with `session_pages`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from triseek.agents.registry import recorded_name
from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.model.origin import Origin
from triseek.model.session import OF_CONVERSATIONS, checked_id
from triseek.sessions import files, pack
from triseek.sessions.hydration import BUDGET
from triseek.sessions.snapshot import PINS_MAX, diff, list_answer, pins_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from triseek.model.session import Session, Status
    from triseek.model.snapshot import Trigger
    from triseek.sessions.attribution import Attribution
    from triseek.sessions.checkpoints import Checkpoints
    from triseek.sessions.hydration import Resumed
    from triseek.sessions.lifecycle import Sessions
    from triseek.sessions.requests import SessionSnapshotRequest
    from triseek.sessions.results import (
        HandoffAnswer,
        ResumeAnswer,
        SessionAnswer,
        SessionListAnswer,
        SessionRecord,
        SessionStatusAnswer,
        SnapshotAnswer,
        SnapshotDiffAnswer,
        SnapshotGetAnswer,
        SnapshotListAnswer,
    )
    from triseek.sessions.snapshot import Snapshots

GOAL_MAX = 20_000
"""Maximum characters of a goal as it is passed; what is kept of it is shorter."""
NOBODY = Origin()
NAME_MAX = 500
"""Maximum characters of the name of an agent or a model."""


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
        resume: Callable[..., Resumed],
        attribution: Attribution,
    ) -> None:
        """Work on what the daemon keeps.

        resume: `app.resume.Resuming.resume`, in which other wings take part.
        attribution: Knows whose conversation a call comes from.
        """
        self._attribution = attribution
        self._sessions = sessions
        self._snapshots = snapshots
        self._checkpoints = checkpoints
        self._resume = resume

    def open(
        self, folder: str, goal: str = "", session_id: str = "", origin: Origin = NOBODY
    ) -> SessionAnswer:
        """Open a new session, or continue one; it is the one of its origin's conversation."""
        _check_length("goal", goal, GOAL_MAX)
        root = project(folder)
        conversation = self._attribution.conversation(root, origin)
        before = self._sessions.of_conversation(root, conversation)
        awaits = recorded_name(origin.harness) or ""
        session = self._sessions.open(
            root, goal, session_id, conversation=conversation, awaits=awaits
        )
        self._attribution.opened(origin, session, conversation, before)
        return {"session": _record(session)}

    def status(
        self, folder: str, session_id: str = "", origin: Origin = NOBODY, *, harness: str = ""
    ) -> SessionStatusAnswer:
        """Return a session, and the size of its log.

        Args:
            folder: See the class.
            session_id: The session; "" for another one.
            origin: Who asks; without an id it is the session of their conversation, if it has one,
                else the current one.
            harness: The agent whose latest session is meant; "" for any.
        """
        session = self._named(folder, session_id, origin, harness)
        size = len(self._sessions.log(session.session_id))
        return {"session": _record(session), "action_log_size": size}

    def sessions(self, folder: str, status: Status | Literal[""] = "") -> SessionListAnswer:
        """Return a repository's sessions, last changed first."""
        sessions = self._sessions.all(project(folder), status)
        return {"sessions": [_record(session) for session in sessions]}

    def close(self, session_id: str, status: Status) -> SessionAnswer:
        """Close a session."""
        return {"session": _record(self._sessions.close(session_id, status))}

    def snapshot(
        self, folder: str, request: SessionSnapshotRequest, origin: Origin = NOBODY
    ) -> SnapshotAnswer:
        """Take a snapshot of a session, by default as `status` does."""
        session = self._named(folder, request.session_id, origin)
        return self._take(session, request, "asked")[0]

    def handoff(
        self,
        folder: str,
        request: SessionSnapshotRequest,
        output: str = "",
        origin: Origin = NOBODY,
    ) -> HandoffAnswer:
        """Take a snapshot with a briefing, and close the session as resolved.

        output: The name of a pack to write into the exports folder; "" for none.
        """
        session = self._named(folder, request.session_id, origin)
        if output:
            pack.checked_name(output)  # before anything is written
        taken, snapshot_folder = self._take(session, request, "handoff")
        briefing = self._snapshots.write_briefing(taken["snapshot_id"])
        exported = pack.export_named(snapshot_folder, output) if output else ""
        note = {"snapshot_id": taken["snapshot_id"], "harness": recorded_name(origin.harness)}
        self._sessions.record(session.session_id, files.HANDED_OFF, note)
        closed = self._sessions.close(session.session_id, "resolved")
        answer: HandoffAnswer = {
            **taken, "briefing": str(briefing), "session": _record(closed)
        }  # fmt: skip
        if exported:
            answer["pack"] = exported
        return answer

    def snapshots(self, folder: str = "", session_id: str = "") -> SnapshotListAnswer:
        """Return the snapshots, newest first, and those that cannot be read.

        Args:
            folder: In the repository whose snapshots are listed; "" for all.
            session_id: The session whose snapshots are listed; "" for all.
        """
        if session_id:
            checked_id(session_id)
        manifests = self._snapshots.all(project(folder) if folder else "", session_id)
        return list_answer(manifests, self._snapshots.damaged())

    def content(self, snapshot_id: str) -> SnapshotGetAnswer:
        """Return the content of a snapshot."""
        return {"snapshot": self._snapshots.get(snapshot_id).document()}

    def difference(self, snapshot_a: str, snapshot_b: str) -> SnapshotDiffAnswer:
        """Return what only the second or only the first of two snapshots has."""
        return {"diff": diff(self._snapshots.get(snapshot_a), self._snapshots.get(snapshot_b))}

    def resume(
        self,
        folder: str,
        snapshot_id: str,
        who: Mapping[str, object],
        budget_tokens: int = BUDGET,
        payload_file: str = "",
        origin: Origin = NOBODY,
        *,
        memory: bool = False,
    ) -> ResumeAnswer:
        """Resume a snapshot; the arguments are those of `app.resume.Resuming.resume`.

        origin: Whose conversation goes on with it.
        """
        if budget_tokens < 1:
            raise InvalidRequest(f"budget_tokens has to be a number from 1, not {budget_tokens}")
        resumed = self._resume(snapshot_id, folder, who, budget_tokens, payload_file, memory=memory)
        root = project(folder)
        conversation = self._attribution.conversation(root, origin)
        if conversation:
            before = self._sessions.of_conversation(root, conversation)
            session = self._sessions.join(resumed.session_id, conversation)
            self._attribution.opened(origin, session, conversation, before)
        return resumed.document()

    def _named(self, folder: str, session_id: str, origin: Origin, harness: str = "") -> Session:
        if session_id:
            return self._sessions.get(session_id)
        root = project(folder)
        agent = recorded_name(harness)
        if agent:
            latest = self._sessions.latest_of(root, agent)
            if latest is None:
                raise InvalidRequest(
                    f"nothing of {agent} is recorded in {root}",
                    next_step="See `triseek session list`.",
                    tool_step="session_list has the sessions.",
                )
            return latest
        session = self._attribution.session(root, origin) or self._sessions.current(root)
        if session is None:
            raise InvalidRequest(
                f"no session is open in {root}",
                next_step="Open one with `triseek session open GOAL`, or name one: "
                "`triseek session list`.",
                tool_step="Open one with `session_open`, or pass `session_id`.",
            )
        return session

    def _take(
        self, session: Session, request: SessionSnapshotRequest, trigger: Trigger
    ) -> tuple[SnapshotAnswer, Path]:
        if len(request.pinned_snippet_paths) > PINS_MAX:
            raise pins_refused()
        _check_length("source_harness", request.source_harness, NAME_MAX)
        _check_length("source_model", request.source_model, NAME_MAX)
        manifest, folder = self._checkpoints.take(session.session_id, request, trigger)
        answer: SnapshotAnswer = {
            "snapshot_id": manifest.snapshot_id,
            "snapshot_dir": str(folder),
            "manifest": manifest.document(),
        }
        return answer, folder


def _record(session: Session) -> SessionRecord:
    fields = session.document()
    for name in OF_CONVERSATIONS:
        fields.pop(name, None)
    return cast("SessionRecord", fields)


def _check_length(name: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidRequest(f"{name} has to be a text of at most {most:,} characters")
