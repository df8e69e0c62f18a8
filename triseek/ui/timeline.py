"""A session's log, page by page from its end: what a long log holds costs no more than a short one.

Places in a log are offsets in bytes, at the beginning of a line. A log is only ever appended to, so
a place stays what it was, and whatever is new stands behind the last one.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple

from triseek.errors import InvalidRequest
from triseek.model.session import Entry
from triseek.sessions.action_log import NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

PIECE = 512 << 10
"""Bytes read at once; more than a line has."""
PIECES_MAX = 64
"""How many of them one page may take: a kind that hardly occurs is looked for in steps."""

_KIND = re.compile(
    rb'\{"schema_version":1,"entry_id":\d+,"session_id":"[^"]*","ts":\d+,"kind":"([^"\\]*)",'
)
"""How a line of ours begins; its kind is told without reading the rest, in a tenth of the
time."""


class Page(NamedTuple):
    """Some entries of a log, newest first."""

    entries: list[Entry]
    start: int
    """Where the oldest line that was looked at begins; 0 if there is nothing older."""
    end: int
    """Behind the newest."""


def older(folder: Path, before: int | None, wanted: Callable[[str], bool], limit: int) -> Page:
    """The newest entries before a place (None: the end) whose kind is wanted.

    Raises:
        InvalidRequest: The log cannot be read.
    """
    with _opened(folder) as file:
        size = file.seek(0, 2)
        end = start = _whole(file, size) if before is None else min(max(before, 0), size)
        found: list[Entry] = []
        for _ in range(PIECES_MAX):
            for at, line in _backwards(file, start):
                entry = _entry(line, wanted)
                start = at
                if entry is not None:
                    found.append(entry)
                if len(found) >= limit:
                    return Page(found, start, end)
            if start == 0:
                break
        return Page(found, start, end)


def newer(folder: Path, after: int, wanted: Callable[[str], bool], limit: int) -> Page:
    """The first entries behind a place whose kind is wanted.

    Raises:
        InvalidRequest: The log cannot be read.
    """
    with _opened(folder) as file:
        begin = end = min(max(after, 0), file.seek(0, 2))
        file.seek(begin)
        found: list[Entry] = []
        held = file.read(PIECE)
        for line in held[: held.rfind(b"\n") + 1].splitlines(keepends=True):
            if len(found) >= limit:
                break
            entry = _entry(line, wanted)
            end += len(line)
            if entry is not None:
                found.append(entry)
        return Page(found[::-1], begin, end)


def _opened(folder: Path) -> BinaryIO:
    try:
        return (folder / NAME).open("rb")
    except OSError as error:
        raise InvalidRequest(
            f"the log of this session cannot be read: {error.strerror}",
            next_step="See `triseek session list`.",
        ) from None


def _whole(file: BinaryIO, size: int) -> int:
    """Where the last whole line ends; a torn one is none yet."""
    begin = max(0, size - PIECE)
    file.seek(begin)
    return begin + file.read(size - begin).rfind(b"\n") + 1


def _backwards(file: BinaryIO, end: int) -> Iterator[tuple[int, bytes]]:
    """Lines of the piece before a place, the last first, and where each begins."""
    begin = max(0, end - PIECE)
    file.seek(begin)
    held = file.read(end - begin)
    # What the piece begins in the middle of is the next one's, unless it is longer than a piece.
    skipped = held.find(b"\n") + 1 if begin else 0
    for line in reversed(held[skipped:].splitlines(keepends=True)):
        end -= len(line)
        yield end, line
    if end > begin and not held[skipped:]:
        yield begin, b""


def _entry(line: bytes, wanted: Callable[[str], bool]) -> Entry | None:
    """What a line says; None if it is no entry, or of a kind that is not wanted."""
    told = _KIND.match(line)
    if told and not wanted(told[1].decode(errors="replace")):
        return None
    try:
        entry = Entry.read(json.loads(line))
    except (ValueError, RecursionError):
        return None
    return entry if wanted(entry.kind) else None
