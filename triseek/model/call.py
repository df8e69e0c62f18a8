"""One call of a tool: its caller, and callbacks for cancellation and progress."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.model.index import Progress, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def never() -> bool:
    """Return False. The default `cancelled` callback."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The caller of a tool, and callbacks for cancellation and progress."""

    conversation: str | None = None
    """The name of the context window that the answer goes to; None if not known."""
    has_in_view: Callable[[str], bool] | None = None
    """Returns whether that context certainly has a search's whole answer, by its `search_id`, still
    in view; None if it has what it was given until a hook reports that it has not."""
    who: Mapping[str, str] = field(default_factory=dict)
    """How the client identifies itself: any of `harness`, `session`, `agent`, `call`."""
    connection: str = ""
    """The name of the connection that the call came by; "" if each call stands alone."""
    is_recorded: bool = True
    """Whether the call is an agent's work: kept in logs, counted for scores."""
    cancelled: Callable[[], bool] = never
    progress: Progress = no_progress
