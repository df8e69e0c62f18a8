"""What the search tools of one agent work on: a root, and the answers it was given.

An answer is stored under the conversation and the question, with the journal's clock from before
its search began, so that it is not given to the conversation again. `search.reuse`
decides whether it still holds. Whether the asker still has it in view follows from the key: another
conversation has another key.
"""

from __future__ import annotations

from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from triseek.engine.engine import Engine
    from triseek.engine.freshness.journal import Clock
    from triseek.engine.tool_host import ToolHost
    from triseek.model.search import ScopeSpec

SNAPSHOTS_MAX = 64
"""Questions for which the scores of their first page are kept."""
ANSWERS_MAX = 256

Key: TypeAlias = "tuple[str, Hashable]"
"""The conversation, and the question in canonical form."""


class RememberedAnswer(NamedTuple):
    """An answer that was given."""

    search_id: str
    clock: Clock
    """Of the journal; everything that happened before it is included."""
    matched: frozenset[bytes] | None
    """Every path of the answer; None if there were too many to remember."""
    shown: frozenset[bytes]
    """The paths that were listed."""
    files_with_matches: int
    total_line_matches: int
    hydration: int = 0
    """The newest resume here at that time: one who resumes has seen no earlier answer."""
    scope: ScopeSpec | None = None
    """The files that were searched."""
    also: Hashable = ()
    """The state of those in `ScopeSpec.also`, which the journal does not report."""


class Answers:
    """The newest answers of one server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: LRUCache[Key, RememberedAnswer] = LRUCache(ANSWERS_MAX)
        self._numbers = count(1)

    def next_id(self) -> str:
        """Return an id for the next result set: search-0001 and so on."""
        return f"search-{next(self._numbers):04d}"

    def get(self, key: Key) -> RememberedAnswer | None:
        """Return the answer to this question in this conversation; None if there is none."""
        with self._lock:
            return self._answers.get(key)

    def put(self, key: Key, answer: RememberedAnswer) -> None:
        """Remember an answer; if there are too many, drop the least recently used."""
        with self._lock:
            self._answers[key] = answer

    def forget(self, key: Key) -> None:
        """Remove an answer that no longer holds."""
        with self._lock:
            self._answers.pop(key, None)


class SearchContext:
    """State that the search tools share. Thread-safe."""

    def __init__(self, host: ToolHost) -> None:
        """Answer for the root of `host`."""
        self.host = host
        self.answers = Answers()
        self._lock = Lock()
        self._scores: LRUCache[Hashable, Mapping[bytes, float]] = LRUCache(SNAPSHOTS_MAX)

    @property
    def engine(self) -> Engine:
        """The root's engine. Raises as `ToolHost.engine`."""
        return self.host.engine

    def scores(self, question: Hashable, offset: int) -> Mapping[bytes, float]:
        """Return the frecency scores that order an answer: for a later page, the first page's."""
        with self._lock:
            first_page = self._scores.get(question)
            if offset and first_page is not None:
                return first_page
        fresh = self.engine.scores()
        with self._lock:
            self._scores[question] = fresh
        return fresh
