"""Handlers of get_context_timeline, get_timeline_by_query, timeline and get_recent_context."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from triseek.errors import InvalidQuery
from triseek.history import times
from triseek.history.context import now_ms
from triseek.history.handlers import checks
from triseek.history.reading import matching, recent, records, timeline
from triseek.history.reading.filters import RecordFilter, Where
from triseek.history.reading.matching import OBSERVATIONS

if TYPE_CHECKING:
    import sqlite3

    from triseek.history import requests, results
    from triseek.history.context import HistoryContext
    from triseek.model.call import Call

    Windowed: TypeAlias = (
        requests.GetContextTimelineRequest
        | requests.GetTimelineByQueryRequest
        | requests.TimelineRequest
    )
    ByQuery: TypeAlias = results.TimelineAnswer | results.NoMatchAnswer | results.MatchesAnswer


def get_context_timeline(
    context: HistoryContext, request: requests.GetContextTimelineRequest, _call: Call
) -> results.TimelineAnswer:
    """Return the records around an anchor.

    Raises:
        InvalidQuery: The anchor names nothing, or a depth is out of its bounds.
        BackendFailure: No daemon runs.
    """
    checks.in_bounds("get_context_timeline", request)
    with context.database.read() as connection:
        return _around(context, connection, request, request.anchor)


def get_timeline_by_query(
    context: HistoryContext, request: requests.GetTimelineByQueryRequest, _call: Call
) -> ByQuery:
    """Return the records around the observation that matches best, or the best matches.

    Raises: as `get_context_timeline`.
    """
    checks.in_bounds("get_timeline_by_query", request)
    if request.mode == "auto":
        return _by_query(context, request, request.query)
    with context.database.read() as connection:
        hits = _best(connection, request.query, request.project, request.limit)
        best = records.observations(connection, hits.ids, is_full=True, scores=hits.scores)
    if not hits.total:
        return {"no_match": records.one_line(request.query)}
    return {**checks.page(hits, 0), "matches": best}


def timeline_(
    context: HistoryContext, request: requests.TimelineRequest, _call: Call
) -> results.TimelineAnswer | results.NoMatchAnswer:
    """Return the records around an anchor or the best match of a query.

    Raises: as `get_context_timeline`; InvalidQuery too if not exactly one of both is passed.
    """
    checks.in_bounds("timeline", request)
    has_anchor = request.anchor != ""
    if has_anchor == bool(request.query.strip()):
        raise InvalidQuery("anchor, query: exactly one is needed", tool_step="Pass one of both.")
    if not has_anchor:
        return _by_query(context, request, request.query)
    with context.database.read() as connection:
        return _around(context, connection, request, request.anchor)


def _by_query(
    context: HistoryContext,
    request: requests.GetTimelineByQueryRequest | requests.TimelineRequest,
    query: str,
) -> results.TimelineAnswer | results.NoMatchAnswer:
    with context.database.read() as connection:
        hits = _best(connection, query, request.project, 1)
        if not hits.ids:
            return {"no_match": records.one_line(query)}
        [best] = records.observations(connection, hits.ids, is_full=False)
        answer = _around(context, connection, request, best["id"])
    answer["anchor"] = f"Observation #{best['id']} - {best['title']}"
    answer["query"] = records.one_line(query)
    if hits.partial:
        answer["partial"] = True
    if hits.interpreted:
        answer["interpreted"] = hits.interpreted
    return answer


def _best(connection: sqlite3.Connection, query: str, project: str, limit: int) -> matching.Hits:
    where = RecordFilter(project=project).of_observations(now_ms())
    part = matching.Slice(order="relevance", limit=limit)
    return matching.searched(
        connection, OBSERVATIONS, checks.not_empty(query, "query"), where, part
    )


def _around(
    context: HistoryContext,
    connection: sqlite3.Connection,
    request: Windowed,
    anchor: str | int,
) -> results.TimelineAnswer:
    at = timeline.anchor(connection, anchor, request.project)
    items = timeline.around(
        connection, at, request.depth_before, request.depth_after, request.project, now_ms()
    )
    observed = [item["id"] for item in items if item["kind"] == "observation"]
    freshness = context.freshness(connection, observed)
    for item in items:
        if item["kind"] == "observation" and item["id"] in freshness:
            item["freshness"] = freshness[item["id"]]
    return {
        "anchor": records.one_line(str(anchor)),
        "before": request.depth_before,
        "after": request.depth_after,
        "items": items,
        "timezone": times.zone(),
        "date": times.shown(at.position.time_ms),
    }


def get_recent_context(
    context: HistoryContext, request: requests.GetRecentContextRequest, _call: Call
) -> results.RecentContextAnswer:
    """Return the last sessions of a project.

    Raises:
        InvalidQuery: The limit is out of its bounds.
        BackendFailure: No daemon runs.
    """
    checks.in_bounds("get_recent_context", request)
    place = context.place
    where = place.of_sessions()
    if request.project:
        where = Where()
        where.add("s.project = ? OR s.root = ?", request.project, request.project)
    with context.database.read() as connection:
        sessions = recent.recent_sessions(connection, where, request.limit, now_ms())
    name = records.one_line(request.project or place.name)
    return {"project": name, "sessions": sessions, "timezone": times.zone()}
