"""The recall engine: keeps the index in step with the database, and searches.

The index is a folder of segments and a sealed manifest that names them; the manifest's replacement
is the only change that a reader sees. Without an index, or while kernels are not compiled, a search
reads the database instead: of a large one, what was imported last. A damaged index is deleted: the
next update builds it again.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

import numpy as np

from triseek import errors, private
from triseek.history.recall import copies, excerpt, ranking, scan, scoring, session_rows
from triseek.history.recall.page import RecallHit, RecallPage
from triseek.history.recall.part import Found, Part, rank
from triseek.history.recall.segment import Segment, SegmentEntry, SegmentWriter
from triseek.kernels import cache
from triseek.store import atomic, lock

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Sequence

    from triseek.store.sqlite import Database

MANIFEST = "manifest.json"
VERSION = 2
"""Of the files and of what `words.terms` makes of a text."""
LOCK = "recall.lock"
WAIT_S = 60.0
"""Seconds to wait for another process that changes the index."""
MANIFEST_MAX = 16 << 20
BATCH_TOKENS = 3_000_000
"""Terms that are collected in memory for one segment, each time that one occurs."""
BATCH_VOCABULARY = 120_000
"""Distinct terms that are collected in memory for one segment."""
SEGMENTS_MAX = 8
"""Segments from which small ones are merged."""
FULL = 50_000
"""Messages of a segment that is merged only when half of it is dead."""
RESIDENT_MAX = 6 << 20
"""Bytes of postings read, about, after which their pages are released."""
COPIES = 3
"""Times as many hits are ranked as are shown: forks of a conversation have copies of it."""
READ_FIRST = 4_000
"""Messages that a process without kernels reads: loading kernels takes half a second and more."""
SESSIONS_AT_ONCE = 200
"""Sessions read in one transaction."""


class Manifest(TypedDict):
    """The content of the manifest."""

    version: int
    last_id: int
    """The greatest id of a message that is indexed."""
    gone: list[int]
    """Sessions that are in segments and were deleted from the database."""
    segments: list[SegmentEntry]
    """Oldest first."""


class Recall:
    """Search over the messages of a history database; thread-safe.

    folder: Where the index lies; created by `update`.
    """

    def __init__(self, folder: str, database: Database) -> None:
        self._folder = Path(folder)
        self._database = database
        self._changing = threading.Lock()
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self._manifest: Manifest | None = None
        self._segments: list[scoring.LiveSegment] = []
        self._unchanged: tuple[object, ...] | None = None
        """What the last update saw that found nothing to do."""
        self._stale: set[int] = set()
        """Sessions of which a message was deleted: they are indexed again."""
        self._is_resident = False
        """Whether a search has read pages since they were all released."""

    def update(self) -> int:
        """Index what the database has and the index has not; return the messages indexed.

        Raises:
            StateUnwritable: The folder cannot be written.
            Busy: Another process changes the index for longer than `WAIT_S`.
        """
        with self._alone():
            return self._updated()

    def purge(self) -> None:
        """Remove from all files what the database does not have any more, as it was forgotten.

        The index holds then what `update` would write into an empty folder. While kernels are not
        compiled, it is dropped.

        Raises: as `update`.
        """
        with self._alone():
            if cache.is_ready():
                self._updated(purges=True)
            else:
                self._remove()

    def drop(self, wait_s: float = WAIT_S) -> None:
        """Delete all files of the index, so that nothing of a forgotten text remains.

        wait_s: Seconds to wait for another process that changes it.

        Raises:
            StateUnwritable: A file cannot be deleted.
            Busy: Another process still changes the index.
        """
        with self._alone(wait_s):
            self._remove()

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
            segments = self._load() if self._is_worth_loading() else []
            if segments:
                self._is_resident = True
                parts, weights = scoring.score(segments, parsed, sessions, since_ms)
                result = ranked(parts)
            _release(segments)
        except errors.IndexCorrupt:
            with contextlib.suppress(errors.Busy, errors.StateUnwritable):
                self.drop(0)
        if result is None:
            with self._database.read() as connection:
                rows = session_rows.to_scan(connection, sessions)
                parts, weights = scan.score(rows, parsed, since_ms)
            result = ranked(parts)
        found, total = result
        with self._database.read() as connection:
            hits = copies.merged(connection, self._quoted(connection, found, by))
            page = hits[offset : offset + limit]
            texts = copies.texts(connection, [hit.message_id for hit in page])
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
            for one in self._segments:
                one.segment.release()

    @contextlib.contextmanager
    def _alone(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Run a block while nobody else changes the index: another process may import.

        It would write what was read before a forgetting, or delete a segment that is being written.
        """
        with self._changing, lock.writer(self._folder.parent, LOCK, wait_s=wait_s):
            yield

    def _quoted(
        self, connection: sqlite3.Connection, found: list[Found], by: ranking.By
    ) -> list[copies.Quoted]:
        """Return the hits with their messages' times; without those that are deleted meanwhile."""
        times = {
            tuple(row[:2]): row[2]
            for row in connection.execute(
                "SELECT id, session_id, created_at_epoch FROM messages"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps([one.message_id for one in found]),),
            )
        }
        quoted = []
        for one in found:
            message_id, time_ms = one.message_id, times.get((one.message_id, one.session_id))
            if time_ms is None:
                self._stale.add(one.session_id)
                row = connection.execute(
                    "SELECT id, created_at_epoch FROM messages WHERE session_id = ?"
                    " ORDER BY id LIMIT 1",
                    (one.session_id,),
                ).fetchone()
                if by == "message" or row is None:
                    continue
                message_id, time_ms = row
            quoted.append(copies.Quoted(one.session_id, message_id, one.score, time_ms))
        return quoted

    def _is_worth_loading(self) -> bool:
        """Return whether the kernels are compiled, and sooner loaded than few messages are read."""
        if not cache.is_ready():
            return False
        if "triseek.kernels.recall" in sys.modules:
            return True
        with self._database.read() as connection:
            return _one(connection, "SELECT coalesce(max(id), 0) FROM messages") > READ_FIRST

    def _load(self) -> list[scoring.LiveSegment]:
        """Return the segments, mapped again if the manifest has changed."""
        with self._lock:
            try:
                stat = (self._folder / MANIFEST).stat()
            except OSError:
                self._stamp, self._manifest, self._segments = None, None, []
                return []
            stamp = stat.st_ino, stat.st_mtime_ns
            if stamp != self._stamp:
                try:
                    self._open()
                except errors.IndexCorrupt:
                    self._open()  # another process has replaced the manifest meanwhile
                self._stamp = stamp
            return self._segments

    def _open(self) -> None:
        self._manifest = _read_manifest(self._folder / MANIFEST)
        before = {one.segment.entry["name"]: one for one in self._segments}
        self._segments = _open(self._folder, self._manifest, before)

    def _updated(self, *, purges: bool = False) -> int:
        """Do `update`, or `purge`; of a damaged index nothing is kept."""
        try:
            return self._update(purges=purges)
        except errors.IndexCorrupt:
            self._remove()
            return self._update()
        except OSError as error:
            raise errors.StateUnwritable(
                f"cannot write {self._folder}: {error.strerror}"
            ) from error

    def _update(self, *, purges: bool = False) -> int:
        segments = self._load()
        manifest = self._manifest or Manifest(version=VERSION, last_id=0, gone=[], segments=[])
        with self._database.read() as connection:
            last_id = _one(connection, "SELECT coalesce(max(id), 0) FROM messages")
            state = self._stamp, last_id, _one(connection, "SELECT count(*) FROM sessions")
            if state == self._unchanged and not self._stale and not purges:
                return 0
            indexed = _live_ids(segments)
            changed = {
                int(row[0])
                for row in connection.execute(
                    "SELECT DISTINCT session_id FROM messages WHERE id > ?", (manifest["last_id"],)
                )
            }
            gone = set[int]()
            if len(indexed | changed) != state[2]:
                gone = indexed - {
                    int(row[0]) for row in connection.execute("SELECT id FROM sessions")
                }
            incomplete = _incomplete(segments, connection) if purges else set()
        stale, self._stale = (self._stale | incomplete) & indexed - gone, set()
        changed |= stale
        if not changed and not gone and not purges:
            self._unchanged = state
            return 0
        merged = [] if purges else _to_merge(segments, changed | gone)
        kept = [one for one in segments if one not in merged]
        again = (changed | _live_ids(merged)) - gone
        private.make(self._folder)
        if purges:
            entries = [
                entry for one in kept if (entry := self._without(one, changed | gone)) is not None
            ]
            kept = []
        else:
            entries = [one.segment.entry for one in kept]
        count = 0
        for messages, entry in self._written(sorted(again)):
            count += messages
            entries.append(entry)
        in_kept = {int(one) for segment in kept for one in segment.segment.session_ids}
        body = Manifest(
            version=VERSION,
            last_id=max(last_id, manifest["last_id"]),
            gone=sorted((gone | set(manifest["gone"])) & in_kept - again),
            segments=entries,
        )
        with self._lock:  # nobody opens what is swept
            atomic.write_sealed(self._folder / MANIFEST, body)
            self._sweep({entry["name"] for entry in entries}, has_to=purges)
        return count

    def _without(self, one: scoring.LiveSegment, dead: set[int]) -> SegmentEntry | None:
        """Write a segment anew without dead sessions, if it has any; None if nothing is left."""
        segment = one.segment
        keeps = one.live.astype(bool) & ~np.isin(segment.session_ids, np.fromiter(dead, np.int64))
        if keeps.all():
            return segment.entry
        if not keeps.any():
            return None
        writer = SegmentWriter()
        writer.copy(segment, keeps)
        return writer.write(self._folder)

    def _written(self, session_ids: list[int]) -> Iterator[tuple[int, SegmentEntry]]:
        """Write segments of these sessions, each within the limit of memory.

        Yields the number of messages of each segment, and what the manifest says of it.
        """
        writer = SegmentWriter()
        for at in range(0, len(session_ids), SESSIONS_AT_ONCE):
            with self._database.read() as connection:
                some = session_ids[at : at + SESSIONS_AT_ONCE]
                for session_id, started_ms, messages in session_rows.read(connection, some):
                    writer.add(session_id, started_ms, messages)
                    if _is_full(writer):
                        yield writer.messages, writer.write(self._folder)
                        writer = SegmentWriter()
        if writer.messages:
            yield writer.messages, writer.write(self._folder)

    def _sweep(self, names: set[str], *, has_to: bool) -> None:
        """Delete what the manifest does not name. A mapping outlives its file's name.

        has_to: Whether to raise if something cannot be deleted: the next update deletes it.
        """
        for path in self._folder.iterdir():
            if path.is_dir() and not path.is_symlink() and path.name not in names:
                shutil.rmtree(path, ignore_errors=not has_to)

    def _remove(self) -> None:
        try:
            (self._folder / MANIFEST).unlink(missing_ok=True)
            if self._folder.is_dir() and not self._folder.is_symlink():
                shutil.rmtree(self._folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise errors.StateUnwritable(
                f"cannot delete {self._folder}: {error.strerror}"
            ) from error


def _is_full(part: SegmentWriter | Segment) -> bool:
    tokens = part.tokens if isinstance(part, SegmentWriter) else len(part.tokens)
    return tokens >= BATCH_TOKENS or part.vocabulary >= BATCH_VOCABULARY


def _read_manifest(path: Path) -> Manifest:
    body = atomic.read_sealed(path, most_bytes=MANIFEST_MAX)
    if not isinstance(body, dict) or body.get("version") != VERSION:
        raise errors.IndexCorrupt(f"{path} is damaged, or of another version")
    return cast("Manifest", body)


def _open(
    folder: Path, manifest: Manifest, before: dict[str, scoring.LiveSegment]
) -> list[scoring.LiveSegment]:
    """Map the segments. Of a session that is in several, the newest copy is live.

    before: Segments that are mapped already, by name.
    """
    opened = [
        before[entry["name"]].segment
        if entry["name"] in before and before[entry["name"]].segment.entry == entry
        else Segment(folder, entry)
        for entry in manifest["segments"]
    ]
    taken = np.array(manifest["gone"], np.int64)
    result = []
    for segment in reversed(opened):
        live = (~np.isin(segment.session_ids, taken)).astype(np.uint8)
        taken = np.concatenate((taken, segment.session_ids))
        known = before.get(segment.entry["name"])
        if known is not None and known.segment is segment and np.array_equal(known.live, live):
            result.append(known)
        else:
            result.append(scoring.LiveSegment(segment, live))
    return result[::-1]


def _release(segments: Sequence[scoring.LiveSegment]) -> None:
    """Release the pages of postings of all segments if many were read."""
    if sum(one.segment.touched for one in segments) >= RESIDENT_MAX:
        for one in segments:
            one.segment.release_postings()


def _live_ids(segments: Sequence[scoring.LiveSegment]) -> set[int]:
    return {
        int(one)
        for segment in segments
        for one in segment.segment.session_ids[segment.live.astype(bool)]
    }


def _incomplete(
    segments: Sequence[scoring.LiveSegment], connection: sqlite3.Connection
) -> set[int]:
    """Return the sessions in segments of which the database has not all messages any more."""
    rows = connection.execute("SELECT id FROM messages ORDER BY id")
    ids = np.fromiter((row[0] for row in rows), np.int64)
    incomplete = set[int]()
    for one in segments:
        segment = one.segment
        gone = ~np.isin(segment.message_ids, ids)
        incomplete.update(segment.session_ids[segment.session_of[gone]].tolist())
    return incomplete


def _to_merge(segments: Sequence[scoring.LiveSegment], dead: set[int]) -> list[scoring.LiveSegment]:
    """Return the segments whose sessions are to be written again.

    Those of which half is dead; and of many segments the smallest, each no more than twice as
    large as the smaller ones together: so a message is written again a few times in all.
    """
    dead_ids = np.fromiter(dead, np.int64)
    merged = list[tuple[int, scoring.LiveSegment]]()
    rest = list[tuple[int, scoring.LiveSegment]]()
    for one in segments:
        ids = one.segment.session_ids
        live = one.live.astype(bool) & ~np.isin(ids, dead_ids)
        alive = int(np.diff(one.segment.first.astype(np.int64))[live].sum())
        (merged if 2 * alive < len(one.segment.message_ids) else rest).append((alive, one))
    if len(rest) >= SEGMENTS_MAX:
        total = 0
        small = [pair for pair in rest if pair[0] < FULL and not _is_full(pair[1].segment)]
        for alive, one in sorted(small, key=lambda pair: pair[0]):
            if total and alive > 2 * total:
                break
            merged.append((alive, one))
            total += alive
    return [one for _, one in merged]


def _one(connection: sqlite3.Connection, statement: str) -> int:
    return int(connection.execute(statement).fetchone()[0])
