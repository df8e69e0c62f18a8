"""The files of the recall index: opened, brought up to date, merged, and removed.

The index is a folder of segments and a sealed manifest that names them; the manifest's replacement
is the only change that a reader sees. A damaged index is deleted: the next update builds it again.
"""

from __future__ import annotations

import contextlib
import shutil
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict, cast

import numpy as np

from triseek import errors, private
from triseek.kernels import cache
from triseek.recall.segment import Segment, SegmentEntry
from triseek.recall.segment_writer import SegmentWriter
from triseek.store import atomic, lock

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from typing import Any

    from triseek.recall.source import Source

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
SESSIONS_AT_ONCE = 200
"""Sessions read in one transaction."""


class Manifest(TypedDict):
    """The content of the manifest."""

    version: int
    last_id: int
    """The source's position up to which everything is indexed."""
    gone: list[int]
    """Sessions that are in segments and have no messages in the database any more."""
    segments: list[SegmentEntry]
    """Oldest first."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveSegment:
    """A segment, and which of its sessions count."""

    segment: Segment
    live: np.ndarray[Any, Any]
    """uint8 by session."""


class Opened(NamedTuple):
    """The segments that a manifest names."""

    stamp: tuple[int, int]
    """Inode and change of the manifest."""
    position: int
    gone: Sequence[int]
    segments: list[LiveSegment]


NOTHING = Opened((0, 0), 0, (), [])
"""There is no index."""


class Index:
    """The index of a source; thread-safe, and safe for several processes.

    folder: Where it lies; created by `update`.
    """

    def __init__(self, folder: str, source: Source) -> None:
        self._folder = Path(folder)
        self._source = source
        self._database = source.database
        self._changing = threading.Lock()
        self._lock = threading.Lock()
        self._opened = NOTHING
        self._unchanged: tuple[object, ...] | None = None
        """What the last update saw that found nothing to do."""
        self._stale: set[int] = set()
        """Sessions of which a message was deleted: they are indexed again."""

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

    def open(self) -> Opened:
        """Return the segments, mapped again if the manifest has changed.

        Raises:
            IndexCorrupt: A file is damaged.
        """
        with self._lock:
            try:
                stat = (self._folder / MANIFEST).stat()
            except OSError:
                self._opened = NOTHING
                return NOTHING
            stamp = stat.st_ino, stat.st_mtime_ns
            if stamp != self._opened.stamp:
                try:
                    self._opened = self._open(stamp)
                except errors.IndexCorrupt:
                    # Another process has replaced the manifest meanwhile.
                    self._opened = self._open(stamp)
            return self._opened

    def add_stale(self, session_id: int) -> None:
        """Index a session again with the next update, as a message of it is gone."""
        self._stale.add(session_id)

    def _open(self, stamp: tuple[int, int]) -> Opened:
        manifest = _read_manifest(self._folder / MANIFEST)
        segments = _open(self._folder, manifest, self._opened.segments)
        return Opened(stamp, manifest["last_id"], manifest["gone"], segments)

    @contextlib.contextmanager
    def _alone(self, wait_s: float = WAIT_S) -> Iterator[None]:
        """Run a block while nobody else changes the index: another process may import.

        It would write what was read before a forgetting, or delete a segment that is being written.
        """
        with self._changing, lock.writer(self._folder.parent, LOCK, wait_s=wait_s):
            yield

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
        opened, source = self.open(), self._source
        segments = opened.segments
        with self._database.read() as connection:
            position = source.position(connection)
            count = source.count(connection)
            state = opened.stamp, position, count
            if state == self._unchanged and not self._stale and not purges:
                return 0
            indexed = _live_ids(segments)
            changed = source.changed(connection, opened.position)
            gone = set[int]()
            if len(indexed | changed) != count:
                gone = indexed - set(source.session_ids(connection))
            incomplete = set[int]()
            if purges:
                incomplete = _incomplete(segments, source.message_ids(connection))
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
            entries = [_entry(one) for one in kept]
        messages = 0
        emptied = set(again)
        for count, written, entry in self._written(sorted(again)):
            messages += count
            emptied -= written
            entries.append(entry)
        in_kept = {int(one) for segment in kept for one in segment.segment.session_ids}
        body = Manifest(
            version=VERSION,
            last_id=position,
            gone=sorted((gone | emptied | set(opened.gone) - again) & in_kept),
            segments=entries,
        )
        with self._lock:  # nobody opens what is swept
            atomic.write_sealed(self._folder / MANIFEST, body)
            self._sweep({entry["name"] for entry in entries}, has_to=purges)
        return messages

    def _without(self, one: LiveSegment, dead: set[int]) -> SegmentEntry | None:
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

    def _written(self, session_ids: list[int]) -> Iterator[tuple[int, set[int], SegmentEntry]]:
        """Write segments of these sessions, each within the limit of memory.

        Yields the messages and sessions of each segment, and what the manifest says of it.
        """
        writer = SegmentWriter()
        for at in range(0, len(session_ids), SESSIONS_AT_ONCE):
            with self._database.read() as connection:
                some = session_ids[at : at + SESSIONS_AT_ONCE]
                for session_id, started_ms, messages in self._source.read(connection, some):
                    writer.add(session_id, started_ms, messages)
                    if _is_full(writer):
                        yield writer.messages, writer.session_ids, writer.write(self._folder)
                        writer = SegmentWriter()
        if writer.messages:
            yield writer.messages, writer.session_ids, writer.write(self._folder)

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


def alive(segment: Segment, dead: Collection[int]) -> LiveSegment:
    """Return a segment in which the sessions that are dead do not count."""
    gone = np.isin(segment.session_ids, np.fromiter(dead, np.int64, len(dead)))
    return LiveSegment(segment, (~gone).astype(np.uint8))


def _is_full(part: SegmentWriter | Segment) -> bool:
    tokens = part.tokens if isinstance(part, SegmentWriter) else len(part.tokens)
    return tokens >= BATCH_TOKENS or part.vocabulary >= BATCH_VOCABULARY


def _entry(one: LiveSegment) -> SegmentEntry:
    return cast("SegmentEntry", one.segment.entry)


def _read_manifest(path: Path) -> Manifest:
    body = atomic.read_sealed(path, most_bytes=MANIFEST_MAX)
    if not isinstance(body, dict) or body.get("version") != VERSION:
        raise errors.IndexCorrupt(f"{path} is damaged, or of another version")
    return cast("Manifest", body)


def _open(folder: Path, manifest: Manifest, mapped: Iterable[LiveSegment]) -> list[LiveSegment]:
    """Map the segments. Of a session that is in several, the newest copy is live.

    mapped: Segments that are mapped already.
    """
    before = {_entry(one)["name"]: one for one in mapped}
    opened = [
        before[entry["name"]].segment
        if entry["name"] in before and _entry(before[entry["name"]]) == entry
        else Segment.open(folder, entry)
        for entry in manifest["segments"]
    ]
    taken = np.array(manifest["gone"], np.int64)
    result = []
    for segment in reversed(opened):
        live = (~np.isin(segment.session_ids, taken)).astype(np.uint8)
        taken = np.concatenate((taken, segment.session_ids))
        known = before.get(segment.entry["name"]) if segment.entry else None
        if known is not None and known.segment is segment and np.array_equal(known.live, live):
            result.append(known)
        else:
            result.append(LiveSegment(segment, live))
    return result[::-1]


def _live_ids(segments: Sequence[LiveSegment]) -> set[int]:
    return {
        int(one)
        for segment in segments
        for one in segment.segment.session_ids[segment.live.astype(bool)]
    }


def _incomplete(segments: Sequence[LiveSegment], message_ids: Iterable[int]) -> set[int]:
    """Return the sessions in segments of which the database has not all messages any more."""
    ids = np.fromiter(message_ids, np.int64)
    incomplete = set[int]()
    for one in segments:
        segment = one.segment
        gone = ~np.isin(segment.message_ids, ids)
        incomplete.update(segment.session_ids[segment.session_of[gone]].tolist())
    return incomplete


def _to_merge(segments: Sequence[LiveSegment], dead: set[int]) -> list[LiveSegment]:
    """Return the segments whose sessions are to be written again.

    Those of which half is dead; and of many segments the smallest, each no more than twice as
    large as the smaller ones together: so a message is written again a few times in all.
    """
    dead_ids = np.fromiter(dead, np.int64)
    merged = list[tuple[int, LiveSegment]]()
    rest = list[tuple[int, LiveSegment]]()
    for one in segments:
        ids = one.segment.session_ids
        live = one.live.astype(bool) & ~np.isin(ids, dead_ids)
        count = int(np.diff(one.segment.first.astype(np.int64))[live].sum())
        (merged if 2 * count < len(one.segment.message_ids) else rest).append((count, one))
    if len(rest) >= SEGMENTS_MAX:
        total = 0
        small = [pair for pair in rest if pair[0] < FULL and not _is_full(pair[1].segment)]
        for count, one in sorted(small, key=lambda pair: pair[0]):
            if total and count > 2 * total:
                break
            merged.append((count, one))
            total += count
    return [one for _, one in merged]
