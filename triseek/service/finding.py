"""find_files: paths, the likeliest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.engine.find_files import Query, find_files
from triseek.model.tools import LIMIT_MAX
from triseek.query.scope import Scope
from triseek.service import envelopes, reuse
from triseek.service.desk import working
from triseek.service.pages import fit

if TYPE_CHECKING:
    from triseek.engine.find_files import Found
    from triseek.model.results import ReusedAnswer, SearchAnswer, SearchResult
    from triseek.model.tools import FindFilesRequest
    from triseek.service.desk import Call, Desk

MATCHED_MAX = 20_000
"""Paths of an answer that are remembered with it."""
NOTHING = (
    "No path has all of these words: try fewer, or search_content for what the file says. "
    "Ignored files are not listed."
)


def find(desk: Desk, request: FindFilesRequest, call: Call) -> SearchAnswer | ReusedAnswer:
    """Find files, or say that the conversation has the answer already.

    Raises:
        InvalidQuery: the query is empty, or a glob that cannot be understood.
        RepoNotDetected: the root is gone.
    """
    with working(call):
        return _answer(desk, request, call)


def _answer(desk: Desk, request: FindFilesRequest, call: Call) -> SearchAnswer | ReusedAnswer:
    query, engine = Query(request.query), desk.engine
    limit = min(max(request.limit, 1), LIMIT_MAX)
    offset = max(request.offset, 0)
    question = ("find_files", request.query, limit, offset)
    turn = reuse.begin(desk, call, question, forced=request.force_refresh)
    known = turn.known(engine.root, lambda: _bearing(query))
    if known is not None:
        return known
    found = find_files(engine, query, desk.scores(("find_files", request.query), offset))
    listed = found.paths[offset : offset + limit]
    results: list[SearchResult] = [
        {"path": envelopes.shown(path), "reason": "path_match"} for path in listed
    ]
    answer: SearchAnswer = {
        **envelopes.head(engine.root),
        **envelopes.routed(found.route, force_refreshed=request.force_refresh),
        "files_with_matches": len(found.paths),
        "total_line_matches": 0,
        **turn.executed(_outcome(query, found, listed)),
        "results": results,
        "truncated": False,
    }
    if not found.paths:
        answer["next_step"] = NOTHING

    def page(most: int) -> SearchAnswer:
        if offset + most >= len(found.paths):
            return answer
        return {
            **answer,
            "results": results[:most],
            "truncated": True,
            "next_offset": offset + most,
        }

    return fit(page, len(results), 0)


def _outcome(query: Query, found: Found, listed: list[bytes]) -> reuse.Outcome:
    return reuse.Outcome(
        freshness=found.freshness,
        indexed=found.route.backend == "indexed",
        told=not Scope.compile(query.scope).brings_back,
        matched=frozenset(found.paths) if len(found.paths) <= MATCHED_MAX else None,
        shown=frozenset(listed),
        files=len(found.paths),
        lines=0,
    )


def _bearing(query: Query) -> reuse.Bearing:
    scope = Scope.compile(query.scope)

    def in_scope(path: bytes) -> bool:
        return query.accepts(path) and bool(scope.select([path])[0])

    return reuse.Bearing(in_scope, None)
