"""The session tools, as agents are offered them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.model.tool import Tool
from triseek.sessions import digest, handlers, requests, results

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_SNAPSHOT = "snapshot_id snapshot_dir manifest"

_READS = {"read_only": True, "idempotent": True}
_CHANGES = {"read_only": False, "idempotent": True}
_ADDS = {"read_only": False, "idempotent": False}
"""What a call does to the state: nothing, the same as a second call would, more each time."""


def _tool(
    name: str,
    title: str,
    listed: str,
    request: type[object],
    result: type[object],
    answer: Callable[..., object],
    effect: Mapping[str, bool],
    needs_toolset: tuple[tuple[str, str], ...] = (),
) -> Tool:
    return Tool(
        name=name,
        title=title,
        toolset="session",
        request=request,
        results=(result,),
        listed=listed,
        answer=answer,
        digest=digest.session_lines,
        kind=name,
        needs_toolset=needs_toolset,
        **effect,
    )


TOOLS: tuple[Tool, ...] = (
    _tool(
        "session_open", "Begin a work session", "session",
        requests.SessionOpenRequest, results.SessionAnswer, handlers.open_, _ADDS,
    ),
    _tool(
        "session_status", "How a session stands", "session action_log_size",
        requests.SessionStatusRequest, results.SessionStatusAnswer, handlers.status, _READS,
    ),
    _tool(
        "session_list", "Sessions of this repository", "sessions",
        requests.SessionListRequest, results.SessionListAnswer, handlers.listed, _READS,
    ),
    _tool(
        "session_close", "End a session", "session",
        requests.SessionCloseRequest, results.SessionAnswer, handlers.close, _CHANGES,
    ),
    _tool(
        "session_snapshot", "Keep a checkpoint", _SNAPSHOT,
        requests.SessionSnapshotRequest, results.SnapshotAnswer, handlers.snapshot, _ADDS,
    ),
    _tool(
        "session_handoff", "Hand the work off", _SNAPSHOT,
        requests.SessionHandoffRequest, results.HandoffAnswer, handlers.handoff, _ADDS,
    ),
    _tool(
        "session_snapshot_list", "Checkpoints", "snapshots",
        requests.SessionSnapshotListRequest, results.SnapshotListAnswer, handlers.snapshots, _READS,
    ),
    _tool(
        "session_snapshot_get", "What a checkpoint holds", "snapshot",
        requests.SessionSnapshotGetRequest, results.SnapshotGetAnswer, handlers.snapshot_shown,
        _READS,
    ),
    _tool(
        "session_snapshot_diff", "Compare two checkpoints", "diff",
        requests.SessionSnapshotDiffRequest, results.SnapshotDiffAnswer, handlers.difference,
        _READS,
    ),
    _tool(
        "session_resume", "Go on with handed work",
        "session_id payload_markdown payload_token_estimate hydration_report searches",
        requests.SessionResumeRequest, results.ResumeAnswer, handlers.resume, _CHANGES,
        needs_toolset=(("memory", "memory"),),
    ),
)  # fmt: skip
"""In the order in which they are listed."""
