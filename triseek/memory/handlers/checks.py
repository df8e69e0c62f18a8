"""Checks of requests that their types do not make."""

from __future__ import annotations

import dataclasses
from typing import Any

from triseek.errors import InvalidRequest
from triseek.memory.requests import BOUNDS
from triseek.model.moment import moment

NO_PALACE = (
    "Nothing is remembered of this project yet: memory_remember and kg_assert begin its palace; "
    "palace_list names others."
)


def in_bounds(request: Any) -> None:  # noqa: ANN401 - a tool's request
    """Check the numbers of a request.

    Raises:
        InvalidRequest: One is outside of its bounds.
    """
    for field in dataclasses.fields(request):
        if field.name not in BOUNDS:
            continue
        value, (least, most) = getattr(request, field.name), BOUNDS[field.name]
        if not least <= value <= most:  # so that NaN is refused, too
            raise InvalidRequest(
                f"{field.name}: {value:.12g} is not from {least:,} to {most:,}",
                tool_step=f"Pass {field.name} from {least:,} to {most:,}.",
            )


def since_ms(value: str | float) -> int:
    """Return the time of `since` in Unix milliseconds; 0 if there is none. Raises as `moment`."""
    return moment(value, "since") or 0


def no_palace() -> InvalidRequest:
    """Return the error of a call that needs a drawer of a project without a palace."""
    return InvalidRequest("this project has no palace yet", tool_step=NO_PALACE)


def query(value: str) -> str:
    """Return a query without the space around it.

    Raises:
        InvalidRequest: Nothing is left.
    """
    text = value.strip()
    if not text:
        raise InvalidRequest("the query is empty", tool_step="Pass query: words or a question.")
    return text
