"""Read a session's log page by page from its end; a long log costs no more than a short one.

Places in a log are byte offsets at the beginning of a line. A log is only ever appended to, so a
place stays valid, and new entries follow the last one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest
from triseek.model.session import LogEntry
from triseek.sessions.action_log import NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

PIECE = 512 << 10
"""Bytes read at once; more than a line has."""
PIECES_MAX = 64
"""Most pieces read for one page: a search for a rare kind takes several pages."""

_KIND = re.compile(
    rb'\{"schema_version":1,"entry_id":\d+,"session_id":"[^"]*","ts":\d+,"kind":"([^"\\]*)",'
)
"""Beginning of a line as triseek writes it: gives the kind without parsing the rest, in a tenth
of the time."""


class Page(NamedTuple):
    """Some entries of a log, newest first."""

    entries: list[LogEntry]
    start: int
    """Place of the oldest line that was examined; 0 if there is nothing older."""
    end: int
    """Place behind the newest line."""


def older(folder: Path, before: int | None, accepts: Callable[[str], bool], limit: int) -> Page:
    """Return the newest entries before a place (None: the end) whose kind matches.

    Raises:
        InvalidRequest: The log cannot be read.
    """
    with _opened(folder) as file:
        size = file.seek(0, 2)
        end = start = _whole(file, size) if before is None else min(max(before, 0), size)
        entries: list[LogEntry] = []
        for _ in range(PIECES_MAX):
            for at, line in _backwards(file, start):
                entry = _entry(line, accepts)
                start = at
                if entry is not None:
                    entries.append(entry)
                if len(entries) >= limit:
                    return Page(entries, start, end)
            if start == 0:
                break
        return Page(entries, start, end)


def newer(folder: Path, after: int, accepts: Callable[[str], bool], limit: int) -> Page:
    """Return the first entries behind a place whose kind matches.

    Raises:
        InvalidRequest: The log cannot be read.
    """
    with _opened(folder) as file:
        begin = end = min(max(after, 0), file.seek(0, 2))
        file.seek(begin)
        entries: list[LogEntry] = []
        data = file.read(PIECE)
        for line in data[: data.rfind(b"\n") + 1].splitlines(keepends=True):
            if len(entries) >= limit:
                break
            entry = _entry(line, accepts)
            end += len(line)
            if entry is not None:
                entries.append(entry)
        return Page(entries[::-1], begin, end)


def _opened(folder: Path) -> BinaryIO:
    try:
        return (folder / NAME).open("rb")
    except OSError as error:
        raise InvalidRequest(
            f"the log of this session cannot be read: {error.strerror}",
            next_step="See `triseek session list`.",
        ) from None


def _whole(file: BinaryIO, size: int) -> int:
    """Return the place behind the last complete line; an unfinished line is left out."""
    begin = max(0, size - PIECE)
    file.seek(begin)
    return begin + file.read(size - begin).rfind(b"\n") + 1


def _backwards(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of the piece before a place, last line first, each with its place."""
    begin = max(0, end - PIECE)
    file.seek(begin)
    data = file.read(end - begin)
    # A line cut by the beginning of the piece belongs to the next one, unless it is longer than a
    # piece.
    skipped = data.find(b"\n") + 1 if begin else 0
    for line in reversed(data[skipped:].splitlines(keepends=True)):
        end -= len(line)
        yield end, line
    if end > begin and not data[skipped:]:
        yield begin, b""


def _entry(line: bytes, accepts: Callable[[str], bool]) -> LogEntry | None:
    """Parse a line; None if it is no entry, or of a kind that is not accepted."""
    kind_match = _KIND.match(line)
    if kind_match and not accepts(kind_match[1].decode(errors="replace")):
        return None
    try:
        entry = LogEntry.read(json.loads(line))
    except (ValueError, RecursionError):
        return None
    return entry if accepts(entry.kind) else None
