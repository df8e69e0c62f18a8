"""What a request of Zoekt's JSON interface asks for, and what we make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from triseek.compat.go_json import Struct, Unreadable, decode
from triseek.model.code_search import CodeRequest

UNLIMITED = 1_000_000
"""Files and matches of a request that limits neither: Zoekt counts no more matches, either."""
TIME_S = 20.0
"""Time limit of a request that has none, as Zoekt's."""
CONTEXT_MAX = 1_000
"""Lines of context before and after a match."""
WHOLE_MAX = 200
"""Files whose content is asked for with the answer; of more, each is read when it is written."""

_OPTIONS = Struct(
    "SearchOptions",
    {
        "EstimateDocCount": "bool",
        "Whole": "bool",
        "ShardMaxMatchCount": "int",
        "TotalMaxMatchCount": "int",
        "ShardRepoMaxMatchCount": "int",
        "MaxWallTime": "time.Duration",
        "FlushWallTime": "time.Duration",
        "MaxDocDisplayCount": "int",
        "MaxMatchDisplayCount": "int",
        "NumContextLines": "int",
        "ChunkMatches": "bool",
        "UseBM25Scoring": "bool",
        "Trace": "bool",
        "DebugScore": "bool",
        "SpanContext": "map[string]string",
    },
)
_SEARCH = Struct("jsonSearchArgs", {"Q": "string", "RepoIDs": "[]uint32", "Opts": _OPTIONS})
_LIST = Struct(
    "jsonListArgs",
    {"Q": "string", "Opts": Struct("ListOptions", {"Field": "zoekt.RepoListField"})},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Zoekt's options of a search that have a meaning here; 0 stands for no limit."""

    max_files: int = 0
    max_matches: int = 0
    """Matches that are returned."""
    total_matches: int = 0
    """Matches that are looked for."""
    shard_matches: int = 0
    """Matches that are looked for in one repository."""
    matches_of_repository: int = 0
    context_lines: int = 0
    seconds: float = TIME_S
    chunks: bool = False
    whole: bool = False
    only_estimate: bool = False

    def request(self, query: str) -> CodeRequest:
        """Return the request to a source of code."""
        matches = min(filter(None, (self.max_matches, self.total_matches)), default=UNLIMITED)
        files = min(self.max_files or UNLIMITED, UNLIMITED)
        return CodeRequest(
            query=query,
            max_files=files,
            max_matches=min(matches, UNLIMITED),
            max_counted=self.shard_matches,
            seconds=self.seconds,
            whole=files <= WHOLE_MAX,  # lines are shown with their ends, files with checksums
        )


@dataclass(frozen=True, slots=True)
class SearchArguments:
    """A search."""

    query: str
    repository_ids: frozenset[int] | None
    options: Options


def search_arguments(body: bytes) -> SearchArguments:
    """Read the body of a search.

    Raises:
        Unreadable: The body is no such document, or has no query.
    """
    fields = decode(body, _SEARCH, "json")
    if not fields.get("Q"):
        raise Unreadable("missing query")
    ids = fields.get("RepoIDs")
    return SearchArguments(
        query=fields["Q"],
        repository_ids=None if ids is None else frozenset(ids),
        options=_options(fields.get("Opts", {})),
    )


def list_arguments(body: bytes) -> tuple[str, int]:
    """Return the query and the wanted field of a list.

    Raises:
        Unreadable: The body is no such document.
    """
    fields = decode(body, _LIST, "json")
    return fields.get("Q", ""), fields.get("Opts", {}).get("Field", 0)


def _options(fields: dict[str, Any]) -> Options:
    def limit(name: str) -> int:
        return max(0, int(fields.get(name, 0)))

    nanoseconds = fields.get("MaxWallTime", 0)
    return Options(
        max_files=limit("MaxDocDisplayCount"),
        max_matches=limit("MaxMatchDisplayCount"),
        total_matches=limit("TotalMaxMatchCount"),
        shard_matches=limit("ShardMaxMatchCount"),
        matches_of_repository=limit("ShardRepoMaxMatchCount"),
        context_lines=min(limit("NumContextLines"), CONTEXT_MAX),
        seconds=min(nanoseconds / 1e9, 3600.0) if nanoseconds > 0 else TIME_S,
        chunks=fields.get("ChunkMatches", False),
        whole=fields.get("Whole", False),
        only_estimate=fields.get("EstimateDocCount", False),
    )
