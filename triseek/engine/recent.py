"""The last queries of one root: what was asked, what was found, what was then opened."""

from __future__ import annotations

import math
import os
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

QUERIES_MAX = 500
PATHS_MAX = 20
"""Result paths kept of each query, the first ones; and as many of those selected."""
PATTERN_CHARACTERS_MAX = 1000
_KIND_CHARACTERS_MAX = 40


@dataclass(slots=True)
class Query:
    """One query and what became of it."""

    at_s: float
    """Seconds since 1970."""
    pattern: str
    kind: str
    result_paths: list[bytes]
    selected: list[bytes] = field(default_factory=list)


class Recent:
    """A ring of queries, newest last."""

    def __init__(self, queries: Iterable[Query] = ()) -> None:
        self._ring: deque[Query] = deque(queries, QUERIES_MAX)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._ring)

    def __len__(self) -> int:
        return len(self._ring)

    def add(self, at_s: float, pattern: str, kind: str, paths: Sequence[bytes]) -> None:
        """Remember a query; the oldest goes when there are too many."""
        self._ring.append(
            Query(
                at_s,
                pattern[:PATTERN_CHARACTERS_MAX],
                kind[:_KIND_CHARACTERS_MAX],
                list(paths[:PATHS_MAX]),
            )
        )

    def select(self, paths: Iterable[bytes]) -> None:
        """Note, with the newest query that found it, that each path was opened."""
        for path in paths:
            found = next((each for each in reversed(self._ring) if path in each.result_paths), None)
            if found is not None and path not in found.selected:
                found.selected.append(path)

    def as_json(self) -> list[dict[str, Any]]:
        """Say everything in what JSON can say; names that are not UTF-8 become surrogates."""
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
        """Read what `as_json` wrote; what it would not have written is left out."""
        rows = body[-QUERIES_MAX:] if isinstance(body, list) else []
        return cls(query for query in map(_query, rows) if query is not None)


def _query(row: object) -> Query | None:
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
    return Query(
        at_s, pattern[:PATTERN_CHARACTERS_MAX], kind[:_KIND_CHARACTERS_MAX], paths, selected
    )


def _paths(names: object) -> list[bytes] | None:
    if not isinstance(names, list):
        return None
    try:
        return [os.fsencode(name) for name in names[:PATHS_MAX] if isinstance(name, str)]
    except ValueError:  # surrogates that stand for no byte
        return None
