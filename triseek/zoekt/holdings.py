"""Which repositories each host holds, as it listed them a short while ago."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.model.code_search import Repository

FRESH_S = 30.0


class Holdings:
    """The lists of several hosts, each with its time. Any thread may use it."""

    def __init__(self, fresh_s: float = FRESH_S) -> None:
        self._fresh_s = fresh_s
        self._lock = threading.Lock()
        self._lists: dict[str, tuple[float, frozenset[str]]] = {}

    def put(self, host: str, repositories: Iterable[Repository]) -> None:
        """Keep the complete list of a host."""
        names = frozenset(repository.name for repository in repositories)
        with self._lock:
            self._lists[host] = (time.monotonic(), names)

    def drop(self, host: str) -> None:
        """Forget the list of a host, which may be another one now."""
        with self._lock:
            self._lists.pop(host, None)

    def fresh(self) -> dict[str, frozenset[str]]:
        """Return the names of the repositories by host, of the lists that are fresh."""
        oldest = time.monotonic() - self._fresh_s
        with self._lock:
            return {host: names for host, (at, names) in self._lists.items() if at >= oldest}
