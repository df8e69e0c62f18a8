"""Times as texts, read and written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TIME_MAX = 253_402_300_799_999
"""The end of the year 9999, in Unix milliseconds."""


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
