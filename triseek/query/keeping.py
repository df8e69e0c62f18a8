"""What is worked out from patterns, kept no longer than they are, and patterns by their size.

A count alone bounds no memory: what belongs to one pattern may be megabytes. So compiled patterns
are kept until their sizes together pass a limit, and what else is derived from a pattern is kept
in the pattern itself.
"""

from __future__ import annotations

from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from triseek.model.search import PatternSpec
    from triseek.query.pattern import Pattern

T = TypeVar("T")

PARTS_MAX = 400_000
"""Parts of all patterns that are kept. With what is built from it a part takes up to about 500
bytes."""
PARTS_LEAST = 1_000
"""As so many parts the smallest pattern counts."""


class Kept:
    """The patterns used last; safe to use from several threads."""

    def __init__(self, parts_max: int = PARTS_MAX) -> None:
        self._lock = Lock()
        self._patterns: LRUCache[PatternSpec, Pattern] = LRUCache(parts_max, _parts)

    def get(self, spec: PatternSpec) -> Pattern | None:
        """Return the pattern of a spec; None if it is not kept."""
        with self._lock:
            return self._patterns.get(spec)

    def put(self, pattern: Pattern) -> Pattern:
        """Keep a pattern, and let go of others; return the one that is kept for its spec."""
        with self._lock:
            if _parts(pattern) > self._patterns.maxsize:
                return pattern
            return self._patterns.setdefault(pattern.spec, pattern)


def _parts(pattern: Pattern) -> int:
    return max(pattern.size, PARTS_LEAST)


def with_pattern(work: Callable[[Pattern], T]) -> Callable[[Pattern], T]:
    """Work it out once for each pattern; the result is kept with the pattern."""

    @wraps(work)
    def kept(pattern: Pattern) -> T:
        results: dict[Any, Any] = pattern.derived
        if work not in results:
            results[work] = work(pattern)
        result: T = results[work]
        return result

    return kept
