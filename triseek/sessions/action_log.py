"""The log of one session: an append-only file of one JSON document a line.

An entry is one `write` of a whole line, so a killed process leaves whole lines and at most one torn
line, which the next process that appends removes. `append` does not fsync: a killed process loses
nothing by that; a machine that loses power loses what was written since the last `sync`.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from triseek import private
from triseek.errors import StateUnwritable
from triseek.model.plain_text import encodable
from triseek.model.session import LogEntry, is_tellable
from triseek.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NAME = "action_log.jsonl"
LINE_MAX = 64 << 10
"""Bytes of an entry; a longer one has a note in place of its payload."""
_TAIL = 2 * LINE_MAX
_PIECE = 1 << 20


class Counted(NamedTuple):
    """The number of entries of a log at a certain size."""

    entries: int = 0
    size_bytes: int = 0


_NOTHING = Counted()


class Newest(NamedTuple):
    """The newest entries of a log."""

    lines: list[bytes]
    """The raw lines, ends included, oldest first."""
    entries: list[LogEntry]
    """The entries of these lines."""
    omitted: int
    """The number of older entries."""


class ActionLog:
    """The log of one session, for the one process that writes it; threads may share it."""

    def __init__(self, folder: str | os.PathLike[str], counted: Counted = _NOTHING) -> None:
        """Open the log in `folder`, which is created with the first entry.

        counted: The count of an earlier process; only what was written since is counted.
        """
        self.path = Path(folder) / NAME
        self._lock = Lock()
        self._earlier = counted
        self._count: int | None = None
        self._unsynced = False

    def append(self, entry: LogEntry) -> None:
        """Write one entry.

        Raises:
            StateUnwritable: it cannot be written; earlier entries are intact.
        """
        line = _line(entry)
        with self._lock:
            try:
                count = self._mended()
                self._write(line)
            except OSError as error:
                self._count = None
                raise StateUnwritable(f"cannot write {self.path}: {error.strerror}") from error
            self._count = count + 1
            self._unsynced = True

    def replace(self, entries: Sequence[LogEntry]) -> None:
        """Write the log anew with these entries only, complete or not at all.

        Raises:
            StateUnwritable: it cannot be written; it is as it was.
        """
        with self._lock:
            try:
                atomic.write(self.path, b"".join(map(_line, entries)))
            except OSError as error:
                raise StateUnwritable(f"cannot write {self.path}: {error.strerror}") from error
            self._count, self._earlier = len(entries), _NOTHING

    def __len__(self) -> int:
        """Return the number of entries."""
        with self._lock:
            if self._count is None:
                self._count = _whole_lines(self.path, self._earlier)
            return self._count

    def counted(self) -> Counted:
        """Return the count so far, which a later process need not repeat."""
        with self._lock, contextlib.suppress(OSError):
            if self._count is not None:
                return Counted(self._count, self.path.stat().st_size)
        return self._earlier

    def __iter__(self) -> Iterator[LogEntry]:
        """Yield all entries that can be read, oldest first; ignore other lines."""
        try:
            file = self.path.open("rb")
        except OSError:
            return
        with file:
            while line := file.readline(_TAIL):
                entry = _entry(line)
                if entry is not None:
                    yield entry

    def newest(self, most_bytes: int) -> Newest:
        """Return the newest entries, whose lines have at most `most_bytes` together.

        Raises:
            StateUnwritable: the log cannot be read.
        """
        count = len(self)
        try:
            with self.path.open("rb") as file:
                size = self.path.stat().st_size
                file.seek(max(0, size - most_bytes))
                tail = file.read(most_bytes)
        except FileNotFoundError:
            return Newest([], [], 0)
        except OSError as error:
            raise StateUnwritable(f"cannot read {self.path}: {error.strerror}") from error
        lines = tail.splitlines(keepends=True)
        if size > most_bytes:
            del lines[:1]
        read = [(line, entry) for line in lines if (entry := _entry(line)) is not None]
        omitted = max(0, count - len(lines))
        return Newest([line for line, _ in read], [entry for _, entry in read], omitted)

    def last_id(self) -> int:
        """Return the number of the newest entry that can be read; 0 if there is none."""
        tail = _tail(self.path)
        entries = map(_entry, reversed(tail.split(b"\n")))
        number = next((entry.entry_id for entry in entries if entry is not None), 0)
        if not number and len(tail) == _TAIL:  # foreign data fills the end of the file
            number = max((entry.entry_id for entry in self), default=0)
        return number

    def sync(self) -> None:
        """Make all entries durable."""
        with self._lock:
            if not self._unsynced:
                return
            self._unsynced = False
        with contextlib.suppress(OSError):
            descriptor = os.open(self.path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def _mended(self) -> int:
        """Return the number of entries; at first, make the folder and cut off a torn last line."""
        if self._count is not None and self.path.exists():
            return self._count
        for folder in (self.path.parent.parent, self.path.parent):
            private.make(folder)
        tail = _tail(self.path)
        torn = len(tail) - (tail.rfind(b"\n") + 1)
        if torn:
            os.truncate(self.path, self.path.stat().st_size - torn)
        return _whole_lines(self.path, self._earlier)

    def _write(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except OSError:
                os.ftruncate(descriptor, size)  # disk full: leave no part of an entry behind
                raise
        finally:
            os.close(descriptor)


def _line(entry: LogEntry) -> bytes:
    if not is_tellable(entry.payload):  # a reader would refuse the line
        return _packed(replace(entry, payload={"omitted": "no plain JSON"}).document())
    document = entry.document()
    line = _packed(document)
    if b"\\ud" in line:  # a surrogate, which may be a lone one
        document = encodable(document)
        line = _packed(document)
    if len(line) <= LINE_MAX:
        return line
    return _packed({**document, "payload": {"omitted": "too large", "bytes": len(line)}})


def _packed(document: dict[str, object]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"


def _entry(line: bytes) -> LogEntry | None:
    try:
        return LogEntry.read(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _tail(path: Path) -> bytes:
    """Return the last bytes of a file, at least the last line of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read(_TAIL)
    except OSError:
        return b""


def _whole_lines(path: Path, earlier: Counted) -> int:
    """Count the complete lines; those that were counted earlier are not read again."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, earlier.size_bytes - 1))
            is_known = earlier.size_bytes > 0 and file.read(1) == b"\n"
            count = earlier.entries if is_known else file.seek(0)
            return count + sum(piece.count(b"\n") for piece in iter(lambda: file.read(_PIECE), b""))
    except OSError:
        return 0
