"""Commands whose exit status is only in the agent's record, a moment after their hook."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.model.hook_event import Context

_CONTEXTS_MAX, _CALLS_MAX = 256, 16
_LOOKS_MAX = 8
"""How often a command's exit status is looked for."""


class UnendedCommands:
    """Commands of which it is not known yet how they ended, by context. Thread-safe."""

    def __init__(self) -> None:
        self._calls: LRUCache[Context, dict[str, int]] = LRUCache(_CONTEXTS_MAX)
        self._lock = Lock()

    def add(self, context: Context, call: str) -> None:
        """Remember a command."""
        with self._lock:
            calls = dict(list(self._calls.get(context, {}).items())[1 - _CALLS_MAX :])
            self._calls[context] = {**calls, call: 0}

    def of(self, context: Context) -> list[str]:
        """Return the calls of a context, oldest first."""
        with self._lock:
            return list(self._calls.get(context, ()))

    def looked(self, context: Context, found: Collection[str]) -> None:
        """Forget those that were found, and those that were looked for often enough."""
        with self._lock:
            calls = self._calls.get(context)
            if calls is not None:
                self._calls[context] = {
                    call: times + 1
                    for call, times in calls.items()
                    if call not in found and times + 1 < _LOOKS_MAX
                }
