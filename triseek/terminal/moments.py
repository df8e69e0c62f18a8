"""Moments as people name them on the command line."""

from __future__ import annotations

import re
import time
from datetime import datetime

from triseek.errors import InvalidRequest

_DAYS = re.compile(r"(\d{1,5})d")
DAY_S = 86_400


def moment_ms(text: str, now_s: float | None = None) -> int:
    """Return a date, a time, or days before now (`30d`) as Unix milliseconds.

    Raises:
        InvalidRequest: The text is none of these.
    """
    days = _DAYS.fullmatch(text)
    if days:
        now = time.time() if now_s is None else now_s
        return int((now - int(days[1]) * DAY_S) * 1000)
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        raise InvalidRequest(
            f"invalid date {text!r:.40}", next_step="Write 2026-10-01, 2026-10-01T12:30 or 30d."
        ) from None
