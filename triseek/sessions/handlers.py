"""Handlers of the session and snapshot tools, and the current session of each connection.

By the time of a call, the log has everything that was done before it. Answers have the fields of
the contract, and are no longer than an agent can afford: each list has as many items as there is
room for, the newest first, and `omitted` has the number of the others.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

from triseek.errors import InvalidQuery
from triseek.model.session import checked_id
from triseek.sessions import session_pages
from triseek.sessions.pack import checked_name

if TYPE_CHECKING:
    from triseek.engine.tool_host import ToolHost
    from triseek.model.call import Call
    from triseek.model.origin import Origin
    from triseek.sessions.operations import SessionOperations
    from triseek.sessions.requests import (
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

CONNECTIONS_MAX = 1_024


class SessionContext:
    """State of one agent's session tools: a root, and current sessions. Thread-safe."""

    def __init__(self, host: ToolHost) -> None:
        """Work on the root of `host`."""
        self.root = host.root
        self._host = host
        self._lock = Lock()
        self._current: LRUCache[str, str] = LRUCache(CONNECTIONS_MAX)

    @property
    def operations(self) -> SessionOperations:
        """What the daemon keeps. Raises as `ToolHost.daemon_service`."""
        operations: SessionOperations = self._host.daemon_service("session")
        return operations

    def origin(self, call: Call) -> Origin:
        """Return where a call comes from."""
        return self._host.origin(call)

    def current(self, connection: str) -> str:
        """Return the session that a connection opened or resumed last; "" for none."""
        with self._lock:
            return self._current.get(connection, "")

    def work_on(self, session_id: str, connection: str) -> None:
        """Make a session the current one of a connection."""
        with self._lock:
            self._current[connection] = session_id

    def leave(self, session_id: str) -> None:
        """Forget a session that has ended as the current one of any connection."""
        with self._lock:
            for connection in [key for key, name in self._current.items() if name == session_id]:
                del self._current[connection]


def open_(context: SessionContext, request: SessionOpenRequest, call: Call) -> SessionAnswer:
    """Open or reopen a session, and make it the connection's current one.

    Raises:
        InvalidRequest: the id is not valid, or belongs to another repository.
        BackendFailure: no daemon runs.
    """
    session_id = _id(request.session_id)
    answer = context.operations.open(context.root, request.goal, session_id, context.origin(call))
    context.work_on(answer["session"]["session_id"], call.connection)
    return answer


def status(
    context: SessionContext, request: SessionStatusRequest, call: Call
) -> SessionStatusAnswer:
    """Return the state of a session. Raises as `open_`; also if none is named, current or open."""
    session_id = _named(context, request.session_id, call)
    return context.operations.status(context.root, session_id, context.origin(call))


def listed(context: SessionContext, request: SessionListRequest, _call: Call) -> SessionListAnswer:
    """List the root's sessions, last used first. Raises as `open_`."""
    chosen = "" if request.status == "all" else request.status
    return session_pages.cut(context.operations.sessions(context.root, chosen))


def close(context: SessionContext, request: SessionCloseRequest, call: Call) -> SessionAnswer:
    """End a session; it is then no connection's current one. Raises as `open_`."""
    session_id = _named(context, request.session_id, call)
    if not session_id:
        raise InvalidQuery(
            "no session is current here, so session_id has to say which to close",
            next_step="Pass session_id; session_list has them.",
        )
    answer = context.operations.close(session_id, request.status)
    context.leave(session_id)
    return answer


def snapshot(
    context: SessionContext, request: SessionSnapshotRequest, call: Call
) -> SnapshotAnswer:
    """Make a snapshot. Raises as `status`; also if lines cannot be pinned."""
    completed = _completed(context, request, call)
    return session_pages.cut(
        context.operations.snapshot(context.root, completed, context.origin(call))
    )


def handoff(context: SessionContext, request: SessionHandoffRequest, call: Call) -> HandoffAnswer:
    """Make a snapshot with a briefing, and resolve the session. Raises as `snapshot`."""
    if request.output:
        checked_name(request.output)
    completed = _completed(context, request, call)
    answer = context.operations.handoff(
        context.root, completed, request.output, context.origin(call)
    )
    context.leave(answer["session"]["session_id"])
    return session_pages.cut(answer)


def snapshots(
    context: SessionContext, request: SessionSnapshotListRequest, _call: Call
) -> SnapshotListAnswer:
    """List manifests, newest first, of all repositories, since a pack may come from elsewhere.

    Raises as `open_`.
    """
    session_id = _id(request.session_id)
    return session_pages.cut(context.operations.snapshots(session_id=session_id))


def snapshot_shown(
    context: SessionContext, request: SessionSnapshotGetRequest, _call: Call
) -> SnapshotGetAnswer:
    """Return the content of a snapshot. Raises as `open_`."""
    snapshot_id = checked_id(request.snapshot_id.strip(), "snapshot_id")
    return session_pages.cut(context.operations.content(snapshot_id))


def difference(
    context: SessionContext, request: SessionSnapshotDiffRequest, _call: Call
) -> SnapshotDiffAnswer:
    """Return the differences between two snapshots. Raises as `open_`."""
    a = checked_id(request.snapshot_a.strip(), "snapshot_a")
    b = checked_id(request.snapshot_b.strip(), "snapshot_b")
    return session_pages.cut(context.operations.difference(a, b))


def resume(context: SessionContext, request: SessionResumeRequest, call: Call) -> ResumeAnswer:
    """Prime this root with a snapshot, and make its session the current one.

    Raises as `open_`.
    """
    snapshot_id = checked_id(request.snapshot_id.strip(), "snapshot_id")
    answer = context.operations.resume(
        context.root, snapshot_id, call.who, request.budget_tokens,
        origin=context.origin(call), memory=request.memory,
    )  # fmt: skip
    context.work_on(answer["session_id"], call.connection)
    return session_pages.cut(answer)


def _named(context: SessionContext, name: str, call: Call) -> str:
    """Return the id of the named session, else of the current one; "" for neither."""
    return _id(name) or context.current(call.connection)


def _completed(
    context: SessionContext, request: SessionSnapshotRequest, call: Call
) -> SessionSnapshotRequest:
    """Return the request with the session and the agent that it leaves to the call."""
    return replace(
        request,
        session_id=_named(context, request.session_id, call),
        source_harness=request.source_harness or call.who.get("harness", ""),
    )


def _id(text: str) -> str:
    """Return a session's id without blanks around it; "" if there is none.

    Raises:
        InvalidRequest: it is not valid.
    """
    text = text.strip()
    return checked_id(text) if text else ""
