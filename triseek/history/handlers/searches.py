"""Handlers of search_observations, search_sessions, search_user_prompts and the find tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from triseek.history.context import now_ms
from triseek.history.handlers import checks
from triseek.history.reading import filters, matching, records
from triseek.history.reading.matching import OBSERVATIONS, PROMPTS, SUMMARIES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from triseek.history import requests, results
    from triseek.history.context import HistoryContext
    from triseek.history.reading.matching import Hits, Searched
    from triseek.model.call import Call

    _Record = TypeVar("_Record", results.SessionRecord, results.PromptRecord)


def search_observations(
    context: HistoryContext,
    request: requests.SearchObservationsRequest,
    _call: Call,
    *,
    agent: str = "",
) -> results.ObservationsAnswer:
    """Return the observations that match a query; with an agent, those of its sessions.

    Raises:
        InvalidQuery: An argument is out of its bounds, or is no time.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be read.
    """
    checks.in_bounds("search_observations", request)
    query = checks.not_empty(request.query, "query")
    asked = checks.record_filter(
        request, types=request.type, concepts=request.concepts, files=request.files
    )
    where = asked.of_observations(now_ms())
    if agent:
        where.add("o.session_id IN (SELECT id FROM sessions WHERE agent = ?)", agent)
    with context.database.read() as connection:
        hits = matching.searched(
            connection, OBSERVATIONS, query, where, checks.part(request, request.orderBy)
        )
        return _observations(context, connection, hits, request)


def search_sessions(
    context: HistoryContext, request: requests.SearchSessionsRequest, _call: Call
) -> results.SessionsAnswer:
    """Return the sessions whose summaries match a query. Raises as `search_observations`."""
    checks.in_bounds("search_sessions", request)
    where = checks.record_filter(request).of_summaries()
    hits, sessions = _searched(context, request, SUMMARIES, where, records.sessions)
    return {**checks.page(hits, request.offset), "format": request.format, "sessions": sessions}


def search_user_prompts(
    context: HistoryContext, request: requests.SearchUserPromptsRequest, _call: Call
) -> results.PromptsAnswer:
    """Return the prompts that match a query. Raises as `search_observations`."""
    checks.in_bounds("search_user_prompts", request)
    where = checks.record_filter(request).of_prompts()
    hits, prompts = _searched(context, request, PROMPTS, where, records.prompts)
    return {**checks.page(hits, request.offset), "format": request.format, "prompts": prompts}


def _searched(
    context: HistoryContext,
    request: requests.Search,
    table: Searched,
    where: filters.Where,
    read: Callable[..., list[_Record]],
) -> tuple[Hits, list[_Record]]:
    """Return the rows of a table that match, and their records as `read` makes them."""
    query = checks.not_empty(request.query, "query")
    with context.database.read() as connection:
        hits = matching.searched(
            connection, table, query, where, checks.part(request, request.orderBy)
        )
        is_full = request.format == "full"
        return hits, read(connection, hits.ids, is_full=is_full, scores=hits.scores)


def find_by_concept(
    context: HistoryContext, request: requests.FindByConceptRequest, _call: Call
) -> results.ObservationsAnswer:
    """Return the observations with a concept. Raises as `search_observations`."""
    checks.in_bounds("find_by_concept", request)
    concept = checks.not_empty(request.concept, "concept")
    return _found(context, request, checks.record_filter(request, concepts=(concept,)))


def find_by_type(
    context: HistoryContext, request: requests.FindByTypeRequest, _call: Call
) -> results.ObservationsAnswer:
    """Return the observations of some types. Raises as `search_observations`."""
    checks.in_bounds("find_by_type", request)
    checks.not_empty(" ".join(request.type), "type")
    return _found(context, request, checks.record_filter(request, types=request.type))


def find_by_file(
    context: HistoryContext, request: requests.FindByFileRequest, _call: Call
) -> results.FileAnswer:
    """Return the observations about a file, and their sessions; limit and offset are of each.

    Raises: as `search_observations`.
    """
    checks.in_bounds("find_by_file", request)
    path = checks.not_empty(request.filePath, "filePath")
    asked = checks.record_filter(request, files=(path,))
    where = asked.of_observations(now_ms())
    with context.database.read() as connection:
        hits = matching.listed(
            connection, OBSERVATIONS, where, checks.part(request, request.orderBy)
        )
        total, rows = _sessions_of(connection, where, request)
        answer = _observations(context, connection, hits, request)
        is_full = request.format == "full"
        sessions = records.sessions_by_row(connection, rows, is_full=is_full)
    shown = request.offset + request.limit
    answer["total"] += total
    if max(total, hits.total) > shown:
        answer["next_offset"] = shown
    return {**answer, "sessions": sessions}


def _sessions_of(
    connection: sqlite3.Connection, where: filters.Where, request: requests.FindByFileRequest
) -> tuple[int, list[int]]:
    """Return how many sessions observations have, and the rows of a page of them, newest first."""
    source = f"FROM observations o WHERE {where.sql} GROUP BY o.session_id"
    rows = connection.execute(
        f"SELECT o.session_id, max(o.created_at_epoch) AS time {source}"
        " ORDER BY time DESC, o.session_id DESC LIMIT ? OFFSET ?",
        (*where.parameters, request.limit, request.offset),
    ).fetchall()
    [[total]] = connection.execute(
        f"SELECT count(*) FROM (SELECT 1 {source})",  # noqa: S608
        where.parameters,
    )
    return total, [row[0] for row in rows]


def _found(
    context: HistoryContext, request: requests.Find, asked: filters.RecordFilter
) -> results.ObservationsAnswer:
    with context.database.read() as connection:
        hits = matching.listed(
            connection, OBSERVATIONS, asked.of_observations(now_ms()),
            checks.part(request, request.orderBy),
        )  # fmt: skip
        return _observations(context, connection, hits, request)


def _observations(
    context: HistoryContext, connection: sqlite3.Connection, hits: Hits, request: requests.Filters
) -> results.ObservationsAnswer:
    observations = records.observations(
        connection,
        hits.ids,
        is_full=request.format == "full",
        scores=hits.scores,
        freshness=context.freshness(connection, hits.ids),
    )
    return {
        **checks.page(hits, request.offset),
        "format": request.format,
        "observations": observations,
    }
