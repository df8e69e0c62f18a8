"""The definitions of the files that were asked for last, so that no query unpacks them again.

The store of `engine.symbols` keeps more files, but reading one takes a millisecond.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import xxhash
from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.engine.symbols.symbols import FileSymbols

SYMBOLS_MAX = 1 << 16
"""Definitions that are kept: up to about 20 MB."""


class SymbolMemo:
    """Definitions of files, by name and content; thread-safe."""

    def __init__(self, parse: Callable[[bytes, bytes], FileSymbols]) -> None:
        """Keep what `parse` returns for a path and a text, unless something went wrong."""
        self._parse = parse
        self._lock = threading.Lock()
        self._kept: LRUCache[tuple[bytes, bytes], FileSymbols] = LRUCache(SYMBOLS_MAX, _size)

    def of(self, path: bytes, text: bytes) -> FileSymbols:
        """Return the definitions in a file. The errors are those of `parse`."""
        key = (path[path.rfind(b"/") + 1 :], xxhash.xxh3_128_digest(text))
        with self._lock:
            kept = self._kept.get(key)
        if kept is not None:
            return kept
        result = self._parse(path, text)
        if not result.problem and _size(result) <= SYMBOLS_MAX:
            with self._lock:
                self._kept[key] = result
        return result


def _size(symbols: FileSymbols) -> int:
    return 1 + len(symbols.symbols)
