"""The table of tools: what each is called, what it takes, and who answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.model import results, tools
from triseek.model.context_pack import ContextPack, ContextPackRequest
from triseek.model.tool import Tool
from triseek.service import finding, indexing, memo, packing, searching, session_tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from triseek.model.tool import Toolset

TOOLSETS: tuple[Toolset, ...] = ("search", "memo", "session")
"""All of them are offered unless somebody chooses."""
_SEARCH = (
    "version repo_root strategy fallback_used routing_reason cache search_id freshness "
    "files_with_matches total_line_matches results.path results.reason results.count "
    "results.matches.line results.matches.column results.matches.preview results_omitted truncated "
    "next_offset"
)
_SEARCHES = (results.SearchAnswer, results.HydratedAnswer, results.ReusedAnswer)
_SNAPSHOT = "snapshot_id snapshot_dir manifest"

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="find_files",
        title="Find files",
        toolset="search",
        request=tools.FindFilesRequest,
        results=_SEARCHES,
        listed=(
            "version results.path results.reason search_id results_omitted truncated next_offset"
        ),
        answer=finding.find,
        kind="search",
    ),
    Tool(
        name="search_content",
        title="Search contents",
        toolset="search",
        request=tools.SearchContentRequest,
        results=_SEARCHES,
        listed=_SEARCH,
        answer=searching.search_content,
        kind="search",
    ),
    Tool(
        name="search_path_and_content",
        title="Search contents of some files",
        toolset="search",
        request=tools.SearchPathAndContentRequest,
        results=_SEARCHES,
        listed=_SEARCH,
        answer=searching.search_path_and_content,
        kind="search",
    ),
    Tool(
        name="context_pack",
        title="Starting set for a task",
        toolset="search",
        request=ContextPackRequest,
        results=(ContextPack,),
        listed=(
            "version estimated_tokens truncated items.path items.score items.reasons "
            "suggested_next_steps"
        ),
        answer=packing.pack,
        kind="context_pack",
    ),
    Tool(
        name="index_status",
        title="Index status",
        toolset="search",
        request=tools.IndexStatusRequest,
        results=(results.IndexStatusAnswer,),
        listed="version index_present index_fresh indexed_files routing_hint",
        answer=indexing.index_status,
        kind="index_status",
    ),
    Tool(
        name="reindex",
        title="Reindex",
        toolset="search",
        request=tools.ReindexRequest,
        results=(results.ReindexAnswer,),
        listed="version completed rebuilt_full indexed_files",
        answer=indexing.reindex,
        kind="reindex",
        read_only=False,
    ),
    Tool(
        name="memo_status",
        title="What you have of files",
        toolset="memo",
        request=tools.MemoStatusRequest,
        results=(results.MemoStatusAnswer,),
        listed=(
            "session_id results.path results.status results.tokens results.read_count "
            "results.message results.current_tokens"
        ),
        answer=memo.status,
        kind="memo_status",
    ),
    Tool(
        name="memo_session",
        title="What you have read",
        toolset="memo",
        request=tools.MemoSessionRequest,
        results=(results.MemoSessionAnswer,),
        listed=(
            "session_id tracked_files total_reads redundant_reads_prevented "
            "tokens_saved compaction_count files.path files.status files.reads "
            "files.tokens"
        ),
        answer=memo.session,
        kind="memo_session",
    ),
    Tool(
        name="memo_check",
        title="Whether to read a file again",
        toolset="memo",
        request=tools.MemoCheckRequest,
        results=(results.MemoCheckAnswer,),
        listed=(
            "path status recommendation tokens_at_last_read current_tokens "
            "last_read_ago_seconds diff"
        ),
        answer=memo.check,
        kind="memo_check",
    ),
    Tool(
        name="session_open",
        title="Begin a work session",
        toolset="session",
        request=tools.SessionOpenRequest,
        results=(results.SessionAnswer,),
        listed="session",
        answer=session_tools.open_,
        kind="session_open",
        read_only=False,
        idempotent=False,
    ),
    Tool(
        name="session_status",
        title="How a session stands",
        toolset="session",
        request=tools.SessionStatusRequest,
        results=(results.SessionStatusAnswer,),
        listed="session action_log_size",
        answer=session_tools.status,
        kind="session_status",
    ),
    Tool(
        name="session_list",
        title="Sessions of this repository",
        toolset="session",
        request=tools.SessionListRequest,
        results=(results.SessionListAnswer,),
        listed="sessions",
        answer=session_tools.listed,
        kind="session_list",
    ),
    Tool(
        name="session_close",
        title="End a session",
        toolset="session",
        request=tools.SessionCloseRequest,
        results=(results.SessionAnswer,),
        listed="session",
        answer=session_tools.close,
        kind="session_close",
        read_only=False,
    ),
    Tool(
        name="session_snapshot",
        title="Keep a checkpoint",
        toolset="session",
        request=tools.SessionSnapshotRequest,
        results=(results.SnapshotAnswer,),
        listed=_SNAPSHOT,
        answer=session_tools.snapshot,
        kind="session_snapshot",
        read_only=False,
        idempotent=False,
    ),
    Tool(
        name="session_handoff",
        title="Hand the work off",
        toolset="session",
        request=tools.SessionHandoffRequest,
        results=(results.HandoffAnswer,),
        listed=_SNAPSHOT,
        answer=session_tools.handoff,
        kind="session_handoff",
        read_only=False,
        idempotent=False,
    ),
    Tool(
        name="session_snapshot_list",
        title="Checkpoints",
        toolset="session",
        request=tools.SessionSnapshotListRequest,
        results=(results.SnapshotListAnswer,),
        listed="snapshots",
        answer=session_tools.snapshots,
        kind="session_snapshot_list",
    ),
    Tool(
        name="session_snapshot_get",
        title="What a checkpoint holds",
        toolset="session",
        request=tools.SessionSnapshotGetRequest,
        results=(results.SnapshotGetAnswer,),
        listed="snapshot",
        answer=session_tools.snapshot_shown,
        kind="session_snapshot_get",
    ),
    Tool(
        name="session_snapshot_diff",
        title="Compare two checkpoints",
        toolset="session",
        request=tools.SessionSnapshotDiffRequest,
        results=(results.SnapshotDiffAnswer,),
        listed="diff",
        answer=session_tools.difference,
        kind="session_snapshot_diff",
    ),
    Tool(
        name="session_resume",
        title="Go on with handed work",
        toolset="session",
        request=tools.SessionResumeRequest,
        results=(results.ResumeAnswer,),
        listed="session_id payload_markdown payload_token_estimate hydration_report searches",
        answer=session_tools.resume,
        kind="session_resume",
        read_only=False,
    ),
)
"""In the order in which they are listed."""


def chosen(toolsets: Sequence[str]) -> tuple[Tool, ...]:
    """The tools of some toolsets."""
    return tuple(tool for tool in TOOLS if tool.toolset in toolsets)
