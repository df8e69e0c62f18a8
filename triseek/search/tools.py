"""The search tools, as agents are offered them."""

from __future__ import annotations

from triseek.model.context_pack import ContextPack, ContextPackRequest
from triseek.model.tool import Tool
from triseek.search import digest, finding, indexing, requests, results, searching

_SEARCH = (
    "version repo_root strategy fallback_used routing_reason cache search_id freshness "
    "files_with_matches total_line_matches results.path results.reason results.count "
    "results.matches.line results.matches.column results.matches.preview results_omitted truncated "
    "next_offset"
)
_SEARCHES = (results.SearchAnswer, results.HydratedAnswer, results.ReusedAnswer)

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="find_files",
        title="Find files",
        toolset="search",
        request=requests.FindFilesRequest,
        results=_SEARCHES,
        listed=(
            "version results.path results.reason search_id results_omitted truncated next_offset"
        ),
        answer=finding.find,
        digest=digest.search_lines,
        kind="search",
    ),
    Tool(
        name="search_content",
        title="Search contents",
        toolset="search",
        request=requests.SearchContentRequest,
        results=_SEARCHES,
        listed=_SEARCH,
        answer=searching.search_content,
        digest=digest.search_lines,
        kind="search",
    ),
    Tool(
        name="search_path_and_content",
        title="Search contents of some files",
        toolset="search",
        request=requests.SearchPathAndContentRequest,
        results=_SEARCHES,
        listed=_SEARCH,
        answer=searching.search_path_and_content,
        digest=digest.search_lines,
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
        answer=finding.pack,
        digest=digest.pack_lines,
        kind="context_pack",
    ),
    Tool(
        name="index_status",
        title="Index status",
        toolset="search",
        request=requests.IndexStatusRequest,
        results=(results.IndexStatusAnswer,),
        listed="version index_present index_fresh indexed_files routing_hint",
        answer=indexing.index_status,
        digest=digest.status_lines,
        kind="index_status",
    ),
    Tool(
        name="reindex",
        title="Reindex",
        toolset="search",
        request=requests.ReindexRequest,
        results=(results.ReindexAnswer,),
        listed="version completed rebuilt_full indexed_files",
        answer=indexing.reindex,
        digest=digest.reindex_lines,
        kind="reindex",
        read_only=False,
    ),
)
"""In the order in which they are listed."""
