"""What a session did: one action for each call of a tool."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeAlias

RECENT_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One thing that was done."""

    at_s: float
    """Unix time."""
    kind: str
    """search, read, context_pack, or the tool's name."""
    conversation: str | None
    """Who did it, where that is known."""
    payload: dict[str, Any] = field(default_factory=dict)
    """What was asked and what came of it, as JSON values; no file contents."""
    session_id: str = ""
    """The work session it belongs to; "" for the one that is open where it was done."""


Sink: TypeAlias = Callable[[Action], None]
"""Takes an action; called by several threads, and never to fail."""


class Recent:
    """A sink that keeps the last actions of this process, oldest first."""

    def __init__(self) -> None:
        self._actions: deque[Action] = deque(maxlen=RECENT_MAX)
        self._lock = Lock()

    def __call__(self, action: Action) -> None:
        """Keep it; the oldest goes when there are too many."""
        with self._lock:
            self._actions.append(action)

    def __iter__(self) -> Iterator[Action]:
        with self._lock:
            return iter(tuple(self._actions))

    def __len__(self) -> int:
        return len(self._actions)
