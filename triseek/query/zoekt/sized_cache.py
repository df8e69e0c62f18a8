"""A cache of what is made of texts, bounded by their length: a query may be 100,000 characters."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

V = TypeVar("V")
_LEAST = 200
"""Characters that an entry counts for at least."""


class _Entry(NamedTuple, Generic[V]):
    value: V
    size: int


class SizedCache(Generic[V]):
    """Values by keys; the least recently used ones make room for others. Thread-safe."""

    def __init__(self, chars_max: int) -> None:
        """Keep values of texts of so many characters in total."""
        self._entries: LRUCache[Hashable, _Entry[V]] = LRUCache(chars_max, lambda e: e.size)
        self._lock = threading.Lock()

    def get(self, key: Hashable, length: int, make: Callable[[], V]) -> V:
        """Return the value of a key, made by `make` if it is not there.

        length: characters of the text that the value is made of. A value of a text that is longer
            than the whole cache is not kept.
        """
        with self._lock:
            entry = self._entries.get(key)
        if entry is None:
            entry = _Entry(make(), max(length, _LEAST))
            with self._lock:
                if entry.size <= self._entries.maxsize:
                    self._entries[key] = entry
        return entry.value
