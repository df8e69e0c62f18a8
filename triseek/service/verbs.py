"""The table of tools: what each is called, what it takes, and who answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from triseek.model import tools
from triseek.model.context_pack import ContextPackRequest
from triseek.service import finding, indexing, memo, packing, searching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Toolset: TypeAlias = Literal["search", "memo"]
TOOLSETS: tuple[Toolset, ...] = ("search", "memo")
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
)  # fmt: skip
"""In the order in which they are listed."""


def chosen(toolsets: Sequence[str]) -> tuple[Verb, ...]:
    """The verbs of some toolsets."""
    return tuple(verb for verb in VERBS if verb.toolset in toolsets)
