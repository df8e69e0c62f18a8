"""The daemon's JSON verbs about sessions and snapshots: parameters from outside in, values out."""

from __future__ import annotations

import os
import time
from threading import Lock
from typing import TYPE_CHECKING, Any

from triseek.daemon.params import NAME_MAX, asker, repository, target_root, text
from triseek.errors import InvalidRequest
from triseek.model.session import checked_id
from triseek.sessions import exports
from triseek.sessions.actions import Action
from triseek.sessions.hydration import BUDGET
from triseek.sessions.snapshot import diff, read_wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.daemon.session_keeping import SessionKeeping
    from triseek.model.session import Session
    from triseek.model.snapshot import Manifest, Trigger

GOAL_MAX = 20_000
NOTES_MAX = 1_000
_KIND_MAX = 60
_NOTE_MAX = 60
_STATUSES = ("", "open", "resolved", "abandoned")


def calls(keeping: SessionKeeping) -> Mapping[str, Callable[[dict[str, Any]], Any]]:
    """Every verb about sessions and snapshots."""
    verbs = SessionCalls(keeping)
    return {name: getattr(verbs, name) for name in dir(verbs) if name.startswith("session_")}


class SessionCalls:
    """The verbs; each takes the parameters as a client sent them."""

    def __init__(self, keeping: SessionKeeping) -> None:
        self._keeping = keeping
        self._sessions = keeping.sessions
        self._snapshots = keeping.snapshots
        self._noting = Lock()

    def session_open(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, goal?, session_id?}`: begin a session, or go on with one."""
        goal = text(params, "goal", most=GOAL_MAX)
        session = self._sessions.open(repository(params), goal, text(params, "session_id"))
        return {"session": session.document()}

    def session_status(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, session_id?}`: a session, and how many entries its log has."""
        session = self._named(params)
        size = len(self._sessions.log(session.session_id))
        return {"session": session.document(), "action_log_size": size}

    def session_list(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, status?}`: a repository's sessions, those changed last first."""
        status: Any = text(params, "status")
        if status not in _STATUSES:
            raise InvalidRequest(
                f"status {status[:80]!r} is none", next_step="Say open, resolved or abandoned."
            )
        found = self._sessions.all(repository(params), status)
        return {"sessions": [session.document() for session in found]}

    def session_close(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{session_id, status?}`: end a session, as resolved if nothing is said."""
        status: Any = text(params, "status") or "resolved"
        return {"session": self._sessions.close(text(params, "session_id"), status).document()}

    def session_note(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, session_id?, notes, again?}`: what was done.

        notes: A list of `{kind, payload, at_s?, conversation?, note?}`, oldest first.
        again: They may have been told before: those whose `note` an entry has are passed over.
        `recorded`: how many have become entries; none where no session is open.
        """
        root, session_id = repository(params), text(params, "session_id")
        notes = params.get("notes")
        if not isinstance(notes, list) or len(notes) > NOTES_MAX:
            raise InvalidRequest(f"notes has to be a list of at most {NOTES_MAX:,}")
        folder = os.path.realpath(target_root(params))
        # All of them, before the first is kept.
        actions = [_action(note, folder, root) for note in notes]
        recorder = self._keeping.recorder
        with self._noting:  # what is told again waits for the first telling to end
            known = recorder.notes(root, session_id) if params.get("again") is True else frozenset()
            fresh = [each for each in actions if each.payload.get("note") not in known]
            recorded = [recorder.record(root, session_id, each) for each in fresh]
        return {"recorded": sum(number is not None for number in recorded)}

    def session_snapshot(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, session_id?, source_harness?, source_model?, pinned_snippet_paths?}`.

        Writes down how a session stands.
        """
        manifest, folder = self._taken(self._named(params), params, "asked")
        return _made(manifest, folder)

    def session_handoff(self, params: dict[str, Any]) -> dict[str, Any]:
        """As `session_snapshot`, with `output?`, the name of a pack; ends the session as resolved.

        The pack is written to the exports folder, and the answer's `pack` is its path.
        """
        session = self._named(params)
        output = text(params, "output")
        if output:
            exports.checked_name(output)  # before anything is written
        manifest, folder = self._taken(session, params, "handoff")
        briefing = self._snapshots.write_briefing(manifest.snapshot_id)
        told = {**_made(manifest, folder), "briefing": str(briefing)}
        if output:
            told["pack"] = exports.write(self._snapshots.folder(manifest.snapshot_id), output)
        closed = self._sessions.close(session.session_id, "resolved")
        return {**told, "session": closed.document()}

    def session_snapshot_list(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root?, session_id?}`: manifests, newest first."""
        root = "" if params.get("target_root") is None else repository(params)
        session_id = text(params, "session_id")
        if session_id:
            checked_id(session_id)
        found = self._snapshots.all(root, session_id)
        told: dict[str, Any] = {"snapshots": [manifest.document() for manifest in found]}
        if damaged := self._snapshots.damaged():
            told["damaged"] = [one._asdict() for one in damaged]
        return told

    def session_snapshot_get(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{snapshot_id}`: everything a snapshot holds."""
        return {"snapshot": self._snapshots.get(text(params, "snapshot_id")).document()}

    def session_snapshot_diff(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{snapshot_a, snapshot_b}`: what the second has and the first has not, and conversely."""
        a, b = (self._snapshots.get(text(params, name)) for name in ("snapshot_a", "snapshot_b"))
        return {"diff": diff(a, b)}

    def session_resume(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root, snapshot_id, budget_tokens?, payload_file?, …who}`: go on with its work.

        payload_file: Where the payload will be written, absolute.
        """
        budget = params.get("budget_tokens")
        if budget is not None and (type(budget) is not int or budget < 1):
            raise InvalidRequest(f"budget_tokens has to be a number from 1, not {budget!r:.40}")
        folder = target_root(params)
        who = asker(params)
        snapshot_id = text(params, "snapshot_id")
        target = text(params, "payload_file", most=4096)
        return self._keeping.resuming.resume(snapshot_id, folder, who, budget or BUDGET, target)

    def session_hydrated(self, params: dict[str, Any]) -> dict[str, Any]:
        """`{target_root}`: the snapshot that was resumed last there, and its searches."""
        return self._keeping.resuming.hydrated(repository(params))

    def _named(self, params: dict[str, Any]) -> Session:
        """The session that is named, else the one that is open in the repository."""
        session_id = text(params, "session_id")
        if session_id:
            return self._sessions.get(session_id)
        session = self._sessions.current(repository(params))
        if session is None:
            raise InvalidRequest(
                f"no session is open in {repository(params)}",
                next_step="Open one with `session_open`, or pass `session_id`.",
            )
        return session

    def _taken(
        self, session: Session, params: dict[str, Any], trigger: Trigger
    ) -> tuple[Manifest, os.PathLike[str]]:
        return self._keeping.checkpoints.take(
            session.session_id,
            pins=read_wanted(params.get("pinned_snippet_paths")),
            harness=text(params, "source_harness") or None,
            model=text(params, "source_model") or None,
            trigger=trigger,
        )


def _made(manifest: Manifest, folder: os.PathLike[str]) -> dict[str, Any]:
    return {
        "snapshot_id": manifest.snapshot_id,
        "snapshot_dir": os.fspath(folder),
        "manifest": manifest.document(),
    }


def _action(note: object, folder: str, root: str) -> Action:
    """What was done.

    folder: The server's, which its paths count from. root: The repository's.
    """
    match note:
        case {"kind": str(kind), "payload": dict(payload), **more} if 0 < len(kind) <= _KIND_MAX:
            at: Any = more.get("at_s")
            who = more.get("conversation")
        case _:
            raise InvalidRequest("a note has to have a kind and a payload")
    is_time = type(at) in (int, float) and 0 <= at < 1 << 53
    return Action(
        at_s=float(at) if is_time else time.time(),
        kind=kind,
        conversation=who[:NAME_MAX] if isinstance(who, str) and who else None,
        payload=_placed(payload, folder, root) | _numbered(more.get("note")),
    )


def _numbered(note: object) -> dict[str, str]:
    """What the teller calls this note, by which it is known again."""
    return {"note": note[:_NOTE_MAX]} if isinstance(note, str) and note else {}


def _placed(payload: dict[str, Any], folder: str, root: str) -> dict[str, Any]:
    """A note whose paths count from the repository."""
    placed = dict(payload)
    if isinstance(payload.get("path"), str):
        placed["path"] = os.path.join(folder, payload["path"])  # noqa: PTH118
    results = payload.get("result_paths")
    if isinstance(results, list) and folder != root:
        below = os.path.relpath(folder, root)
        texts = (path for path in results if isinstance(path, str))
        placed["result_paths"] = [os.path.normpath(os.path.join(below, path)) for path in texts]  # noqa: PTH118
    return placed
