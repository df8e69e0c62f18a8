"""The tools of sessions and snapshots, asked of the daemon, which alone keeps them.

What it is asked comes after whatever was done before: the log is written up to there. Answers are
as the contract has them, and no longer than an agent can afford: of each list as much is told as
has room, the newest first, and `omitted` says how much is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidQuery
from triseek.model.session import checked_id
from triseek.service import daemon_client, session_pages
from triseek.sessions import exports

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.model.tools import (
        SessionCloseRequest,
        SessionHandoffRequest,
        SessionListRequest,
        SessionOpenRequest,
        SessionResumeRequest,
        SessionSnapshotDiffRequest,
        SessionSnapshotGetRequest,
        SessionSnapshotListRequest,
        SessionSnapshotRequest,
        SessionStatusRequest,
    )
    from triseek.service.desk import Call, Desk

PATIENCE_S, WORK_S = 10.0, 120.0
"""For a question, and for what reads a whole log or asks git."""


def open_(desk: Desk, request: SessionOpenRequest, call: Call) -> dict[str, Any]:
    """Begin a session, or go on with one; it is the connection's current one from now on.

    Raises:
        InvalidQuery, InvalidRequest: the id is none, or is another repository's.
        BackendFailure: no daemon answers.
    """
    asked = {"goal": request.goal, "session_id": _id(request.session_id)}
    told = _asked(desk, "session_open", {name: value for name, value in asked.items() if value})
    desk.work_on(told["session"]["session_id"], call)
    return told


def status(desk: Desk, request: SessionStatusRequest, call: Call) -> dict[str, Any]:
    """How a session stands. Raises as `open_`; also where none is named, current or open."""
    return _asked(desk, "session_status", _named(desk, request.session_id, call))


def listed(desk: Desk, request: SessionListRequest, _call: Call) -> dict[str, Any]:
    """The root's sessions, last used first. Raises as `open_`."""
    chosen = {} if request.status == "all" else {"status": request.status}
    return session_pages.listed(_asked(desk, "session_list", chosen), "sessions")


def close(desk: Desk, request: SessionCloseRequest, call: Call) -> dict[str, Any]:
    """End a session; it is nobody's current one any more. Raises as `open_`."""
    session_id = _id(request.session_id) or desk.session(call)
    if not session_id:
        raise InvalidQuery(
            "no session is current here, so session_id has to say which to close",
            next_step="Pass session_id; session_list has them.",
        )
    told = _asked(desk, "session_close", {"session_id": session_id, "status": request.status})
    desk.leave(session_id)
    return told


def snapshot(desk: Desk, request: SessionSnapshotRequest, call: Call) -> dict[str, Any]:
    """Keep a checkpoint. Raises as `status`; also where lines cannot be pinned."""
    told = _asked(desk, "session_snapshot", _captured(desk, request, call), WORK_S)
    return session_pages.captured(told)


def handoff(desk: Desk, request: SessionHandoffRequest, call: Call) -> dict[str, Any]:
    """Keep a checkpoint with a briefing, and resolve the session. Raises as `snapshot`."""
    asked = _captured(desk, request, call)
    if request.output:
        asked["output"] = exports.checked_name(request.output)
    told = _asked(desk, "session_handoff", asked, WORK_S)
    desk.leave(told["manifest"]["session_id"])
    return session_pages.captured(told)


def snapshots(desk: Desk, request: SessionSnapshotListRequest, _call: Call) -> dict[str, Any]:
    """Manifests, newest first; of every repository, for a pack may come from elsewhere.

    Raises as `open_`.
    """
    session_id = _id(request.session_id)
    asked = {"session_id": session_id} if session_id else {}
    told = _told(desk, "session_snapshot_list", asked, WORK_S)
    return session_pages.manifests(told)


def snapshot_shown(desk: Desk, request: SessionSnapshotGetRequest, _call: Call) -> dict[str, Any]:
    """What a snapshot holds. Raises as `open_`."""
    asked = {"snapshot_id": _id(request.snapshot_id, "snapshot_id", required=True)}
    return session_pages.snapshot(_told(desk, "session_snapshot_get", asked, WORK_S))


def difference(desk: Desk, request: SessionSnapshotDiffRequest, _call: Call) -> dict[str, Any]:
    """What differs between two snapshots. Raises as `open_`."""
    asked = {
        name: _id(getattr(request, name), name, required=True)
        for name in ("snapshot_a", "snapshot_b")
    }
    return session_pages.difference(_told(desk, "session_snapshot_diff", asked, WORK_S))


def resume(desk: Desk, request: SessionResumeRequest, call: Call) -> dict[str, Any]:
    """Prime this root with a snapshot; its session is the current one from now on.

    Raises as `open_`.
    """
    asked = {
        "snapshot_id": _id(request.snapshot_id, "snapshot_id", required=True),
        "budget_tokens": request.budget_tokens,
        **call.who,
    }
    told = _asked(desk, "session_resume", asked, WORK_S)
    desk.work_on(told["session_id"], call)
    return session_pages.resumed(told)


def _named(desk: Desk, given: str, call: Call) -> dict[str, Any]:
    """Which session is meant: the one named, else the current one, else the daemon knows."""
    session_id = _id(given) or desk.session(call)
    return {"session_id": session_id} if session_id else {}


def _captured(desk: Desk, request: SessionSnapshotRequest, call: Call) -> dict[str, Any]:
    """What a snapshot is asked of the daemon as."""
    pins = [
        {"path": pin.path, "line_start": pin.line_start, "line_end": pin.line_end}
        for pin in request.pinned_snippet_paths
    ]
    asked = {
        **_named(desk, request.session_id, call),
        "source_harness": request.source_harness or call.who.get("harness", ""),
        "source_model": request.source_model,
        "pinned_snippet_paths": pins,
    }
    return {name: value for name, value in asked.items() if value}


def _id(text: str, what: str = "session_id", *, required: bool = False) -> str:
    """An id as it was given; "" for none.

    Raises:
        InvalidRequest: it is none, or has to be given.
    """
    text = text.strip()
    return checked_id(text, what) if text or required else ""


def _asked(
    desk: Desk, verb: str, params: Mapping[str, Any], patience_s: float = PATIENCE_S
) -> dict[str, Any]:
    """What the daemon says about the root; what was done before is in its log."""
    return _told(desk, verb, {"target_root": desk.root, **params}, patience_s)


def _told(desk: Desk, verb: str, params: Mapping[str, Any], patience_s: float) -> dict[str, Any]:
    """What the daemon says. Raises as `daemon_client.ask`."""
    desk.flush()
    return daemon_client.ask("session", verb, params, patience_s)
