"""Times as texts for JSON."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import overload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIME_MAX = 253_402_300_799_999
"""The end of the year 9999, in Unix milliseconds."""


@overload
def rfc3339(time_ms: int) -> str: ...
@overload
def rfc3339(time_ms: None) -> None: ...
def rfc3339(time_ms: int | None) -> str | None:
    """Return Unix milliseconds in the form of RFC 3339, in UTC; None for None."""
    if time_ms is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=min(max(time_ms, 0), TIME_MAX))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def milliseconds(value: object) -> int | None:
    """Return the Unix milliseconds of a time from outside; None if it is none.

    value: A text of ISO 8601 (UTC if it names no zone), or a whole number of milliseconds.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return value if 0 <= value <= TIME_MAX else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value[:40])
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        time_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None
    return time_ms if 0 <= time_ms <= TIME_MAX else None
