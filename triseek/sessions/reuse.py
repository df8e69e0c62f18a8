"""The answers a conversation has been given, so that it need not be given them again.

An answer is remembered under who asked and what was asked, with the clock of the journal before
its search began. Whether it still holds is for `engine.reuse` to say; whether the one who asks
still has it in view is a matter of the key: another conversation has another key.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from cachetools import LRUCache

if TYPE_CHECKING:
    from collections.abc import Hashable

    from triseek.engine.journal import Clock

ANSWERS_MAX = 256

Key: TypeAlias = "tuple[str, Hashable]"
"""The conversation, and the question in one spelling."""


class Answer(NamedTuple):
    """What was said."""

    search_id: str
    clock: Clock
    """Of the journal, everything that happened before taken in."""
    matched: frozenset[bytes] | None
    """Every path of the answer; None when there were too many to remember."""
    shown: frozenset[bytes]
    """Those that were listed."""
    files_with_matches: int
    total_line_matches: int
    hydration: int = 0
    """Which resume here was the newest then: one who resumes has seen no answer of before."""


class Answers:
    """The newest answers of one server; shared by threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._answers: LRUCache[Key, Answer] = LRUCache(ANSWERS_MAX)
        self._count = 0

    def next_id(self) -> str:
        """A name for the next result set: search-0001 and so on."""
        with self._lock:
            self._count += 1
            return f"search-{self._count:04d}"

    def get(self, key: Key) -> Answer | None:
        """What was said to this question in this conversation."""
        with self._lock:
            return self._answers.get(key)

    def put(self, key: Key, answer: Answer) -> None:
        """Remember; the one not asked for longest goes when there are too many."""
        with self._lock:
            self._answers[key] = answer

    def forget(self, key: Key) -> None:
        """It holds no more."""
        with self._lock:
            self._answers.pop(key, None)
