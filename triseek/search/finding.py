"""find_files: the paths that match a query. context_pack: the few files to start a task from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.engine.context_pack.pack import context_pack
from triseek.engine.ranking.find_files import PathQuery, find_files
from triseek.query.globs.scope import Scope
from triseek.search import envelopes, reuse, time_limit
from triseek.search.requests import LIMIT_MAX

if TYPE_CHECKING:
    from triseek.engine.ranking.find_files import FoundFiles
    from triseek.model.call import Call
    from triseek.model.context_pack import ContextPackRequest
    from triseek.search.context import SearchContext
    from triseek.search.requests import FindFilesRequest
    from triseek.search.results import ReusedAnswer, SearchAnswer, SearchResult

MATCHED_MAX = 20_000
"""Most paths of an answer that are remembered with it."""
NOTHING = (
    "No path has all of these words: try fewer, or search_content for what the file says. "
    "Ignored files are not listed."
)


def find(
    context: SearchContext, request: FindFilesRequest, call: Call
) -> SearchAnswer | ReusedAnswer:
    """Find files, or return that the conversation has the answer already.

    Raises:
        InvalidQuery: the query is empty, or is an invalid glob.
        RepoNotDetected: the root does not exist any more.
    """
    with time_limit.limited(call):
        return _answer(context, request, call)


def _answer(
    context: SearchContext, request: FindFilesRequest, call: Call
) -> SearchAnswer | ReusedAnswer:
    query, engine = PathQuery(request.query), context.engine
    limit = min(max(request.limit, 1), LIMIT_MAX)
    offset = max(request.offset, 0)
    question = ("find_files", request.query, limit, offset)
    turn = reuse.begin(context, call, question, forced=request.force_refresh)
    reused = turn.known(engine.root, lambda: _bearing(query))
    if reused is not None:
        return reused
    matches = find_files(engine, query, context.scores(("find_files", request.query), offset))
    listed = matches.paths[offset : offset + limit]
    results: list[SearchResult] = [
        {"path": envelopes.shown(path), "reason": "path_match"} for path in listed
    ]
    answer: SearchAnswer = {
        **envelopes.head(engine.root),
        **envelopes.routed(matches.route, force_refreshed=request.force_refresh),
        "files_with_matches": len(matches.paths),
        "total_line_matches": 0,
        **turn.executed(_outcome(query, matches, listed)),
        "results": results,
        "truncated": False,
    }
    if not matches.paths:
        answer["next_step"] = NOTHING

    def page(most: int) -> SearchAnswer:
        if offset + most >= len(matches.paths):
            return answer
        return {
            **answer,
            "results": results[:most],
            "truncated": True,
            "next_offset": offset + most,
        }

    return envelopes.fit_page(page, len(results), 0)


def _outcome(query: PathQuery, matches: FoundFiles, listed: list[bytes]) -> reuse.SearchOutcome:
    return reuse.SearchOutcome(
        freshness=matches.freshness,
        indexed=matches.route.backend == "indexed",
        told=not Scope.compile(query.scope).brings_back,
        matched=frozenset(matches.paths) if len(matches.paths) <= MATCHED_MAX else None,
        shown=frozenset(listed),
        files=len(matches.paths),
        lines=0,
    )


def _bearing(query: PathQuery) -> reuse.Bearing:
    scope = Scope.compile(query.scope)

    def in_scope(path: bytes) -> bool:
        return query.accepts(path) and bool(scope.select([path])[0])

    return reuse.Bearing(in_scope, None)


def pack(context: SearchContext, request: ContextPackRequest, call: Call) -> dict[str, Any]:
    """Choose the few files to start a task from.

    Raises:
        InvalidQuery: the goal is blank, or there is no such intent.
        InvalidRequest: a changed file lies outside of the root.
        RepoNotDetected: the root does not exist any more.
    """
    engine = context.engine
    with time_limit.limited(call):
        answer = context_pack(engine, request, time_limit.until_deadline(call)).envelope()
    return answer | {"repo_root": envelopes.printable(engine.root)}
