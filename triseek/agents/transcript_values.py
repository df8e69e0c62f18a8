"""Converts values of agents' transcripts into those of `model.conversation`."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_MS_MIN = 100_000_000_000
"""A larger number is a time in milliseconds: in seconds it would be the year 5138."""
_MS_MAX = 100_000_000_000_000
LONG = 200
"""Characters. A longer argument is not repeated in `ToolEvent.input`."""


def time_ms(value: object) -> int:
    """Return a time in Unix milliseconds; 0 if the value is none.

    Args:
        value: ISO 8601 text (UTC if it names no zone), or a number of seconds or milliseconds.
    """
    if isinstance(value, str):
        return _of_text(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    if not 0 < value < _MS_MAX:  # NaN is neither
        return 0
    return int(value if value >= _MS_MIN else value * 1000)


def _of_text(text: str) -> int:
    try:
        time = datetime.fromisoformat(text[:40])
    except ValueError:
        return 0
    if time.tzinfo is None:
        time = time.replace(tzinfo=UTC)
    try:
        return max(0, round(time.timestamp() * 1000))
    except (ValueError, OverflowError):
        return 0


def arguments(values: Mapping[str, object], held: Collection[str] = ()) -> str:
    """Return a tool's arguments as compact JSON, for `ToolEvent.input`.

    Args:
        values: The arguments, from JSON.
        held: Names of those that other fields of the event hold: left out if they are long.
    """
    kept = {name: value for name, value in values.items() if not (name in held and _is_long(value))}
    return compact(kept)


def compact(value: object) -> str:
    """Return a value from JSON as compact JSON; "" if it is nested too deeply."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError, TypeError):
        return ""


def _is_long(value: object) -> bool:
    return len(value if isinstance(value, str) else compact(value)) > LONG
