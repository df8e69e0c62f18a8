"""The daemon's JSON verbs: on roots, on the memo, on sessions and snapshots, on the history.

A verb is a function of the object it works on and of the request's parameters. Its name is the
verb's, and its docstring lists the parameters; `who` stands for those that `Parameters.asker`
reads.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NotRequired, TypeAlias, TypedDict, TypeVar, cast

from triseek.daemon.open_roots import trouble_of
from triseek.engine.freshness.journal import Clock
from triseek.engine.roots import project
from triseek.errors import Busy, InvalidRequest
from triseek.history.verbs import OPERATIONS
from triseek.ipc import wire
from triseek.memo import handlers
from triseek.memo.resolve_context import Asked
from triseek.model.origin import Origin
from triseek.sessions.hydration import BUDGET
from triseek.sessions.operations import GOAL_MAX, NAME_MAX
from triseek.sessions.recording import Action, placed
from triseek.sessions.requests import SessionSnapshotRequest
from triseek.sessions.snapshot import read_pins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.daemon.open_roots import OpenRoots
    from triseek.daemon.root_maintainer import RootMaintainer
    from triseek.daemon.server import Handler, Result
    from triseek.daemon.services import SessionService
    from triseek.engine.engine import Engine
    from triseek.history.service import History
    from triseek.history.verbs import Operation
    from triseek.memo.memo import Memo
    from triseek.memo.results import MemoCheckAnswer, MemoSessionAnswer, MemoStatusAnswer
    from triseek.model.session import Status
    from triseek.sessions import results

ITEMS_MAX = 1_000
"""Maximum number of files, or of actions, in one request."""
PATH_MAX = 4_096
"""Maximum characters of a path."""
_KIND_MAX = 60

Owner = TypeVar("Owner")
Verb: TypeAlias = "Callable[[Owner, Parameters], Result]"


class Parameters:
    """The parameters of a request, which may be anything: each method checks those it returns.

    Each raises `InvalidRequest` if a parameter is not valid. null stands for a missing one, and
    unknown ones are ignored.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        """Read parameters as they came from a client."""
        self._values = values

    def has(self, name: str) -> bool:
        """Return whether a parameter is present."""
        return self._values.get(name) is not None

    def text(self, name: str, most: int = NAME_MAX) -> str:
        """Return a text of at most `most` characters; "" if it is missing."""
        value = self._values.get(name)
        if value is None:
            return ""
        if not isinstance(value, str) or len(value) > most:
            raise InvalidRequest(f"{name} has to be a text of at most {most:,} characters")
        return value

    def is_true(self, name: str) -> bool:
        """Return whether a parameter is true; any other value is not."""
        return self._values.get(name) is True

    def number(self, name: str, default: int) -> int:
        """Return a whole number."""
        value = self._values[name] if self.has(name) else default
        if type(value) is not int:
            raise InvalidRequest(f"{name} has to be a number from 1, not {value!r:.40}")
        return value

    def items(self, name: str, most: int = ITEMS_MAX) -> Sequence[object]:
        """Return a list of at most `most` items."""
        items = self._values.get(name)
        if not isinstance(items, list) or len(items) > most:
            raise InvalidRequest(f"{name} has to be a list of at most {most:,}")
        return items

    def paths(self, name: str, most: int = ITEMS_MAX) -> list[str]:
        """Return a list of at most `most` texts."""
        paths = self.items(name, most)
        for path in paths:
            if not isinstance(path, str):
                raise InvalidRequest(f"{path!r:.200} is not the path of a file")
        return cast("list[str]", paths)

    def root(self) -> str:
        """Return `target_root`, the folder that a request is about: an absolute path."""
        folder = self._values.get("target_root")
        if not isinstance(folder, str) or not os.path.isabs(folder) or "\0" in folder:  # noqa: PTH117
            raise InvalidRequest(f"target_root has to be an absolute path, not {folder!r:.200}")
        return folder

    def optional_root(self) -> str:
        """Return `target_root`; "" if it is missing."""
        return self.root() if self.has("target_root") else ""

    def status(self) -> Status | None:
        """Return `status`, that of a session; None if it is missing."""
        status = self.text("status")
        if status not in ("", "open", "resolved", "abandoned"):
            raise InvalidRequest(
                f"status {status[:80]!r} does not exist",
                next_step="Say open, resolved or abandoned.",
            )
        return cast("Status", status) if status else None

    def session(self) -> tuple[str, str]:
        """Return `target_root` and `session_id`; a session that is named needs no root."""
        session_id = self.text("session_id")
        return "" if session_id else self.root(), session_id

    def snapshot(self) -> tuple[str, SessionSnapshotRequest]:
        """Return the root, and what a snapshot is to record: `source_harness` and the like."""
        root, session_id = self.session()
        return root, SessionSnapshotRequest(
            session_id=session_id,
            source_harness=self.text("source_harness"),
            source_model=self.text("source_model"),
            pinned_snippet_paths=tuple(read_pins(self._values.get("pinned_snippet_paths"))),
        )

    def asker(self) -> Asked:
        """Return who calls, as far as `session`, `agent`, `harness` and `call` say."""
        return Asked.read(self._values)


