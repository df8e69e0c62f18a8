"""Finds the drawers that have the words of a query.

There are three ways, of which the first that can be taken at once is taken: the recall index; the
same ranking by reading a small palace; SQLite's full-text index. The index is disposable: whatever
is wrong with its files, drawers are found without them, and it is written anew.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from triseek import errors
from triseek.kernels import cache
from triseek.memory import lexical, source
from triseek.recall import fresh, index, ranking, scan, scoring
from triseek.recall.engine import release_postings
from triseek.recall.part import Mix, rank_messages

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

    from triseek.recall.part import Part
    from triseek.store.sqlite import Database

logger = logging.getLogger(__name__)

Lane: TypeAlias = Literal["words", "scan", "full-text"]
"""The recall index; the same by reading the palace; SQLite's full-text index."""

SCANNED_MAX = 2_000
"""Drawers of a palace that is read rather than searched by full text: a fifth of a second."""
FLUSHED = 2_000
"""Drawers in memory from which on they are written to files."""
CLOSE_S = 2.0
"""Seconds that `close` waits for the files to be written."""
MIX = Mix(window=0.25, session=0.4, exact=0.15, best=0.2)
"""Chosen on one half of LoCoMo: docs/decisions/0042-one-recall-for-two-wings.md."""
_KERNELS = "triseek.kernels.recall"


@dataclass(frozen=True, slots=True)
class Filters:
    """Which drawers of a palace are searched. Words weigh as they do in all of it."""

    room_key: str = ""
    """"" for all rooms."""
    tag: str = ""
    """"" for all."""
    since_ms: int = 0
    """Only written at this Unix time or later."""
    deep: bool = False
    """Whether superseded drawers are searched, and every group is ranked by all of the formula."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The drawers that answer a query."""

    scores: dict[int, float] = field(default_factory=dict)
    """0 to 1, by the drawer's id, best first."""
    lane: Lane = "words"
    weights: dict[str, float] = field(default_factory=dict)
    """IDF in the palace by term, of the query's terms and the words that begin like them."""
    terms: tuple[str, ...] = ()
    """The query's terms, in order."""


