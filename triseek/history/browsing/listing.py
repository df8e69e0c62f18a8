"""The timeline over all agents, and searches, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from triseek.errors import InvalidRequest
from triseek.history import lookup
from triseek.history.browsing.activity import day_of
from triseek.history.browsing.selection import Kind, ListingFilters, checked_kind
from triseek.history.context import now_ms
from triseek.history.reading.matching import OBSERVATIONS, Slice, searched
from triseek.model.plain_text import excerpt_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from triseek.history.service import History
    from triseek.recall.page import RecallHit

LIMIT_MAX = 100
OFFSET_MAX = 100_000
TEXT_MAX = 320
"""Most characters of a text in a listing."""
_DAY_HITS_MAX = 1_000
"""Most messages of a search that are looked through for those of one day."""


class ListedSession(TypedDict):
    """The conversation that an item is of."""

    id: int
    agent: str
    session: str
    project: str
    title: str


class ListedItem(TypedDict):
    """A conversation, a message or an observation of a listing."""

    kind: Kind
    id: int
    """The conversation's, message's or observation's number."""
    message: int
    """The message to open the conversation at; 0: its beginning."""
    label: str
    """The message's role, the observation's type, or of a conversation its branch."""
    time_ms: int
    day: str
    """`YYYY-MM-DD`, local; empty if unknown. With a filter by day, that day."""
    text: str
    """A part of the message or observation; of a conversation, what was found in it."""
    prompts: int
    """Of a conversation; otherwise 0."""
    conversation: ListedSession


class ListingReply(TypedDict):
    """A page of a listing."""

    is_kept: bool
    """Whether there is a history."""
    items: list[ListedItem]
    """Newest first; of a search, best first."""
    next_offset: int
    """Where the next page begins; 0 if this is the last."""
    total: int
    """How many a search has found; 0 of a timeline, which is not counted."""


def browse(
    history: History, query: str, kind: str, filters: ListingFilters, offset: int, limit: int
) -> ListingReply:
    """Return a page of what was done last or, with a query, of what answers it.

    Raises:
        InvalidRequest: A kind, a day, `offset` or `limit` is not possible.
    """
    if not (0 <= offset <= OFFSET_MAX and 1 <= limit <= LIMIT_MAX):
        raise InvalidRequest(
            f"offset has to be from 0 to {OFFSET_MAX:,}, limit from 1 to {LIMIT_MAX}"
        )
    kind = checked_kind(kind)
    _ = filters.span
    if not history.exists():
        return ListingReply(is_kept=False, items=[], next_offset=0, total=0)
    if not query.strip():
        with history.database.read() as connection:
            items = _newest(connection, kind, filters, Slice(limit=limit + 1, offset=offset))
        is_more, total = len(items) > limit, 0
    elif kind == "observation":
        items, total = _observations_about(
            history, query, filters, Slice(limit=limit, offset=offset)
        )
        is_more = total > offset + limit
    else:
        items, total = _recalled(history, query, kind, filters, offset, limit)
        is_more = total > offset + limit
    next_offset = offset + limit if is_more else 0
    return ListingReply(is_kept=True, items=items[:limit], next_offset=next_offset, total=total)


def _newest(
    connection: sqlite3.Connection, kind: Kind, filters: ListingFilters, part: Slice
) -> list[ListedItem]:
    if kind == "session":
        where = filters.of_sessions()
        where.add("NOT s.is_sub_agent")
        rows = connection.execute(
            f"SELECT s.id FROM sessions s WHERE {where.sql}"  # noqa: S608
            " ORDER BY s.started_at_epoch DESC, s.id DESC LIMIT ? OFFSET ?",
            (*where.parameters, part.limit, part.offset),
        ).fetchall()
        return _present(_session(connection, row[0], filters.day) for row in rows)
    if kind == "message":
        where = filters.of_records("m")
        rows = connection.execute(
            f"SELECT m.id FROM messages m WHERE {where.sql}"  # noqa: S608
            " ORDER BY m.created_at_epoch DESC, m.session_id DESC, m.id DESC LIMIT ? OFFSET ?",
            (*where.parameters, part.limit, part.offset),
        ).fetchall()
        return _present(_message(connection, row[0]) for row in rows)
    where = filters.of_observations(now_ms())
    rows = connection.execute(
        f"SELECT o.id FROM observations o WHERE {where.sql}"  # noqa: S608
        " ORDER BY o.created_at_epoch DESC, o.id DESC LIMIT ? OFFSET ?",
        (*where.parameters, part.limit, part.offset),
    ).fetchall()
    return _present(_observation(connection, row[0]) for row in rows)