def bound(owner: Owner, verbs: Sequence[Verb[Owner]]) -> Mapping[str, Handler]:
    """Return verbs as the server's handlers, by their names. They work on `owner`."""

    def handler(verb: Verb[Owner]) -> Handler:
        return lambda params, _streams: verb(owner, Parameters(params))

    return {verb.__name__: handler(verb) for verb in verbs}


def of_history(history: History) -> Mapping[str, Handler]:
    """Return the operations of the history as the server's handlers, `history_NAME` each."""

    def handler(operation: Operation) -> Handler:
        return lambda params, _streams: cast("Result", operation(history, params))

    return {f"history_{name}": handler(operation) for name, operation in OPERATIONS.items()}


# Roots


class RootState(TypedDict):
    """The state of one root, for `status`; docs/reference/protocol.md describes the fields."""

    target_root: str
    index_dir: str | None
    index_available: bool
    watched: bool
    trouble: str
    fix: str
    generation: int | None
    context_epoch: int | None
    clock: str | None


class RootReply(RootState, total=False):
    """Answer of `sync`; of the fields of `RootState` an unmaintained root has only the first."""

    freshness: str
    dirty: int | None
    """Number of files that differ from the index."""
    index_generation: int | None
    ms: float
    since: SyncChanges
    """Only if a clock was passed."""


class StatusReply(TypedDict):
    """Answer of `status`."""

    warm: bool
    active_roots: int
    roots: list[RootState]
    root: NotRequired[RootReply]


class OpenedReply(TypedDict, total=False):
    """Answer of `preload_root` and `reload`."""

    preloaded: bool
    reloaded: bool
    target_root: str


class CountReply(TypedDict):
    """Answer of `frecency_select` and `session_note`."""

    recorded: int
    """Number of files, or of entries written: 0 if no session is open."""


class SyncBatch(TypedDict):
    """Changes that were made at one time."""

    generation: int
    everything: bool
    changes: Mapping[str, str]


class SyncChanges(TypedDict):
    """Changes since a clock."""

    kind: str
    reason: str | None
    batches: list[SyncBatch]


NOT_WATCHED: SyncChanges = {"kind": "unknown", "reason": "not_watched", "batches": []}
"""Changes since a clock for a root that is not watched."""


def status(jobs: OpenRoots, params: Parameters) -> StatusReply:
    """Return the open roots and their state: `{target_root?, …}`, for one root as `sync` does."""
    answer: StatusReply = {
        "warm": jobs.is_warm,
        "active_roots": len(jobs.service.engines()),
        "roots": [state_of(maintainer) for maintainer in jobs.maintainers()],
    }
    if params.optional_root():
        answer["root"] = sync(jobs, params)
    return answer


def preload_root(jobs: OpenRoots, params: Parameters) -> OpenedReply:
    """Open and maintain a root: `{target_root, exact?}`; `exact`: no folder above it instead."""
    engine = jobs.service.engine(params.root(), exact=params.is_true("exact"))
    return {"preloaded": True, "target_root": engine.root}


def reload(jobs: OpenRoots, params: Parameters) -> OpenedReply:
    """Switch to the newest generation of the index: `{target_root}`."""
    engine = jobs.service.engine(params.root())
    if engine.has_index():
        engine.indexed().catch_up()
    return {"reloaded": True, "target_root": engine.root}


