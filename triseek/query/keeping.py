"""What is worked out from patterns, kept no longer than they are, and patterns by their size.

A count alone bounds no memory: what belongs to one pattern may be megabytes. So compiled patterns
are kept until their sizes together pass a limit, and what else is derived from a pattern is kept
in the pattern itself.
"""

from __future__ import annotations

from collections import OrderedDict
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

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
        self._parts_max = parts_max
        self._lock = Lock()
        self._patterns: OrderedDict[PatternSpec, Pattern] = OrderedDict()
        self._parts = 0

    def get(self, spec: PatternSpec) -> Pattern | None:
        """Return the pattern of a spec; None if it is not kept."""
        with self._lock:
            pattern = self._patterns.get(spec)
            if pattern is not None:
                self._patterns.move_to_end(spec)
            return pattern

    def put(self, pattern: Pattern) -> Pattern:
        """Keep a pattern, and let go of others; return the one that is kept for its spec."""
        with self._lock:
            known = self._patterns.setdefault(pattern.spec, pattern)
            if known is pattern:
                self._parts += max(pattern.size, PARTS_LEAST)
            while self._parts > self._parts_max:
                _, oldest = self._patterns.popitem(last=False)
                self._parts -= max(oldest.size, PARTS_LEAST)
            return known


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
