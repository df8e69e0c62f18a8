"""What was done in one session: a file of one JSON document a line, only ever appended to.

An entry is one `write` of a whole line, so a process that is killed leaves whole lines and at most
one torn one, which the next to append removes. Nothing is fsynced by `append`: a killed process
loses nothing by that, a machine that loses power what was written since the last `sync`.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from triseek.errors import StateUnwritable
from triseek.model.session import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "action_log.jsonl"
LINE_MAX = 64 << 10
"""Bytes of an entry; the payload of a longer one is left out, and says so."""
_TAIL = 2 * LINE_MAX
_PIECE = 1 << 20


class ActionLog:
    """The log of one session, for the one process that writes it; safe to share by threads."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """The log in `folder`, which is made with the first entry."""
        self.path = Path(folder) / NAME
        self._lock = Lock()
        self._count: int | None = None
        self._unsynced = False

    def append(self, entry: Entry) -> None:
        """Write one entry.

        Raises:
            StateUnwritable: it cannot be written; what was there before is.
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

    def __len__(self) -> int:
        """How many entries there are."""
        with self._lock:
            if self._count is None:
                self._count = _whole_lines(self.path)
            return self._count

    def __iter__(self) -> Iterator[Entry]:
        """All that can be read, oldest first; a line that is none of ours is passed over."""
        try:
            file = self.path.open("rb")
        except OSError:
            return
        with file:
            while line := file.readline(_TAIL):
                entry = _entry(line)
                if entry is not None:
                    yield entry

    def newest(self, most_bytes: int) -> tuple[list[bytes], int]:
        """The newest lines, oldest first, of at most so many bytes; how many older ones there are.

        Raises:
            StateUnwritable: the log cannot be read.
        """
        count = len(self)
        try:
            with self.path.open("rb") as file:
                size = self.path.stat().st_size
                file.seek(max(0, size - most_bytes))
                held = file.read(most_bytes)
        except FileNotFoundError:
            return [], 0
        except OSError as error:
            raise StateUnwritable(f"cannot read {self.path}: {error.strerror}") from error
        lines = held.splitlines(keepends=True)
        if size > most_bytes:
            del lines[:1]
        whole = [line for line in lines if _entry(line) is not None]
        return whole, max(0, count - len(lines))

    def last_id(self) -> int:
        """The number of the newest entry that can be read; 0 if there is none."""
        entries = map(_entry, reversed(_tail(self.path).split(b"\n")))
        return next((entry.entry_id for entry in entries if entry is not None), 0)

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
        """The number of entries, all of them whole lines; called before the first is appended."""
        if self._count is not None and self.path.exists():
            return self._count
        for folder in (self.path.parent.parent, self.path.parent):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tail = _tail(self.path)
        torn = len(tail) - (tail.rfind(b"\n") + 1)
        if torn:
            os.truncate(self.path, self.path.stat().st_size - torn)
        return _whole_lines(self.path)

    def _write(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            try:
                while line:
                    line = line[os.write(descriptor, line) :]
            except OSError:
                os.ftruncate(descriptor, size)  # a full disk: no half of an entry stays behind
                raise
        finally:
            os.close(descriptor)


def _line(entry: Entry) -> bytes:
    line = _packed(entry.document())
    if len(line) <= LINE_MAX:
        return line
    return _packed({**entry.document(), "payload": {"omitted": "too large", "bytes": len(line)}})


def _packed(document: dict[str, object]) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode("ascii") + b"\n"


def _entry(line: bytes) -> Entry | None:
    try:
        return Entry.read(json.loads(line))
    except (ValueError, RecursionError):
        return None


def _tail(path: Path) -> bytes:
    """The last bytes of a file; at least the last line of a log."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _TAIL))
            return file.read(_TAIL)
    except OSError:
        return b""


def _whole_lines(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(piece.count(b"\n") for piece in iter(lambda: file.read(_PIECE), b""))
    except OSError:
        return 0
