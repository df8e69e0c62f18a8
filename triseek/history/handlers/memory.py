"""Handlers of memory_search, get_observations, remember, supersede, pin and forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triseek.errors import InvalidQuery
from triseek.history import operations, references, times, writing
from triseek.history.context import now_ms
from triseek.history.handlers import checks, searches
from triseek.history.reading import records
from triseek.history.reading.filters import RecordFilter
from triseek.history.requests import SearchObservationsRequest

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from triseek.history import requests, results
    from triseek.history.context import Freshness, HistoryContext
    from triseek.model.call import Call
    from triseek.recall.page import RecallHit

EXCERPT_MAX = 300
"""Most characters of a message that are quoted."""
IDS_MAX = 100


def memory_search(
    context: HistoryContext, request: requests.MemorySearchRequest, call: Call
) -> results.ObservationsAnswer | results.RecallAnswer:
    """Return observations, or sessions or messages by what was said.

    Raises:
        InvalidQuery: An argument is out of its bounds, or is no time.
        BackendFailure: No daemon runs.
    """
    checks.in_bounds("memory_search", request)
    query = checks.not_empty(request.query, "query")
    if request.by == "observation":
        as_search = SearchObservationsRequest(
            query=query, project=request.project, dateRange=request.dateRange,
            limit=request.limit, offset=request.offset,
        )  # fmt: skip
        return searches.search_observations(context, as_search, call)
    start, end = times.span(request.dateRange.start, request.dateRange.end)
    with context.database.read() as connection:
        sessions = _sessions(connection, request.project, end)
    page = context.recall.search(
        query, by=request.by, limit=request.limit, offset=request.offset, sessions=sessions,
        since_ms=start or 0,
    )  # fmt: skip
    with context.database.read() as connection:
        rows = [_recalled(connection, hit) for hit in page.hits]
    answer: results.RecallAnswer = {
        "total": page.total,
        "timezone": times.zone(),
        "by": request.by,
        "results": [row for row in rows if row is not None],
    }
    if request.offset + len(page.hits) < page.total and page.hits:
        answer["next_offset"] = request.offset + len(page.hits)
    return answer


def _sessions(
    connection: sqlite3.Connection, project: str, end_ms: int | None
) -> frozenset[int] | None:
    """Return the rows of the sessions in which is searched; None for all."""
    if not project and end_ms is None:
        return None
    where = RecordFilter(project=project).of_summaries("s")
    if end_ms is not None:
        where.add("s.started_at_epoch <= ?", end_ms)
    rows = connection.execute(f"SELECT s.id FROM sessions s WHERE {where.sql}", where.parameters)  # noqa: S608
    return frozenset(row[0] for row in rows)


def _recalled(connection: sqlite3.Connection, hit: RecallHit) -> results.RecalledRecord | None:
    """Return what an answer says of a hit; None if it has been removed meanwhile."""
    row = connection.execute(
        "SELECT s.external_id, s.agent, s.title, m.role, m.text, m.created_at_epoch,"
        " s.started_at_epoch FROM messages m JOIN sessions s ON s.id = m.session_id"
        " WHERE m.id = ?",
        (hit.message_id,),
    ).fetchone()
    if row is None:
        return None
    external, agent, title, role, text, time_ms, began = row
    title = title or records.first_prompt(connection, hit.session_id)
    time_ms = time_ms or began
    record: results.RecalledRecord = {
        "session": external,
        "agent": agent,
        "title": records.one_line(title, 120) or f"Session {records.one_line(external)[:8]}",
        "date": times.shown(time_ms),
        "uri": f"{references.URI}session/{external}",
        "time_ms": time_ms,
        "score": round(hit.score, 3),
        "message": hit.message_id,
        "role": role,
        "excerpt": _excerpt(text, *hit.span),
    }
    if hit.copies:
        record["copies"] = hit.copies
    return record


def _excerpt(text: str, start: int, end: int) -> str:
    """Return a part of a text with some of what stands around it, in one line."""
    start = max(0, min(start, len(text)))
    room = max(0, EXCERPT_MAX - (end - start)) // 2
    first = max(0, start - room)
    shown = records.one_line(text[first : first + EXCERPT_MAX], EXCERPT_MAX)
    is_cut = first + EXCERPT_MAX < len(text)
    return ("…" if first else "") + shown + ("…" if is_cut and not shown.endswith("…") else "")


def get_observations(
    context: HistoryContext, request: requests.GetObservationsRequest, _call: Call
) -> results.RecordsAnswer:
    """Return records with all details; hidden ones too, for who asks for them by their ids.

    Raises:
        InvalidQuery: An id names no record, or there are none or too many.
        BackendFailure: No daemon runs.
    """
    _check_count(request.ids)
    asked = [(str(id_), references.parse(id_)) for id_ in request.ids]
    with context.database.read() as connection:
        return records_of(connection, asked, context.freshness)


def records_of(
    connection: sqlite3.Connection,
    asked: Sequence[tuple[str, references.Reference]],
    freshness: Freshness | None = None,
) -> results.RecordsAnswer:
    """Return records by what names them; with their freshness if it can be looked up."""
    answer: results.RecordsAnswer = {
        "observations": [], "sessions": [], "prompts": [], "missing": [],
        "timezone": times.zone(),
    }  # fmt: skip
    for name, reference in asked:
        if not _add(connection, answer, reference, freshness):
            answer["missing"].append(name[:200])
    return answer


def _add(
    connection: sqlite3.Connection,
    answer: results.RecordsAnswer,
    reference: references.Reference,
    freshness: Freshness | None,
) -> bool:
    """Add a record to an answer, and return whether it is there."""
    ids = [reference.number]
    if reference.kind == "observation":
        status = freshness(connection, ids) if freshness else None
        observations = records.observations(connection, ids, is_full=True, freshness=status)
        answer["observations"] += observations
        return bool(observations)
    if reference.kind == "prompt":
        prompts = records.prompts(connection, ids, is_full=True)
        answer["prompts"] += prompts
        return bool(prompts)
    if reference.kind == "summary":
        sessions = records.sessions(connection, ids, is_full=True)
    elif reference.kind == "session":
        row = references.session_row(connection, reference.text)
        rows = [] if row is None else [row]
        sessions = records.sessions_by_row(connection, rows, is_full=True)
    else:
        return False
    answer["sessions"] += sessions
    return bool(sessions)


def remember(
    context: HistoryContext, request: requests.RememberRequest, _call: Call
) -> results.KeptAnswer:
    """Write an observation.

    Raises:
        InvalidQuery: The text is empty, or an argument is out of its bounds.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be written.
    """
    checks.in_bounds("remember", request)
    place, now = context.place, now_ms()
    is_here = request.project in ("", place.name, place.root)
    draft = writing.Draft(
        text=request.text, title=request.title, type=request.type, concepts=request.concepts,
        files=request.files, pinned=request.pin,
        project=place.name if is_here else records.one_line(request.project, 200),
        root=place.root if is_here else "",
        valid_until=now + request.ttl_days * times.DAY_MS if request.ttl_days else None,
    )  # fmt: skip
    with context.database.write() as connection:
        id_, is_new = writing.remember(connection, draft, now)
        return _kept(connection, id_, "remembered" if is_new else "known")


def supersede(
    context: HistoryContext, request: requests.SupersedeRequest, _call: Call
) -> results.KeptAnswer:
    """Replace an observation. Raises as `remember`, and InvalidQuery if it cannot be replaced."""
    checks.in_bounds("supersede", request)
    with context.database.write() as connection:
        id_, _ = writing.supersede(connection, request.id, request.text, request.title, now_ms())
        answer = _kept(connection, id_, "superseded")
    answer["replaced"] = request.id
    return answer


def pin(context: HistoryContext, request: requests.PinRequest, _call: Call) -> results.KeptAnswer:
    """Pin an observation, or unpin it. Raises as `remember`."""
    checks.in_bounds("pin", request)
    with context.database.write() as connection:
        writing.pin(connection, request.id, on=request.on)
        return _kept(connection, request.id, "pinned" if request.on else "unpinned")


def forget(
    context: HistoryContext, request: requests.ForgetRequest, _call: Call
) -> results.ForgottenAnswer:
    """Remove records from every file of the history, or count them.

    Raises:
        InvalidQuery, InvalidRequest: An id names no record, or there are none or too many.
        BackendFailure: No daemon runs.
        StateUnwritable, StateCorrupt, Busy: The database cannot be written.
    """
    _check_count(request.ids)
    names = [str(id_) for id_ in request.ids]
    counts = operations.forget(context.service, names, dry_run=request.dry_run)
    return {
        "sessions": counts["sessions"],
        "messages": counts["messages"],
        "events": counts["events"],
        "observations": counts["observations"],
        "dry_run": request.dry_run,
    }


def _check_count(ids: Sequence[int | str]) -> None:
    if not 0 < len(ids) <= IDS_MAX:
        raise InvalidQuery(
            f"ids: {len(ids)} are not from 1 to {IDS_MAX}",
            tool_step=f"Pass 1 to {IDS_MAX} ids.",
        )


def _kept(connection: sqlite3.Connection, id_: int, action: results.Action) -> results.KeptAnswer:
    [record] = records.observations(connection, [id_], is_full=False)
    return {"id": id_, "title": record["title"], "uri": record["uri"], "action": action}
