"""Dates of requests and answers, in the local time zone of the process that has the database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from triseek.errors import InvalidQuery
from triseek.model.moment import moment

DAY_MS = 86_400_000


def span(start: str | float, end: str | float) -> tuple[int | None, int | None]:
    """Return both ends of a request's dateRange in Unix milliseconds.

    Raises:
        InvalidQuery: An end is no time, or the span is empty.
    """
    first = moment(start, "dateRange.start")
    last = moment(end, "dateRange.end", is_end=True)
    if first is not None and last is not None and first > last:
        raise InvalidQuery(
            f"dateRange: start {start} is after end {end} (zone {zone()})",
            tool_step="Exchange start and end.",
        )
    return first, last


def shown(time_ms: int) -> str:
    """Return a time as `YYYY-MM-DD HH:MM`; `unknown` for 0."""
    moment_ = _local(time_ms)
    return moment_.strftime("%Y-%m-%d %H:%M") if moment_ else "unknown"


def day_and_time(time_ms: int) -> tuple[str, str]:
    """Return a time as `YYYY-MM-DD` and `HH:MM`; `unknown` and "" for 0."""
    day, _, time = shown(time_ms).partition(" ")
    return day, time


def zone() -> str:
    """Return the offset of the local time zone now, such as `UTC+02:00`."""
    offset = datetime.now().astimezone().utcoffset() or timedelta()
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _local(time_ms: int) -> datetime | None:
    if not time_ms:
        return None
    try:
        return datetime.fromtimestamp(time_ms / 1000, UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        return None
