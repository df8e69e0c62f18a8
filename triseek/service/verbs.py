"""The table of tools: what each is called, what it takes, and who answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from triseek.model import tools
from triseek.model.context_pack import ContextPackRequest
from triseek.service import finding, indexing, memo, packing, searching, session_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Toolset: TypeAlias = Literal["search", "memo", "session"]
TOOLSETS: tuple[Toolset, ...] = ("search", "memo", "session")
"""All of them are offered unless somebody chooses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One tool."""

    name: str
    title: str
    toolset: Toolset
    request: type[Any]
    """Its docstrings are what agents are told."""
    answer: Callable[..., dict[str, Any]]
    """`answer(desk, request, call)`: the envelope. Raises `TriseekError`s."""
    kind: str
    """What an action of it is called."""
    read_only: bool = True
    idempotent: bool = True
    """Whether calling it again changes nothing more."""


VERBS: tuple[Verb, ...] = (
    Verb(
        name="find_files", title="Find files", toolset="search",
        request=tools.FindFilesRequest, answer=finding.find, kind="search",
    ),
    Verb(
        name="search_content", title="Search contents", toolset="search",
        request=tools.SearchContentRequest, answer=searching.search_content, kind="search",
    ),
    Verb(
        name="search_path_and_content", title="Search contents of some files", toolset="search",
        request=tools.SearchPathAndContentRequest, answer=searching.search_path_and_content,
        kind="search",
    ),
    Verb(
        name="context_pack", title="Starting set for a task", toolset="search",
        request=ContextPackRequest, answer=packing.pack, kind="context_pack",
    ),
    Verb(
        name="index_status", title="Index status", toolset="search",
        request=tools.IndexStatusRequest, answer=indexing.index_status, kind="index_status",
    ),
    Verb(
        name="reindex", title="Reindex", toolset="search", request=tools.ReindexRequest,
        answer=indexing.reindex, kind="reindex", read_only=False,
    ),
    Verb(
        name="memo_status", title="What you have of files", toolset="memo",
        request=tools.MemoStatusRequest, answer=memo.status, kind="memo_status",
    ),
    Verb(
        name="memo_session", title="What you have read", toolset="memo",
        request=tools.MemoSessionRequest, answer=memo.session, kind="memo_session",
    ),
    Verb(
        name="memo_check", title="Whether to read a file again", toolset="memo",
        request=tools.MemoCheckRequest, answer=memo.check, kind="memo_check",
    ),
    Verb(
        name="session_open", title="Begin a work session", toolset="session",
        request=tools.SessionOpenRequest, answer=session_tools.open_,
        kind="session_open", read_only=False, idempotent=False,
    ),
    Verb(
        name="session_status", title="How a session stands", toolset="session",
        request=tools.SessionStatusRequest, answer=session_tools.status,
        kind="session_status",
    ),
    Verb(
        name="session_list", title="Sessions of this repository", toolset="session",
        request=tools.SessionListRequest, answer=session_tools.listed,
        kind="session_list",
    ),
    Verb(
        name="session_close", title="End a session", toolset="session",
        request=tools.SessionCloseRequest, answer=session_tools.close,
        kind="session_close", read_only=False,
    ),
    Verb(
        name="session_snapshot", title="Keep a checkpoint", toolset="session",
        request=tools.SessionSnapshotRequest, answer=session_tools.snapshot,
        kind="session_snapshot", read_only=False, idempotent=False,
    ),
    Verb(
        name="session_handoff", title="Hand the work off", toolset="session",
        request=tools.SessionHandoffRequest, answer=session_tools.handoff,
        kind="session_handoff", read_only=False, idempotent=False,
    ),
    Verb(
        name="session_snapshot_list", title="Checkpoints", toolset="session",
        request=tools.SessionSnapshotListRequest, answer=session_tools.snapshots,
        kind="session_snapshot_list",
    ),
    Verb(
        name="session_snapshot_get", title="What a checkpoint holds", toolset="session",
        request=tools.SessionSnapshotGetRequest, answer=session_tools.snapshot_shown,
        kind="session_snapshot_get",
    ),
    Verb(
        name="session_snapshot_diff", title="Compare two checkpoints", toolset="session",
        request=tools.SessionSnapshotDiffRequest, answer=session_tools.difference,
        kind="session_snapshot_diff",
    ),
    Verb(
        name="session_resume", title="Go on with handed work", toolset="session",
        request=tools.SessionResumeRequest, answer=session_tools.resume,
        kind="session_resume", read_only=False,
    ),
)  # fmt: skip
"""In the order in which they are listed."""


def chosen(toolsets: Sequence[str]) -> tuple[Verb, ...]:
    """The verbs of some toolsets."""
    return tuple(verb for verb in VERBS if verb.toolset in toolsets)
