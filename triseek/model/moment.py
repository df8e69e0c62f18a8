"""Points in time as people and agents write them, in the local time zone of the process."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, timedelta
from typing import overload

from triseek.errors import InvalidQuery

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED = re.compile(
    r"(?:(?:sun|mon|tue|wed|thu|fri|sat)[a-z]*,?\s+)?"
    r"(?:(?P<month>[a-z]{3,9})\.?\s+(?P<day>\d{1,2})|(?P<day2>\d{1,2})\s+(?P<month2>[a-z]{3,9}))"
    r",?\s+(?P<year>\d{4})(?:,?\s+(?P<time>\d{1,2}:\d{2}(?::\d{2})?))?(?P<utc>\s*(?:gmt|utc|z))?",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NEXT_STEP = "Pass an ISO date or time such as 2025-10-21T14:00:00Z, or Unix milliseconds."


def moment(value: str | float, name: str, *, is_end: bool = False) -> int | None:
    """Return a time of a request in Unix milliseconds; None for an empty text.

    Args:
        value: ISO date or time, a date such as `Sep 5 2025`, or Unix milliseconds.
        name: The argument, for the message.
        is_end: Whether a date alone means its last millisecond, and not its first.

    Raises:
        InvalidQuery: It is no time.
    """
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if not re.fullmatch(r"-?\d{9,}(?:\.\d+)?", text):
            return _moment_of_text(text, name, is_end=is_end)
        value = float(text)
    if not math.isfinite(value) or abs(value) > 8.64e15:  # the range of JavaScript's dates
        raise InvalidQuery(f"{name}: invalid timestamp {value!r}", tool_step=_NEXT_STEP)
    return int(value)


def _moment_of_text(text: str, name: str, *, is_end: bool) -> int:
    try:
        parsed, is_date = _parsed(text)
        milliseconds = round(parsed.timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidQuery(
            f"{name}: invalid timestamp: {text[:60]}", tool_step=_NEXT_STEP
        ) from None
    if is_date and is_end:
        return round((parsed + timedelta(days=1)).timestamp() * 1000) - 1
    return milliseconds


def _parsed(text: str) -> tuple[datetime, bool]:
    """Return a time, local if it names no zone, and whether it is a date alone."""
    named = _NAMED.fullmatch(text)
    if named is None:
        return datetime.fromisoformat(text), _DATE.fullmatch(text) is not None
    month = _MONTHS.index((named["month"] or named["month2"])[:3].lower()) + 1
    day = int(named["day"] or named["day2"])
    hour, minute, second, *_ = [*map(int, (named["time"] or "0:0:0").split(":")), 0]
    when = datetime(int(named["year"]), month, day, hour, minute, second)  # noqa: DTZ001 - local
    return (when.replace(tzinfo=UTC) if named["utc"] else when), named["time"] is None


@overload
def rfc3339(time_ms: int) -> str: ...


@overload
def rfc3339(time_ms: int | None) -> str | None: ...


def rfc3339(time_ms: int | None) -> str | None:
    """Return a time in UTC such as `2025-10-21T14:00:00.250Z`; None for None.

    time_ms: Unix milliseconds.
    """
    if time_ms is None:
        return None
    bounded = min(max(time_ms, -62_135_596_800_000), 253_402_300_799_999)  # years 1 to 9999
    text = datetime.fromtimestamp(bounded / 1000, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00").removesuffix(".000") + "Z"
