"""The search tools, as agents are offered them."""

from __future__ import annotations

from functools import partial

from triseek.model.context_pack import ContextPack, ContextPackRequest, ContextPackWithMemory
from triseek.model.tool import Tool
from triseek.search import digest, handlers, requests, results, searching

_SEARCH = (
    "version repo_root strategy fallback_used routing_reason cache search_id freshness "
    "files_with_matches total_line_matches results.path results.reason results.count "
    "results.matches.line results.matches.column results.matches.preview results_omitted truncated "
    "next_offset"
)
_tool = partial(Tool, toolset="search")
_search_tool = partial(
    _tool,
    results=(results.SearchAnswer, results.HydratedAnswer, results.ReusedAnswer),
    digest=digest.search_lines,
    kind="search",
    needs_toolset=(("backend", "cluster"),),
)

TOOLS: tuple[Tool, ...] = (
    _search_tool(
        name="find_files",
        title="Find files",
        request=requests.FindFilesRequest,
        listed=(
            "version results.path results.reason search_id results_omitted truncated next_offset"
        ),
        answer=handlers.find_files,
    ),
    _search_tool(
        name="search_content",
        title="Search contents",
        request=requests.SearchContentRequest,
        listed=_SEARCH,
        answer=searching.search_content,
    ),
    _search_tool(
        name="search_path_and_content",
        title="Search contents of some files",
        request=requests.SearchPathAndContentRequest,
        listed=_SEARCH,
        answer=searching.search_path_and_content,
    ),
    _tool(
        name="context_pack",
        title="Starting set for a task",
        request=ContextPackRequest,
        results=(ContextPack, ContextPackWithMemory),
        listed=(
            "version estimated_tokens truncated items.path items.score items.reasons "
            "suggested_next_steps"
        ),
        answer=handlers.context_pack,
        digest=digest.pack_lines,
        kind="context_pack",
        needs_toolset=(("memory", "memory"),),
    ),
    _tool(
        name="index_status",
        title="Index status",
        request=requests.IndexStatusRequest,
        results=(results.IndexStatusAnswer,),
        listed="version index_present index_fresh indexed_files routing_hint",
        answer=handlers.index_status,
        digest=digest.status_lines,
        kind="index_status",
    ),
    _tool(
        name="reindex",
        title="Reindex",
        request=requests.ReindexRequest,
        results=(results.ReindexAnswer,),
        listed="version completed rebuilt_full indexed_files",
        answer=handlers.reindex,
        digest=digest.reindex_lines,
        kind="reindex",
        read_only=False,
    ),
)
"""In the order in which they are listed."""