def _observations_about(
    history: History, query: str, filters: ListingFilters, part: Slice
) -> tuple[list[ListedItem], int]:
    where = filters.of_observations(now_ms())
    with history.database.read() as connection:
        hits = searched(connection, OBSERVATIONS, query, where, part)
        items = _present(_observation(connection, number) for number in hits.ids)
    return items, hits.total


def _recalled(
    history: History, query: str, kind: Kind, filters: ListingFilters, offset: int, limit: int
) -> tuple[list[ListedItem], int]:
    """Search sessions or messages by what was said."""
    by: Literal["session", "message"] = "message" if kind == "message" else "session"
    where, span = filters.of_sessions(), filters.span
    with history.database.read() as connection:
        numbers = None
        if where.conditions:
            rows = connection.execute(
                f"SELECT s.id FROM sessions s WHERE {where.sql}",  # noqa: S608
                where.parameters,
            )
            numbers = [row[0] for row in rows]
    is_message_of_day = kind == "message" and span is not None
    page = history.recall.search(
        query, by=by, sessions=numbers, since_ms=span[0] if span else 0,
        limit=_DAY_HITS_MAX if is_message_of_day else limit,
        offset=0 if is_message_of_day else offset,
    )  # fmt: skip
    with history.database.read() as connection:
        items = _present(_hit(connection, hit, kind, filters.day) for hit in page.hits)
    if not is_message_of_day:
        return items, page.total
    items = [item for item in items if item["day"] == filters.day]
    return items[offset : offset + limit], len(items)


def _hit(connection: sqlite3.Connection, hit: RecallHit, kind: Kind, day: str) -> ListedItem | None:
    """Return a hit with the part of the message that was found."""
    item = _message(connection, hit.message_id, hit.span)
    if item is None or kind == "message":
        return item
    session = _session(connection, hit.session_id, day)
    return session and ListedItem(**{**session, "text": item["text"], "message": hit.message_id})


def _session(connection: sqlite3.Connection, number: int, day: str) -> ListedItem | None:
    row = lookup.session(connection, number)
    if row is None:
        return None
    return ListedItem(
        kind="session",
        id=number,
        message=0,
        label=row["branch"],
        time_ms=row["started_ms"],
        day=day or day_of(row["started_ms"]),
        text="",
        prompts=row["prompts"],
        conversation=_listed(row),
    )


def _message(
    connection: sqlite3.Connection, number: int, span: tuple[int, int] = (0, TEXT_MAX)
) -> ListedItem | None:
    row = connection.execute(
        "SELECT session_id, role, created_at_epoch, text FROM messages WHERE id = ?", (number,)
    ).fetchone()
    session = row and lookup.session(connection, row[0])
    if not session:
        return None
    return ListedItem(
        kind="message",
        id=number,
        message=number,
        label=row[1],
        time_ms=row[2],
        day=day_of(row[2]),
        text=excerpt_line(row[3], *span),
        prompts=0,
        conversation=_listed(session),
    )


def _observation(connection: sqlite3.Connection, number: int) -> ListedItem | None:
    row = connection.execute(
        "SELECT session_id, type, created_at_epoch, title, subtitle, narrative, text"
        " FROM observations WHERE id = ?",
        (number,),
    ).fetchone()
    session = row and lookup.session(connection, row[0])
    if not session:
        return None
    before = connection.execute(
        "SELECT id FROM messages WHERE session_id = ? AND created_at_epoch <= ?"
        " ORDER BY created_at_epoch DESC, id DESC LIMIT 1",
        (row[0], row[2]),
    ).fetchone()
    title, *details = row[3:]
    detail = next((text for text in details if text), "")
    return ListedItem(
        kind="observation",
        id=number,
        message=before[0] if before else 0,
        label=row[1],
        time_ms=row[2],
        day=day_of(row[2]),
        text=excerpt_line(": ".join(part for part in (title, detail) if part), 0, TEXT_MAX),
        prompts=0,
        conversation=_listed(session),
    )


def _listed(row: lookup.SessionRow) -> ListedSession:
    return ListedSession(
        id=row["id"],
        agent=row["agent"],
        session=row["session"],
        project=row["project"],
        title=" ".join(row["title"].split())[:TEXT_MAX],
    )


def _present(items: Iterable[ListedItem | None]) -> list[ListedItem]:
    """Return the items that have not been removed meanwhile."""
    return [item for item in items if item is not None]
