"""The records around a moment: observations, summaries of sessions and prompts, in one order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from triseek.errors import InvalidQuery
from triseek.history import references, times
from triseek.history.reading import filters, records

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

    from triseek.history.results import TimelineItem

ItemKind: TypeAlias = Literal["prompt", "observation", "session"]
ORDER: tuple[ItemKind, ...] = ("prompt", "observation", "session")
"""Of records of the same millisecond: what was asked for, what was done, how it ended."""
EXCERPT_MAX = 100
_STEP = "Take an id from a search's answer."


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place on the timeline."""

    time_ms: int
    rank: int
    """Of the kind in `ORDER`; -1 before all records of that millisecond."""
    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """What a timeline is around."""

    position: Position
    is_record: bool
    """Whether it is a record, and not a time between records."""


_TABLES: Mapping[ItemKind, str] = {
    "prompt": "user_prompts", "observation": "observations", "session": "session_summaries",
}  # fmt: skip


def anchor(connection: sqlite3.Connection, value: str | int, project: str) -> Anchor:
    """Return the anchor that a request names.

    Raises:
        InvalidQuery: It names nothing, what it names is not there, or is not of the project.
    """
    reference = references.parse(value)
    if reference.kind == "time":
        return Anchor(position=Position(reference.number, -1, 0), is_record=False)
    if reference.kind == "session":
        return _session_anchor(connection, reference.text, project)
    kind: ItemKind = "session" if reference.kind == "summary" else reference.kind
    return _record_anchor(connection, kind, reference.number, project)


def _session_anchor(connection: sqlite3.Connection, text: str, project: str) -> Anchor:
    row = references.session_row(connection, text)
    if row is None:
        raise InvalidQuery(f"Session {text[:80]} not found", tool_step=_STEP)
    summary = references.last_summary(connection, row)
    if summary is not None:
        return _record_anchor(connection, "session", summary, project)
    [[name, root, began]] = connection.execute(
        "SELECT project, root, started_at_epoch FROM sessions WHERE id = ?", (row,)
    )
    _check_project(f"Session {text[:80]}", (name, root), project)
    return Anchor(position=Position(began, -1, 0), is_record=False)


def _record_anchor(
    connection: sqlite3.Connection, kind: ItemKind, id_: int, project: str
) -> Anchor:
    row = connection.execute(
        f"SELECT o.created_at_epoch, s.project, s.root FROM {_TABLES[kind]} o"  # noqa: S608
        " JOIN sessions s ON s.id = o.session_id WHERE o.id = ?",
        (id_,),
    ).fetchone()
    name = f"{'User prompt' if kind == 'prompt' else kind.capitalize()} #{id_}"
    if row is None:
        raise InvalidQuery(f"{name} not found", tool_step=_STEP)
    owner = row[1:]
    if kind == "observation":
        [owner] = connection.execute("SELECT project, root FROM observations WHERE id = ?", (id_,))
    _check_project(name, owner, project)
    return Anchor(position=Position(row[0], ORDER.index(kind), id_), is_record=True)


def _check_project(name: str, owner: tuple[str, str], project: str) -> None:
    if project and project not in owner:
        raise InvalidQuery(
            f"{name} is not of project {project[:80]!r}, but of {owner[0]!r}",
            tool_step="Leave project out, or pass that one.",
        )


def around(
    connection: sqlite3.Connection,
    at: Anchor,
    before: int,
    after: int,
    project: str,
    now_ms: int,
) -> list[TimelineItem]:
    """Return the records before an anchor, the anchor if it is one, and those after it."""
    earlier = sorted(_beside(connection, at, before, project, now_ms, is_before=True))
    later = sorted(_beside(connection, at, after, project, now_ms, is_before=False))
    positions = [
        *(earlier[-before:] if before else ()),
        *((at.position,) if at.is_record else ()),
        *later[:after],
    ]
    anchored = at.position if at.is_record else None
    return [_item(connection, position, position == anchored) for position in positions]


def _beside(
    connection: sqlite3.Connection,
    at: Anchor,
    limit: int,
    project: str,
    now_ms: int,
    *,
    is_before: bool,
) -> Iterator[Position]:
    """Yield of each kind the records nearest to an anchor on one side, without itself."""
    sign, order = ("<", "DESC") if is_before else (">", "ASC")
    own = at.position
    for rank, kind in enumerate(ORDER):
        where = filters.Where()
        if rank == own.rank:
            where.add(
                f"o.created_at_epoch {sign} ? OR (o.created_at_epoch = ? AND o.id {sign} ?)",
                own.time_ms, own.time_ms, own.id,
            )  # fmt: skip
        else:
            is_tie_inside = (rank < own.rank) == is_before
            where.add(f"o.created_at_epoch {sign}{'=' * is_tie_inside} ?", own.time_ms)
        if kind == "observation":
            where.add(filters.visible("o"), now_ms)
        else:  # what a sub-agent was asked for was written by an agent, and not by the user
            where.add("NOT s.is_sub_agent")
        if project:
            owner = "o" if kind == "observation" else "s"
            where.add(f"{owner}.project = ? OR {owner}.root = ?", project, project)
        rows = connection.execute(
            f"SELECT o.created_at_epoch, o.id FROM {_TABLES[kind]} o"  # noqa: S608
            f" JOIN sessions s ON s.id = o.session_id WHERE {where.sql}"
            f" ORDER BY o.created_at_epoch {order}, o.id {order} LIMIT ?",
            (*where.parameters, limit),
        )
        for time_ms, id_ in rows:
            yield Position(time_ms, rank, id_)


def _item(connection: sqlite3.Connection, position: Position, is_anchor: bool) -> TimelineItem:
    kind = ORDER[position.rank]
    day, time = times.day_and_time(position.time_ms)
    item: TimelineItem = {
        "kind": kind, "id": position.id, "title": "", "type": "", "number": 0, "tokens": 0,
        "day": day, "time": time, "time_ms": position.time_ms, "is_anchor": is_anchor,
    }  # fmt: skip
    if kind == "observation":
        [[title, type_, length]] = connection.execute(
            "SELECT title, type, length(narrative) FROM observations WHERE id = ?", (position.id,)
        )
        item["title"] = records.one_line(title) or f"Observation #{position.id}"
        item["type"], item["tokens"] = records.one_line(type_, 40), -(-length // 4)
    elif kind == "session":
        [session] = records.sessions(connection, [position.id], is_full=False)
        item["title"] = session["request"]
    else:
        [[text, number]] = connection.execute(
            "SELECT substr(prompt_text, 1, 1000), prompt_number FROM user_prompts WHERE id = ?",
            (position.id,),
        )
        item["title"], item["number"] = records.one_line(text, EXCERPT_MAX), number
    return item
