"""The daemon's sessions, their logs and snapshots; synced in the background; their verbs.

An entry is written to its log at once and survives a kill of the daemon. It survives a loss of
power once this module has synced it, a few seconds later.
"""

from __future__ import annotations

import functools
import logging
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, cast

from triseek import paths
from triseek.app.resume import Resuming
from triseek.daemon import params
from triseek.daemon.autosave import Autosave
from triseek.daemon.params import NAME_MAX, Verb, optional_root, target_root, text
from triseek.engine.roots import project
from triseek.errors import InvalidRequest
from triseek.memo.resolve_context import Asked  # noqa: TC001 - read at run time
from triseek.model.session import Status  # noqa: TC001 - read at run time
from triseek.sessions.checkpoints import Checkpoints
from triseek.sessions.hydration import BUDGET
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.operations import SessionOperations, SnapshotOptions, record
from triseek.sessions.recording import Action, Recorder, placed
from triseek.sessions.snapshot import Snapshots, WantedPin, read_wanted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.engine.service import Service
    from triseek.memo.memo import Memo
    from triseek.model.session import Session
    from triseek.sessions.results import (
        HandoffAnswer,
        ResumeAnswer,
        SessionAnswer,
        SessionListAnswer,
        SessionStatusAnswer,
        SnapshotAnswer,
        SnapshotDiffAnswer,
        SnapshotGetAnswer,
        SnapshotListAnswer,
    )

logger = logging.getLogger(__name__)

SYNC_S = 5.0
PRUNE_S = 30 * 86_400.0
"""Seconds without use after which automatically opened sessions are deleted. Snapshots are kept,
and so are sessions that were opened on request."""
NOTES_MAX = 1_000
"""Maximum number of actions in one request."""
_KIND_MAX = 60
FINISH_S = 0.8
"""Seconds that `close` waits for a sync, and for a snapshot, that is running."""


class SessionService:
    """Owns the sessions of this machine, and saves them periodically and at the end."""

    def __init__(
        self,
        service: Service,
        memo: Memo,
        *,
        auto_open: bool = True,
        auto_snapshot: bool = True,
    ) -> None:
        """Load what an earlier daemon saved.

        Args:
            service: The service with the open roots.
            memo: The memo, which is notified of a resume.
            auto_open: Whether a prompt opens a session where none is open.
            auto_snapshot: Whether to take a snapshot before an agent compacts its context.
        """
        self.sessions = Sessions(paths.sessions())
        self.snapshots = Snapshots(paths.snapshots())
        self.checkpoints = Checkpoints(service, self.sessions, self.snapshots)
        keep = self.checkpoints.before_compaction if auto_snapshot else _keep_nothing
        self.recorder = Recorder(self.sessions, keep, by_itself=auto_open)
        self.resuming = Resuming(service, self.sessions, self.snapshots, self.checkpoints, memo)
        self.operations = SessionOperations(
            self.sessions, self.snapshots, self.checkpoints, self.resuming.resume
        )
        self._saving = Autosave("sessions", self._save, SYNC_S)

    def start(self) -> None:
        """Start saving periodically."""
        self._saving.start()

    def busy(self) -> bool:
        """Return False: `close` syncs what is not synced yet, so an idle exit need not wait."""
        return False

    def close(self) -> None:
        """Save a last time and stop."""
        self._saving.stop(FINISH_S)
        self.checkpoints.finish(FINISH_S)
        self._saving.now()

    def _save(self) -> None:
        self.sessions.save()
        removed = self.sessions.prune(PRUNE_S)
        if removed:
            logger.info("sessions pruned", extra={"sessions": removed})


def _keep_nothing(_session: Session, _harness: str | None) -> None:
    """Take no snapshot: stands in when `auto_snapshot` is off."""


def _root_unless_named(params: Mapping[str, object], name: str) -> str:
    """Return the folder; "" if the request names a session, which has a repository of its own."""
    return "" if text(params, "session_id") else target_root(params, name)


def _goal(params: Mapping[str, object], name: str) -> str:
    goal = params.get(name)
    if goal is not None and not isinstance(goal, str):
        raise InvalidRequest(f"{name} has to be a text")
    return goal or ""


