"""The recall engine: searches the index, or the database where there is none.

Without an index, or while kernels are not compiled, a search reads the database instead: of a large
one, what was imported last.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from triseek import errors
from triseek.kernels import cache
from triseek.recall import excerpt, fresh, ranking, scan, scoring
from triseek.recall.index import Index, LiveSegment
from triseek.recall.page import Quoted, RecallHit, RecallPage
from triseek.recall.part import Found, Part, rank

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence

    from triseek.recall.source import QuotedSource

RESIDENT_MAX = 6 << 20
"""Bytes of postings read, about, after which their pages are released."""
COPIES = 3
"""Times as many hits are ranked as are shown: forks of a conversation have copies of it."""
READ_FIRST = 4_000
"""Messages that a process without kernels reads: loading kernels takes half a second and more."""


class Recall(Index):
    """Search over the messages of a source; thread-safe.

    folder: Where the index lies; created by `update`.
    """

    _source: QuotedSource

    def __init__(self, folder: str, source: QuotedSource) -> None:
        super().__init__(folder, source)
        self._fresh = fresh.Fresh(source)
        self._is_resident = False
        """Whether a search has read pages since they were all released."""

    def search(
        self,
        query: str,
        *,
        by: ranking.By,
        limit: int,
        offset: int = 0,
        sessions: Collection[int] | None = None,
        since_ms: int = 0,
    ) -> RecallPage:
        """Return one page of the sessions or messages that answer a query.

        Args:
            query: Words in any order; a question is fine. No syntax.
            by: What a hit is.
            limit: Hits on the page.
            offset: Hits before it.
            sessions: The sessions to search; None for all. Words weigh as they do among these.
            since_ms: Only messages, or sessions with messages, from this Unix time on.

        Raises: as `Database.read`.
        """
        parsed = ranking.parse(query)
        if limit <= 0 or offset < 0 or not (parsed.terms or parsed.months or parsed.years):
            return RecallPage((), 0)

        def ranked(parts: list[Part]) -> tuple[list[Found], int]:
            most = COPIES * (offset + limit)
            return rank(parts, parsed, by=by, most=most, since_ms=since_ms)

        weights: dict[str, float] = {}
        result: tuple[list[Found], int] | None = None
        try:
            segments = self._segments() if self._is_worth_loading() else []
            if segments:
                self._is_resident = True
                parts, weights = scoring.score(segments, parsed, sessions, since_ms)
                result = ranked(parts)
            release_postings(segments)
        except errors.IndexCorrupt:
            with contextlib.suppress(errors.Busy, errors.StateUnwritable):
                self.drop(0)
        if result is None:
            with self._database.read() as connection:
                rows = self._source.to_scan(connection, sessions)
                parts, weights = scan.score(rows, parsed, since_ms)
            result = ranked(parts)
        found, total = result
        with self._database.read() as connection:
            hits = self._source.merged(connection, self._quoted(connection, found, by))
            page = hits[offset : offset + limit]
            texts = self._source.texts(connection, [hit.message_id for hit in page])
        return RecallPage(
            tuple(
                RecallHit(
                    hit.session_id, hit.message_id, hit.score,
                    excerpt.span(texts[hit.message_id], weights), len(hit.copies),
                )
                for hit in page
            ),
            total - len(found) + len(hits),
        )  # fmt: skip

    def release(self) -> None:
        """Release all pages of the index that searches have read; the next one reads them again."""
        if self._is_resident:
            self._is_resident = False
            for one in self._opened.segments:
                one.segment.release()

    def _quoted(
        self, connection: sqlite3.Connection, found: list[Found], by: ranking.By
    ) -> list[Quoted]:
        """Return the hits with their messages' times; without those that are deleted meanwhile."""
        times = self._source.times(connection, [one.message_id for one in found])
        quoted = []
        for one in found:
            message_id, time_ms = one.message_id, times.get((one.message_id, one.session_id))
            if time_ms is None:
                self.add_stale(one.session_id)
                first = self._source.first_message(connection, one.session_id)
                if by == "message" or first is None:
                    continue
                message_id, time_ms = first
            quoted.append(Quoted(one.session_id, message_id, one.score, time_ms))
        return quoted

    def _is_worth_loading(self) -> bool:
        """Return whether the kernels are compiled, and sooner loaded than few messages are read."""
        if not cache.is_ready():
            return False
        if "triseek.kernels.recall" in sys.modules:
            return True
        with self._database.read() as connection:
            return self._source.last_message(connection) > READ_FIRST

    def _segments(self) -> Sequence[LiveSegment]:
        """Return the segments of the index, and what is not yet in it if that is little."""
        opened = self.open()
        if not self._source.in_memory_max:
            return opened.segments
        with self._database.read() as connection:
            return self._fresh.segments(connection, opened) or opened.segments


def release_postings(segments: Sequence[LiveSegment]) -> None:
    """Release the pages of postings of all segments if many were read."""
    if sum(one.segment.touched for one in segments) >= RESIDENT_MAX:
        for one in segments:
            one.segment.release_postings()