class WordSearch:
    """Search by words over a memory database; thread-safe."""

    def __init__(self, folder: str, database: Database) -> None:
        """Open nothing yet. folder: That of the memory."""
        self._source = source.DrawerSource(database)
        self._index = index.Index(os.path.join(folder, "recall"), self._source)  # noqa: PTH118
        self._fresh = fresh.Fresh(self._source)
        self._lock = threading.Lock()
        self._tasks: dict[str, threading.Thread] = {}
        self._searches = 0
        self._groups: dict[int, np.ndarray[Any, Any]] = {}
        """By palace: int64, the ids of its groups, ascending. Ids of groups that are gone may be
        among them: no other group gets them."""

    def search(
        self,
        connection: sqlite3.Connection,
        opened: index.Opened | None,
        palace: int,
        query: str,
        most: int,
        filters: Filters,
    ) -> Ranked:
        """Return the best drawers. Raises as `Database.read`.

        Args:
            connection: A connection of the memory database.
            opened: What `open` has returned before anything was read with the connection.
            palace: The palace's id.
            query: Any text.
            most: The most drawers.
            filters: Which drawers to search.
        """
        parsed = ranking.parse(source.searched(query[: lexical.QUERY_MAX]))
        if most <= 0 or not (parsed.terms or parsed.months or parsed.years):
            return Ranked(terms=parsed.terms)
        segments = self._segments(connection, opened)
        groups = self._groups_of(connection, palace)
        if segments is not None:
            try:
                parts, weights = scoring.score(segments, parsed, groups, 0)
                scores = _scores(connection, palace, parts, parsed, most, filters)
                release_postings(segments)
            except errors.IndexCorrupt as error:
                self._drop(error)
            else:
                return Ranked(scores, "words", weights, parsed.terms)
        if source.drawers(connection, palace) <= SCANNED_MAX:
            parts, weights = scan.score(self._source.read(connection, groups.tolist()), parsed, 0)
            scores = _scores(connection, palace, parts, parsed, most, filters)
            return Ranked(scores, "scan", weights, parsed.terms)
        scores = lexical.search(
            connection, palace, query, most, room=filters.room_key, tag=filters.tag,
            since_ms=filters.since_ms, superseded=filters.deep,
        )  # fmt: skip
        return Ranked(scores, "full-text", {}, parsed.terms)

    def prepare(self) -> int:
        """Write what the index's files lack, and load the kernels; return the drawers indexed.

        Raises: as `Index.update`.
        """
        count = self._index.update()
        if cache.is_ready():
            _load_kernels()
        return count

    def purge(self) -> None:
        """Remove from the files what the database does not have. Raises as `Index.purge`."""
        try:
            has_files = bool(self._index.open().segments)
        except errors.IndexCorrupt:
            self._index.drop()
        else:
            if has_files:
                self._index.purge()

    def close(self) -> None:
        """Wait a moment for files that are being written."""
        with self._lock:
            writing = self._tasks.get("update")
        if writing is not None:
            writing.join(CLOSE_S)

    def open(self) -> index.Opened | None:
        """Open the index's files; None if they cannot be searched at once."""
        if not cache.is_ready():
            return None
        self._searches += 1
        if not _has_kernels():
            if self._searches > 1:  # a command makes one search, and ends before they are loaded
                self._start("load", _load_kernels)
            return None
        try:
            return self._index.open()
        except errors.IndexCorrupt as error:
            self._drop(error)
            return index.NOTHING

    def _segments(
        self, connection: sqlite3.Connection, opened: index.Opened | None
    ) -> Sequence[index.LiveSegment] | None:
        """Return the segments with all drawers; None if they cannot be searched at once."""
        if opened is None:
            return None
        segments = self._fresh.segments(connection, opened)
        if segments is None or self._fresh.messages > FLUSHED:
            self._start("update", self._index.update)
        return segments

    def _groups_of(self, connection: sqlite3.Connection, palace: int) -> np.ndarray[Any, Any]:
        """Return the ids of a palace's groups; only new ones are read, as there may be many."""
        known = self._groups.get(palace, np.zeros(0, np.int64))
        new = source.groups_after(connection, palace, int(known[-1]) if len(known) else 0)
        if new:
            known = self._groups[palace] = np.concatenate((known, _ids(new)))
        return known

    def _drop(self, error: errors.IndexCorrupt) -> None:
        logger.warning("recall index dropped", extra={"reason": str(error)})
        with contextlib.suppress(errors.Busy, errors.StateUnwritable):
            self._index.drop(0)

    def _start(self, name: str, work: Callable[[], object]) -> None:
        """Do something in a thread of its own, unless that is being done."""

        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - drawers are found without it
                logger.warning("memory index: %s failed", name, extra={"reason": str(error)})

        with self._lock:
            before = self._tasks.get(name)
            if before is None or not before.is_alive():
                self._tasks[name] = threading.Thread(target=run, daemon=True, name=f"memory-{name}")
                self._tasks[name].start()


def _scores(
    connection: sqlite3.Connection,
    palace: int,
    parts: list[Part],
    query: ranking.Query,
    most: int,
    filters: Filters,
) -> dict[int, float]:
    every = sum(len(part.session_ids) for part in parts)
    hits = rank_messages(
        parts,
        query,
        most=most,
        mix=MIX,
        kept=_kept(connection, palace, parts, filters),
        widens=bool(filters.room_key or filters.tag or filters.since_ms),
        candidates=every if filters.deep else ranking.CANDIDATES,
    )
    return {hit.message_id: min(hit.score, 1.0) for hit in hits}


def _kept(
    connection: sqlite3.Connection, palace: int, parts: list[Part], filters: Filters
) -> list[np.ndarray[Any, Any]] | None:
    """Return which drawers of each part may be returned; None for all."""
    tests: list[Callable[[Part], np.ndarray[Any, Any]]] = []
    if filters.room_key:
        rooms = _ids(source.groups_of_room(connection, palace, filters.room_key))
        tests.append(lambda part: np.isin(part.session_ids, rooms).repeat(np.diff(part.first)))
    if filters.tag:
        tagged = _ids(source.tagged(connection, palace, filters.tag))
        tests.append(lambda part: np.isin(part.message_ids, tagged))
    if filters.since_ms:
        tests.append(lambda part: part.message_ms >= filters.since_ms)
    if not filters.deep and (ids := source.superseded(connection, palace)):
        hidden = _ids(ids)
        tests.append(lambda part: ~np.isin(part.message_ids, hidden))
    if not tests:
        return None
    return [np.logical_and.reduce([test(part) for test in tests]) for part in parts]


def _ids(numbers: list[int]) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.int64)


def _has_kernels() -> bool:
    """Return whether the kernels are loaded: to wait for that takes half a second and more."""
    return hasattr(sys.modules.get(_KERNELS), "refine")


def _load_kernels() -> None:
    from triseek.kernels import recall

    del recall