def _status(params: Mapping[str, object], name: str) -> Status | Literal[""]:
    status = text(params, name)
    if status not in ("", "open", "resolved", "abandoned"):
        raise InvalidRequest(
            f"status {status[:80]!r} does not exist", next_step="Say open, resolved or abandoned."
        )
    return cast("Status | Literal['']", status)


def _pins(params: Mapping[str, object], name: str) -> list[WantedPin]:
    return read_wanted(params.get(name))


def _budget(params: Mapping[str, object], name: str) -> int:
    budget = params.get(name)
    if budget is None:
        return BUDGET
    if type(budget) is not int:
        raise InvalidRequest(f"{name} has to be a number from 1, not {budget!r:.40}")
    return budget


def _actions(params: Mapping[str, object], name: str) -> list[Action]:
    notes = params.get(name)
    if not isinstance(notes, list) or len(notes) > NOTES_MAX:
        raise InvalidRequest(f"{name} has to be a list of at most {NOTES_MAX:,}")
    return [_action(note) for note in notes]


def _action(note: object) -> Action:
    match note:
        case {"kind": str(kind), "payload": dict(payload), **more} if 0 < len(kind) <= _KIND_MAX:
            at, who = more.get("at_s"), more.get("conversation")
        case _:
            raise InvalidRequest("a note has to have a kind and a payload")
    is_time = isinstance(at, (int, float)) and type(at) is not bool and 0 <= at < 1 << 53
    return Action(
        at_s=float(cast("float", at)) if is_time else time.time(),
        kind=kind,
        conversation=who[:NAME_MAX] if isinstance(who, str) and who else None,
        payload=payload,
    )


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """`{target_root, goal?, session_id?}`."""

    target_root: Annotated[str, target_root]
    goal: Annotated[str, _goal]
    session_id: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """`{target_root, session_id?}`: by default the session that is open in the repository."""

    target_root: Annotated[str, _root_unless_named]
    session_id: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class ListRequest:
    """`{target_root, status?}`."""

    target_root: Annotated[str, target_root]
    status: Annotated[Status | Literal[""], _status]


@dataclass(frozen=True, slots=True)
class CloseRequest:
    """`{session_id, status?}`: the default status is resolved."""

    session_id: Annotated[str, text]
    status: Annotated[Status | Literal[""], _status]


@dataclass(frozen=True, slots=True)
class NoteRequest:
    """`{target_root, session_id?, notes}`.

    notes: A list of `{kind, payload, at_s?, conversation?}`, oldest first.
    """

    target_root: Annotated[str, target_root]
    session_id: Annotated[str, text]
    notes: Annotated[list[Action], _actions]


@dataclass(frozen=True, slots=True)
class SnapshotRequest(SessionRequest):
    """`{target_root, session_id?, source_harness?, source_model?, pinned_snippet_paths?}`."""

    source_harness: Annotated[str, text]
    source_model: Annotated[str, text]
    pinned_snippet_paths: Annotated[list[WantedPin], _pins]

    @property
    def capture(self) -> SnapshotOptions:
        """What the snapshot is to record."""
        return SnapshotOptions(self.pinned_snippet_paths, self.source_harness, self.source_model)


@dataclass(frozen=True, slots=True)
class HandoffRequest(SnapshotRequest):
    """As `SnapshotRequest`, and `output?`, the name of a pack to write into the exports folder."""

    output: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class SnapshotListRequest:
    """`{target_root?, session_id?}`."""

    target_root: Annotated[str, optional_root]
    session_id: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class SnapshotGetRequest:
    """`{snapshot_id}`."""

    snapshot_id: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class SnapshotDiffRequest:
    """`{snapshot_a, snapshot_b}`."""

    snapshot_a: Annotated[str, text]
    snapshot_b: Annotated[str, text]


@dataclass(frozen=True, slots=True)
class ResumeRequest:
    """`{target_root, snapshot_id, budget_tokens?, payload_file?, …who}`.

    payload_file: The absolute path to which the payload will be written.
    """

    target_root: Annotated[str, target_root]
    snapshot_id: Annotated[str, text]
    budget_tokens: Annotated[int, _budget]
    payload_file: Annotated[str, functools.partial(text, most=4096)]
    who: Annotated[Asked, params.asker]


