"""Checks of requests that their types do not make."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from triseek.errors import InvalidQuery
from triseek.history import times
from triseek.history.reading.filters import RecordFilter
from triseek.history.reading.matching import Slice
from triseek.history.requests import BOUNDS

if TYPE_CHECKING:
    from triseek.history.reading.matching import Hits
    from triseek.history.requests import Filters
    from triseek.history.results import Page

_NUMBER_MAX = 2**62
"""SQLite's whole numbers have 64 bits."""


def in_bounds(tool: str, request: Any) -> None:  # noqa: ANN401 - a tool's request
    """Check the whole numbers of a request.

    Raises:
        InvalidQuery: One is outside its bounds.
    """
    for field in dataclasses.fields(request):
        bounds = BOUNDS.get(f"{tool}.{field.name}") or BOUNDS.get(field.name)
        value = getattr(request, field.name)
        if isinstance(value, int) and abs(value) > _NUMBER_MAX:
            raise InvalidQuery(f"{field.name}: {value:.3g} is too large", tool_step="Correct it.")
        if bounds is None:
            continue
        least, most = bounds
        if value < least or (most is not None and value > most):
            allowed = f"from {least} to {most}" if most is not None else f"at least {least}"
            raise InvalidQuery(
                f"{field.name}: {value} is not {allowed}",
                tool_step=f"Pass {field.name} {allowed}.",
            )


def not_empty(value: str, name: str) -> str:
    """Return a text without the space around it.

    Raises:
        InvalidQuery: Nothing is left.
    """
    text = value.strip()
    if not text:
        raise InvalidQuery(f"{name} must not be empty", tool_step=f"Pass {name}.")
    return text


def record_filter(request: Filters, **more: tuple[str, ...]) -> RecordFilter:
    """Return which records a request asks for. Raises InvalidQuery as `times.span`."""
    start, end = times.span(request.dateRange.start, request.dateRange.end)
    fields = {name: tuple(filter(None, values)) for name, values in more.items()}
    return RecordFilter(project=request.project, start_ms=start, end_ms=end, **fields)


def part(request: Filters, order: str) -> Slice:
    """Return which of the matching records a request asks for."""
    return Slice(order=order, limit=request.limit, offset=request.offset)


def page(hits: Hits, offset: int) -> Page:
    """Return what an answer says of a page of matches."""
    head: Page = {"total": hits.total, "timezone": times.zone()}
    if offset + len(hits.ids) < hits.total and hits.ids:
        head["next_offset"] = offset + len(hits.ids)
    if hits.interpreted:
        head["interpreted"] = hits.interpreted
    if hits.partial:
        head["partial"] = True
    return head
