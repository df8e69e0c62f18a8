"""Which repositories each host holds, as it listed them a short while ago."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from triseek.model.code_search import Repository

FRESH_S = 30.0
PUT_OFF_S = 10.0
"""Seconds for which a host that did not list its repositories in time is not asked for them."""


class Holdings:
    """The lists of several hosts, each with its time. Any thread may use it."""

    def __init__(self, fresh_s: float = FRESH_S, put_off_s: float = PUT_OFF_S) -> None:
        self._fresh_s, self._put_off_s = fresh_s, put_off_s
        self._lock = threading.Lock()
        self._lists: dict[str, tuple[float, frozenset[str]]] = {}
        self._put_off: dict[str, float] = {}

    def put(self, host: str, repositories: Iterable[Repository]) -> None:
        """Keep the complete list of a host."""
        names = frozenset(repository.name for repository in repositories)
        with self._lock:
            self._lists[host] = (time.monotonic(), names)

    def drop(self, host: str) -> None:
        """Forget the list of a host, which may be another one now."""
        with self._lock:
            self._lists.pop(host, None)
            self._put_off.pop(host, None)

    def put_off(self, host: str) -> None:
        """Let `wanted` leave out a host for a while: each search would wait for it again."""
        with self._lock:
            self._put_off[host] = time.monotonic()

    def wanted(self, hosts: Iterable[str]) -> list[str]:
        """Return those of the hosts that are to be asked for their lists."""
        fresh, latest = self.fresh(), time.monotonic() - self._put_off_s
        with self._lock:
            waiting = {host for host, at in self._put_off.items() if at >= latest}
        return [host for host in hosts if host not in fresh and host not in waiting]

    def fresh(self) -> dict[str, frozenset[str]]:
        """Return the names of the repositories by host, of the lists that are fresh."""
        oldest = time.monotonic() - self._fresh_s
        with self._lock:
            return {host: names for host, (at, names) in self._lists.items() if at >= oldest}