@dataclass(frozen=True, slots=True)
class HydratedRequest:
    """`{target_root}`."""

    target_root: Annotated[str, target_root]


class Recorded(TypedDict):
    """Answer of `session_note`."""

    recorded: int
    """Number of entries written; 0 if no session is open."""


class LastResume(TypedDict):
    """Answer of `session_hydrated`: the snapshot resumed last in a repository, and its searches."""

    serial: int
    snapshot_id: str | None
    searches: list[object]


def _open(service: SessionService, request: OpenRequest) -> SessionAnswer:
    session = service.operations.open(request.target_root, request.goal, request.session_id)
    return {"session": record(session)}


def _state(service: SessionService, request: SessionRequest) -> SessionStatusAnswer:
    session, size = service.operations.status(request.target_root, request.session_id)
    return {"session": record(session), "action_log_size": size}


def _list(service: SessionService, request: ListRequest) -> SessionListAnswer:
    sessions = service.operations.sessions(request.target_root, request.status)
    return {"sessions": [record(session) for session in sessions]}


def _close(service: SessionService, request: CloseRequest) -> SessionAnswer:
    session = service.operations.close(request.session_id, request.status or "resolved")
    return {"session": record(session)}


def _note(service: SessionService, request: NoteRequest) -> Recorded:
    root, folder = project(request.target_root), os.path.realpath(request.target_root)
    numbers = [
        service.recorder.record(root, request.session_id, placed(note, folder, root))
        for note in request.notes
    ]
    return {"recorded": sum(number is not None for number in numbers)}


def _snapshot(service: SessionService, request: SnapshotRequest) -> SnapshotAnswer:
    taken = service.operations.snapshot(request.target_root, request.session_id, request.capture)
    return taken.document()


def _handoff(service: SessionService, request: HandoffRequest) -> HandoffAnswer:
    outcome = service.operations.handoff(
        request.target_root, request.session_id, request.capture, request.output
    )
    return outcome.document()


def _snapshots(service: SessionService, request: SnapshotListRequest) -> SnapshotListAnswer:
    manifests, damaged = service.operations.snapshots(request.target_root, request.session_id)
    answer: SnapshotListAnswer = {"snapshots": [manifest.document() for manifest in manifests]}
    if damaged:
        answer["damaged"] = [item.document() for item in damaged]
    return answer


def _content(service: SessionService, request: SnapshotGetRequest) -> SnapshotGetAnswer:
    return {"snapshot": service.operations.content(request.snapshot_id).document()}


def _difference(service: SessionService, request: SnapshotDiffRequest) -> SnapshotDiffAnswer:
    return {"diff": service.operations.difference(request.snapshot_a, request.snapshot_b)}


def _resume(service: SessionService, request: ResumeRequest) -> ResumeAnswer:
    outcome = service.operations.resume(
        request.target_root,
        request.snapshot_id,
        request.who._asdict(),
        request.budget_tokens,
        request.payload_file,
    )
    return outcome.document()


def _hydrated(service: SessionService, request: HydratedRequest) -> LastResume:
    serial, snapshot_id, searches = service.resuming.hydrated(project(request.target_root))
    documents: list[object] = [run.document() for run in searches]
    return {"serial": serial, "snapshot_id": snapshot_id, "searches": documents}


VERBS: Mapping[str, Verb[SessionService, Any]] = {
    "session_open": Verb(OpenRequest, _open),
    "session_status": Verb(SessionRequest, _state),
    "session_list": Verb(ListRequest, _list),
    "session_close": Verb(CloseRequest, _close),
    "session_note": Verb(NoteRequest, _note),
    "session_snapshot": Verb(SnapshotRequest, _snapshot),
    "session_handoff": Verb(HandoffRequest, _handoff),
    "session_snapshot_list": Verb(SnapshotListRequest, _snapshots),
    "session_snapshot_get": Verb(SnapshotGetRequest, _content),
    "session_snapshot_diff": Verb(SnapshotDiffRequest, _difference),
    "session_resume": Verb(ResumeRequest, _resume),
    "session_hydrated": Verb(HydratedRequest, _hydrated),
}
"""Opening, closing and listing sessions, recording actions in them, snapshots and resuming."""
