"""The session tools, as agents are offered them."""

from __future__ import annotations

from functools import partial

from triseek.model.tool import Tool
from triseek.sessions import digest, handlers, requests, results

_SNAPSHOT = "snapshot_id snapshot_dir manifest"

_session_tool = partial(Tool, toolset="session", digest=digest.session_lines)

TOOLS: tuple[Tool, ...] = (
    _session_tool(
        name="session_open",
        title="Begin a work session",
        request=requests.SessionOpenRequest,
        results=(results.SessionAnswer,),
        listed="session",
        answer=handlers.open_,
        kind="session_open",
        read_only=False,
        idempotent=False,
    ),
    _session_tool(
        name="session_status",
        title="How a session stands",
        request=requests.SessionStatusRequest,
        results=(results.SessionStatusAnswer,),
        listed="session action_log_size",
        answer=handlers.status,
        kind="session_status",
    ),
    _session_tool(
        name="session_list",
        title="Sessions of this repository",
        request=requests.SessionListRequest,
        results=(results.SessionListAnswer,),
        listed="sessions",
        answer=handlers.listed,
        kind="session_list",
    ),
    _session_tool(
        name="session_close",
        title="End a session",
        request=requests.SessionCloseRequest,
        results=(results.SessionAnswer,),
        listed="session",
        answer=handlers.close,
        kind="session_close",
        read_only=False,
    ),
    _session_tool(
        name="session_snapshot",
        title="Keep a checkpoint",
        request=requests.SessionSnapshotRequest,
        results=(results.SnapshotAnswer,),
        listed=_SNAPSHOT,
        answer=handlers.snapshot,
        kind="session_snapshot",
        read_only=False,
        idempotent=False,
    ),
    _session_tool(
        name="session_handoff",
        title="Hand the work off",
        request=requests.SessionHandoffRequest,
        results=(results.HandoffAnswer,),
        listed=_SNAPSHOT,
        answer=handlers.handoff,
        kind="session_handoff",
        read_only=False,
        idempotent=False,
    ),
    _session_tool(
        name="session_snapshot_list",
        title="Checkpoints",
        request=requests.SessionSnapshotListRequest,
        results=(results.SnapshotListAnswer,),
        listed="snapshots",
        answer=handlers.snapshots,
        kind="session_snapshot_list",
    ),
    _session_tool(
        name="session_snapshot_get",
        title="What a checkpoint holds",
        request=requests.SessionSnapshotGetRequest,
        results=(results.SnapshotGetAnswer,),
        listed="snapshot",
        answer=handlers.snapshot_shown,
        kind="session_snapshot_get",
    ),
    _session_tool(
        name="session_snapshot_diff",
        title="Compare two checkpoints",
        request=requests.SessionSnapshotDiffRequest,
        results=(results.SnapshotDiffAnswer,),
        listed="diff",
        answer=handlers.difference,
        kind="session_snapshot_diff",
    ),
    _session_tool(
        name="session_resume",
        title="Go on with handed work",
        request=requests.SessionResumeRequest,
        results=(results.ResumeAnswer,),
        listed="session_id payload_markdown payload_token_estimate hydration_report searches",
        answer=handlers.resume,
        kind="session_resume",
        read_only=False,
    ),
)
"""In the order in which they are listed."""