def sync(jobs: OpenRoots, params: Parameters) -> RootReply:
    """Process all events until now; return what is dirty, and what has changed since a clock.

    `{target_root, clock?, cheap?}`. clock: Of an earlier answer. cheap: Skip the check where it
    would take a sweep because the root is not watched.
    """
    engine = jobs.service.engine(params.root())
    clock = params.text("clock") if params.has("clock") else None
    needs_sweep = params.is_true("cheap") and engine.watched is None
    if needs_sweep or not engine.has_index() or not jobs.is_warm:
        answer = _state(jobs, engine)
        return {**answer, "freshness": "unverified", "dirty": None, "index_generation": None}
    began = time.perf_counter()
    reader, dirty = engine.indexed().look()
    answer = _state(jobs, engine)  # read after `look`: the clock includes the new events
    answer["freshness"] = dirty.freshness
    answer["dirty"] = dirty.count
    answer["index_generation"] = reader.generation
    answer["ms"] = round((time.perf_counter() - began) * 1e3, 3)
    if clock is not None:
        answer["since"] = _since(engine, clock)
    if dirty.freshness != "synced":  # a sweep does not record its findings in the journal
        answer["clock"] = None
        if clock is not None:
            answer["since"] = NOT_WATCHED
    return answer


def frecency_select(jobs: OpenRoots, params: Parameters) -> CountReply:
    """Record that the user chose files: `{target_root, paths}`; paths below the root."""
    paths = params.paths("paths", wire.REQUEST_LIMIT)
    frecency = jobs.service.engine(params.root()).frecency
    if frecency is None or not frecency.claim():
        raise Busy("another process owns the scores of this root")
    recorded = frecency.touch("select", map(os.fsencode, paths))
    frecency.save()
    return {"recorded": recorded}


def _since(engine: Engine, clock: str) -> SyncChanges:
    """Return the changes that the journal records since a clock."""
    watch = engine.watched
    if watch is None:
        return NOT_WATCHED
    since = watch.journal.since(Clock.parse(clock))
    batches: list[SyncBatch] = [
        {
            "generation": batch.generation,
            "everything": batch.everything,
            "changes": {os.fsdecode(path): what for path, what in batch.changes.items()},
        }
        for batch in since.batches
    ]
    return {"kind": since.kind, "reason": since.reason, "batches": batches}


def _state(jobs: OpenRoots, engine: Engine) -> RootReply:
    maintainer = jobs.maintainer(engine.root)
    state = state_of(maintainer) if maintainer else {"target_root": engine.root}
    return cast("RootReply", state)


def state_of(maintainer: RootMaintainer) -> RootState:
    """Return the state of one root."""
    engine, watch = maintainer.engine, maintainer.engine.watched
    trouble = trouble_of(maintainer)
    if trouble is not None:
        watch = None
    clock = watch.journal.clock if watch else None
    return {
        "target_root": engine.root,
        "index_dir": engine.index_dir,
        "index_available": engine.has_index(),
        "watched": watch is not None,
        "trouble": trouble.reason if trouble else "",
        "fix": trouble.fix if trouble else "",
        "generation": clock.generation if clock else None,
        "context_epoch": clock.epoch if clock else None,
        "clock": str(clock) if clock else None,
    }


ROOT_VERBS = (status, preload_root, reload, sync, frecency_select)


# The memo


class ForgetReply(TypedDict):
    """Answer of `memo_forget`."""

    target_root: str | None
    forgotten: int
    """Number of contexts."""


def memo_status(memo: Memo, params: Parameters) -> MemoStatusAnswer:
    """Return what a context was shown of files: `{target_root, files, …who}`."""
    return handlers.files_status(memo, params.root(), params.paths("files"), params.asker())


def memo_check(memo: Memo, params: Parameters) -> MemoCheckAnswer:
    """Return whether a context has a file as it is now: `{target_root, path, …who}`."""
    return handlers.file_check(memo, params.root(), params.text("path", PATH_MAX), params.asker())


def memo_session(memo: Memo, params: Parameters) -> MemoSessionAnswer:
    """Return every file that a context was shown: `{target_root, …who}`."""
    return memo.session(project(params.root()), params.asker())


def memo_forget(memo: Memo, params: Parameters) -> ForgetReply:
    """Erase the memo of a root, or the whole memo: `{target_root?}`."""
    root = project(folder) if (folder := params.optional_root()) else None
    return {"target_root": root, "forgotten": memo.erase(root)}


MEMO_VERBS = (memo_status, memo_check, memo_session, memo_forget)


# Sessions and snapshots


class HydratedReply(TypedDict):
    """Answer of `session_hydrated`."""

    serial: int
    snapshot_id: str | None
    searches: list[dict[str, Any]]


