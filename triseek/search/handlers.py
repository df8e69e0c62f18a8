"""Handlers of find_files, context_pack, index_status and reindex."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from triseek.engine import reindex_process
from triseek.engine.agent_scope import agent_scope
from triseek.engine.context_pack import pack
from triseek.engine.left_out import left_out
from triseek.engine.ranking import find_files as paths
from triseek.errors import InvalidRequest, OutOfTime
from triseek.files.tree import index_policy
from triseek.model import budget
from triseek.model.index import IndexStatus
from triseek.query.globs.scope import Scope
from triseek.search import envelopes, incomplete, pack_memory, reuse
from triseek.search.requests import LIMIT_MAX

if TYPE_CHECKING:
    from triseek.engine.engine import Engine
    from triseek.model.call import Call
    from triseek.model.context_pack import ContextPackRequest
    from triseek.model.search import ScopeSpec
    from triseek.search.context import SearchContext
    from triseek.search.requests import FindFilesRequest, IndexStatusRequest, ReindexRequest
    from triseek.search.results import (
        IndexStatusAnswer,
        ReindexAnswer,
        ReusedAnswer,
        SearchAnswer,
        SearchResult,
    )

MATCHED_MAX = 20_000
"""Most paths of an answer that are remembered with it."""
LEFT_OUT_S = 1.0
"""Seconds for counting what a search without results has left out."""
PARTLY = "stopped before the end; what is listed was found nearest to the root"
NOTHING = "No path has all of these words: try fewer, or search_content for what the file says."


def find_files(
    context: SearchContext, request: FindFilesRequest, call: Call
) -> SearchAnswer | ReusedAnswer:
    """Find files, or return that the conversation has the answer already.

    Raises:
        InvalidQuery: the query is empty, or is an invalid glob.
        RepoNotDetected: the root does not exist any more.
    """
    engine = context.engine
    query = paths.PathQuery(request.query, engine.root)
    hidden, ignored = request.hidden, request.ignored
    limit = min(max(request.limit, 1), LIMIT_MAX)
    offset = max(request.offset, 0)
    with envelopes.limited(call):
        scope = agent_scope(engine.root, query.globs, hidden=hidden, ignored=ignored)
        question = ("find_files", request.query, limit, offset, hidden, ignored)
        turn = reuse.begin(context, call, question, scope, forced=request.force_refresh)
        reused = turn.known(lambda: _bearing(query, scope))
        if reused is not None:
            return reused
        scores = context.scores(("find_files", request.query), offset)
        matches = paths.find_files(engine, query, scope, scores, envelopes.DEADLINE_S)
        count, listed = len(matches.paths), matches.paths[offset : offset + limit]
        results: list[SearchResult] = [
            {"path": envelopes.shown(path), "reason": "path_match"} for path in listed
        ]
        facts = turn.answer(
            matches.route,
            matches.freshness,
            matched=frozenset(matches.paths) if count <= MATCHED_MAX else None,
            shown=listed,
            files=count,
            complete=matches.complete,
        )
        answer: SearchAnswer = {**facts, "results": results, "truncated": False}
        if not matches.complete:
            answer["incomplete"] = f"{PARTLY}; {incomplete.way_on(context)}"
        elif not count:
            left = _left_out(engine, scope)
            answer["next_step"] = f"{NOTHING} {left.capitalize()}." if left else NOTHING

        def page(most: int) -> SearchAnswer:
            if offset + most >= count:
                return answer
            shown = results[:most]
            return {**answer, "results": shown, "truncated": True, "next_offset": offset + most}

        return envelopes.fit_page(page, len(results), 0)


def _left_out(engine: Engine, scope: ScopeSpec) -> str:
    """Return a clause on what was left out; "" if nothing was, or it takes long to find out."""
    with suppress(OutOfTime), budget.limited(LEFT_OUT_S):
        return left_out(engine, scope).described()
    return ""


def _bearing(query: paths.PathQuery, scope: ScopeSpec) -> reuse.Bearing:
    compiled = Scope.compile(scope)

    def in_scope(path: bytes) -> bool:
        return query.accepts(path) and bool(compiled.select([path])[0])

    return reuse.Bearing(in_scope, None)


def context_pack(context: SearchContext, request: ContextPackRequest, call: Call) -> dict[str, Any]:
    """Choose the few files to start a task from.

    Raises:
        InvalidQuery: the goal is blank, or there is no such intent.
        InvalidRequest: a changed file lies outside of the root.
        RepoNotDetected: the root does not exist any more.
    """
    engine = context.engine
    with envelopes.limited(call) as stop:
        way_on = incomplete.way_on(context)
        answer = pack_memory.packed(
            lambda asked: pack.context_pack(engine, asked, stop, envelopes.DEADLINE_S, way_on),
            request,
            engine.root,
            context.host.remembering,
        )
    return answer | {"repo_root": envelopes.printable(engine.root)}


def index_status(
    context: SearchContext, _request: IndexStatusRequest, _call: Call
) -> IndexStatusAnswer:
    """Return what the index holds, and whether it matches the tree.

    Raises:
        RepoNotDetected: the root does not exist any more.
    """
    engine = context.engine
    has_index = engine.has_index()
    status = IndexStatus(root=engine.root, index_dir="", present=False, fresh=False)
    clock = None
    if has_index:
        status = engine.status()
        clock, _ = engine.since()
    refused = None if has_index else index_policy.refusal(engine.root)
    is_building = not has_index and context.host.is_building(context.host.root)
    missing = "index_syncing" if is_building else "ripgrep_fallback"
    answer: IndexStatusAnswer = {
        **envelopes.head(engine.root),
        "index_present": status.present,
        # Changes that the index lacks may be known from events, and so be in every answer.
        "index_fresh": status.fresh or (status.present and clock is not None),
        "indexed_files": status.files,
        "index_bytes": status.index_bytes,
        "last_updated": _time(status.updated_ns),
        "repo_category": status.category,
        "routing_hint": "indexed_default" if status.present else missing,
    }
    if refused is not None:
        answer["not_indexed"] = f"{refused.reason}. {refused.next_step}"
    if not has_index:
        return answer
    answer["generation"] = status.generation
    answer["dirty_files"] = status.dirty
    if status.problem:
        answer["problem"] = status.problem
    trouble = context.host.trouble(engine)
    if trouble is not None and trouble.reason:
        fix = f"; to fix it: {trouble.fix}" if trouble.fix else ""
        answer["not_watched"] = f"{trouble.reason}{fix}"
    return answer


def reindex(context: SearchContext, request: ReindexRequest, call: Call) -> ReindexAnswer:
    """Update the index in another process; searches go on meanwhile.

    Raises:
        InvalidRequest: there is no index, and an agent may not have this folder indexed.
        Busy: another process is writing this index.
        StateUnwritable: there is nowhere to write it to.
        RepoNotDetected: the root does not exist any more.
        BackendFailure: that process failed.
    """
    engine, began = context.engine, time.perf_counter()
    refused = None if engine.has_index() else index_policy.refusal(engine.root)
    if refused is not None:
        raise InvalidRequest(refused.reason, next_step=refused.next_step)
    report = reindex_process.reindex(engine.root, request.mode, call.progress, call.cancelled)
    if engine.has_index():
        engine.indexed().catch_up()
    return {
        **envelopes.head(engine.root),
        "completed": True,
        "mode": request.mode,
        "rebuilt_full": report.rebuilt_full,
        "elapsed_ms": round((time.perf_counter() - began) * 1e3),
        "indexed_files": report.files_indexed,
    }


def _time(nanoseconds: int | None) -> str | None:
    if nanoseconds is None:
        return None
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
