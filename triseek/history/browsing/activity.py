"""How many messages each day has, in the local time zone of this process."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from triseek.errors import InvalidRequest
from triseek.history.heat_map.layout import first_day

if TYPE_CHECKING:
    import sqlite3

QUARTER_MS = 15 * 60_000
"""All time zones differ from UTC by a multiple of this, so days are sums of quarters of an hour."""


def today() -> date:
    """Return the local date."""
    return datetime.now().astimezone().date()


def day_of(time_ms: int) -> str:
    """Return the local day of a time as `YYYY-MM-DD`; empty if it is unknown or no date."""
    if time_ms <= 0:
        return ""
    try:
        return datetime.fromtimestamp(time_ms / 1000).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def span_of(day: str) -> tuple[int, int]:
    """Return the first millisecond of a local day, and that of the next one.

    Raises:
        InvalidRequest: `day` is not `YYYY-MM-DD`.
    """
    try:
        first = date.fromisoformat(day)
        return _midnight_ms(first), _midnight_ms(first + timedelta(days=1))
    except (ValueError, OverflowError, OSError):
        raise InvalidRequest(f"day has to be a date such as 2026-10-21, not {day!r:.40}") from None


def messages_by_day(
    connection: sqlite3.Connection, last: date, *, agent: str = "", project: str = ""
) -> dict[str, int]:
    """Return the messages of each day that has some, of the heat map that ends with a day.

    Args:
        connection: The history.
        last: The last day.
        agent: Only this agent's.
        project: Only this project's, by its name or root folder.
    """
    rows = connection.execute(
        _BY_QUARTER if agent or project else _ALL_BY_QUARTER,
        {
            "first": _midnight_ms(first_day(last)),
            "end": _midnight_ms(last + timedelta(days=1)),
            "agent": agent,
            "project": project,
        },
    )
    days: Counter[str] = Counter()
    for quarter, count in rows:
        days[day_of(quarter * QUARTER_MS)] += count
    return dict(days)


_ALL_BY_QUARTER = f"""
SELECT created_at_epoch / {QUARTER_MS} AS quarter, count(*) FROM messages
WHERE created_at_epoch >= :first AND created_at_epoch < :end GROUP BY quarter ORDER BY quarter
"""  # noqa: S608 - a number of ours
_BY_QUARTER = f"""
SELECT created_at_epoch / {QUARTER_MS} AS quarter, count(*) FROM messages
JOIN sessions s ON s.id = session_id
WHERE created_at_epoch >= :first AND created_at_epoch < :end
    AND (:agent = '' OR s.agent = :agent)
    AND (:project = '' OR s.project = :project OR s.root = :project)
GROUP BY quarter ORDER BY quarter
"""  # noqa: S608


def _midnight_ms(day: date) -> int:
    return int(datetime.combine(day, time()).astimezone().timestamp() * 1000)