def session_open(service: SessionService, params: Parameters) -> results.SessionAnswer:
    """Open or reopen a session: `{target_root, goal?, session_id?}`."""
    root, goal = params.root(), params.text("goal", GOAL_MAX)
    return service.operations.open(root, goal, params.text("session_id"))


def session_status(service: SessionService, params: Parameters) -> results.SessionStatusAnswer:
    """Return a session: `{target_root, session_id?, harness?}`.

    Without an id it is the one in which the agent `harness` worked last, else the current one.
    """
    return service.operations.status(*params.session(), harness=params.text("harness"))


def session_list(service: SessionService, params: Parameters) -> results.SessionListAnswer:
    """List the sessions of a repository: `{target_root, status?}`."""
    return service.operations.sessions(params.root(), params.status() or "")


def session_close(service: SessionService, params: Parameters) -> results.SessionAnswer:
    """Close a session: `{session_id, status?}`; the default status is resolved."""
    session_id, status = params.text("session_id"), params.status() or "resolved"
    return service.operations.close(session_id, status)


def session_note(service: SessionService, params: Parameters) -> CountReply:
    """Record actions in a session: `{target_root, session_id?, notes}`.

    notes: A list of `{kind, payload, at_s?, conversation?}`, oldest first.
    """
    target_root, session_id = params.root(), params.text("session_id")
    actions = [_action(note) for note in params.items("notes")]  # before any is recorded
    root, folder = project(target_root), os.path.realpath(target_root)
    placed_actions = [placed(action, folder, root) for action in actions]
    numbers = [service.recorder.record(root, session_id, action) for action in placed_actions]
    return {"recorded": sum(number is not None for number in numbers)}


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
        origin=_origin(more.get("origin")),
    )


def _origin(body: object) -> Origin:
    fields = body if isinstance(body, dict) else {}
    texts = {name: fields.get(name) for name in Origin.__slots__}
    known = {name: text[:NAME_MAX] for name, text in texts.items() if isinstance(text, str)}
    return Origin(**known)


def session_snapshot(service: SessionService, params: Parameters) -> results.SnapshotAnswer:
    """Take a snapshot of a session.

    `{target_root, session_id?, source_harness?, source_model?, pinned_snippet_paths?}`.
    """
    return service.operations.snapshot(*params.snapshot())


def session_handoff(service: SessionService, params: Parameters) -> results.HandoffAnswer:
    """Take a snapshot with a briefing and close the session: as `session_snapshot`, and `output?`.

    output: The name of a pack to write into the exports folder.
    """
    return service.operations.handoff(*params.snapshot(), params.text("output"))


def session_snapshot_list(
    service: SessionService, params: Parameters
) -> results.SnapshotListAnswer:
    """List snapshots, newest first: `{target_root?, session_id?}`."""
    return service.operations.snapshots(params.optional_root(), params.text("session_id"))


def session_snapshot_get(service: SessionService, params: Parameters) -> results.SnapshotGetAnswer:
    """Return the content of a snapshot: `{snapshot_id}`."""
    return service.operations.content(params.text("snapshot_id"))


def session_snapshot_diff(
    service: SessionService, params: Parameters
) -> results.SnapshotDiffAnswer:
    """Compare two snapshots: `{snapshot_a, snapshot_b}`."""
    return service.operations.difference(params.text("snapshot_a"), params.text("snapshot_b"))


def session_resume(service: SessionService, params: Parameters) -> results.ResumeAnswer:
    """Resume a snapshot.

    `{target_root, snapshot_id, budget_tokens?, payload_file?, memory?, …who}`.
    payload_file: The absolute path to which the payload will be written. memory: Draw on what is
    remembered of the project.
    """
    return service.operations.resume(
        params.root(),
        params.text("snapshot_id"),
        params.asker()._asdict(),
        params.number("budget_tokens", BUDGET),
        params.text("payload_file", PATH_MAX),
        memory=params.is_true("memory"),
    )


def session_hydrated(service: SessionService, params: Parameters) -> HydratedReply:
    """Return the snapshot resumed last in a repository, and its searches: `{target_root}`."""
    serial, snapshot_id, runs = service.resuming.hydrated(project(params.root()))
    searches = [run.document() for run in runs]
    return {"serial": serial, "snapshot_id": snapshot_id, "searches": searches}


SESSION_VERBS = (
    session_open, session_status, session_list, session_close, session_note, session_snapshot,
    session_handoff, session_snapshot_list, session_snapshot_get, session_snapshot_diff,
    session_resume, session_hydrated,
)  # fmt: skip
