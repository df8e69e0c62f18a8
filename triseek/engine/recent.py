"""The recent queries of one root, with their result paths and the paths opened afterwards."""

from __future__ import annotations

import math
import os
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUERIES_MAX = 500
PATHS_MAX = 20
"""Result paths kept for each query (the first ones). The same limit holds for selected paths."""
PATTERN_CHARACTERS_MAX = 1000
_KIND_CHARACTERS_MAX = 40


@dataclass(slots=True)
class RecentQuery:
    """One query, its results and which of them were opened."""

    at_s: float
    """Seconds since 1970."""
    pattern: str
    kind: str
    result_paths: list[bytes]
    selected: list[bytes] = field(default_factory=list)


class RecentQueryJson(TypedDict):
    """A `RecentQuery` as saved; path bytes that are not UTF-8 become surrogates."""

    at_s: float
    pattern: str
    kind: str
    result_paths: list[str]
    selected: list[str]


class Recent:
    """A bounded list of queries, newest last."""

    def __init__(self, queries: Iterable[RecentQuery] = ()) -> None:
        self._ring: deque[RecentQuery] = deque(queries, QUERIES_MAX)

    def __iter__(self) -> Iterator[RecentQuery]:
        return iter(self._ring)

    def __len__(self) -> int:
        return len(self._ring)

    def add(self, at_s: float, pattern: str, kind: str, paths: Sequence[bytes]) -> None:
        """Add a query; drop the oldest one if there are more than `QUERIES_MAX`."""
        self._ring.append(
            RecentQuery(
                at_s,
                pattern[:PATTERN_CHARACTERS_MAX],
                kind[:_KIND_CHARACTERS_MAX],
                list(paths[:PATHS_MAX]),
            )
        )

    def select(self, paths: Iterable[bytes]) -> None:
        """Record that each path was opened, in the newest query that has it as a result."""
        for path in paths:
            query = next((item for item in reversed(self._ring) if path in item.result_paths), None)
            if query is not None and path not in query.selected:
                query.selected.append(path)

    def as_json(self) -> list[RecentQueryJson]:
        """Return all queries as JSON values."""
        return [
            {
                "at_s": query.at_s,
                "pattern": query.pattern,
                "kind": query.kind,
                "result_paths": [os.fsdecode(path) for path in query.result_paths],
                "selected": [os.fsdecode(path) for path in query.selected],
            }
            for query in self._ring
        ]

    @classmethod
    def from_json(cls, body: object) -> Recent:
        """Read what `as_json` wrote; leave out invalid entries."""
        rows = body[-QUERIES_MAX:] if isinstance(body, list) else []
        return cls(query for query in map(_query, rows) if query is not None)


def _query(row: object) -> RecentQuery | None:
    if not isinstance(row, dict):
        return None
    at_s, pattern, kind = row.get("at_s"), row.get("pattern"), row.get("kind")
    if not (isinstance(at_s, float) and math.isfinite(at_s)):
        return None
    if not (isinstance(pattern, str) and isinstance(kind, str)):
        return None
    paths, selected = _paths(row.get("result_paths")), _paths(row.get("selected"))
    if paths is None or selected is None:
        return None
    return RecentQuery(
        at_s, pattern[:PATTERN_CHARACTERS_MAX], kind[:_KIND_CHARACTERS_MAX], paths, selected
    )


def _paths(names: object) -> list[bytes] | None:
    if not isinstance(names, list):
        return None
    try:
        return [os.fsencode(name) for name in names[:PATHS_MAX] if isinstance(name, str)]
    except ValueError:  # surrogates that encode no byte
        return None
