"""Finds the files and databases that agents keep, and what of them has not been imported yet."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from triseek.agents.payloads.fields import parsed
from triseek.agents.transcript_values import compact
from triseek.history.importing.cleaning import clean_name
from triseek.history.importing.hidden_sources import is_hidden
from triseek.model.conversation import Mark
from triseek.redaction import holds_secret

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

    from triseek.agents.base import Agent, InstallPlace, TranscriptReader

PIECE_BYTES = 4_096
"""Bytes at a file's beginning, and before the mark, by which a rewritten file is recognized."""


_INTEGER_MAX = (1 << 63) - 1
"""The greatest number of SQLite; some file systems have greater inodes."""
_NOT_WHOLE = -1
"""The inode of a source that could not be read to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file or database of an agent, as it is now."""

    agent: str
    reader: TranscriptReader
    path: str
    name: str
    """The path as it is stored: without secrets."""
    inode: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the database knows of a source."""

    id: int
    inode: int
    size: int
    mtime_ns: int
    fingerprint: str
    mark: Mark


def importable() -> tuple[Agent, ...]:
    """Return the agents whose conversations can be imported."""
    from triseek.agents import registry  # takes longer to import than a search

    return registry.with_transcripts()


def find(agents: Sequence[Agent], here: InstallPlace) -> Iterator[Source]:
    """Yield the sources of some agents, in the order of the agents, oldest first."""
    for agent in agents:
        reader = agent.transcripts
        if reader is None:
            continue
        paths = dict.fromkeys(map(os.path.realpath, reader.sources(here)))
        found = [
            Source(
                agent=agent.name,
                reader=reader,
                path=path,
                name=clean_name(path),
                inode=status.st_ino & _INTEGER_MAX,
                size=_size(path, status, reader),
                mtime_ns=_changed(path, status, reader),
            )
            for path in paths
            if (status := _status(path)) is not None
        ]
        yield from sorted(found, key=lambda source: (source.mtime_ns, source.path))


def known(connection: sqlite3.Connection, source: Source) -> Known | None:
    """Return what the database knows of a source; None if it is new."""
    row = connection.execute(
        "SELECT id, inode, size, mtime_ns, fingerprint, mark FROM sources"
        " WHERE agent = ? AND path = ?",
        (source.agent, source.name),
    ).fetchone()
    if row is None:
        return None
    number, inode, size, mtime_ns, digest, mark = row
    fields = json.loads(mark)
    return Known(
        id=number,
        inode=inode,
        size=size,
        mtime_ns=mtime_ns,
        fingerprint=digest,
        mark=Mark(offset=fields.get("offset", 0), state=fields.get("state", {})),
    )


def is_unchanged(source: Source, before: Known | None) -> bool:
    """Return whether a source is as it was when it was read last."""
    return before is not None and (source.inode, source.size, source.mtime_ns) == (
        before.inode, before.size, before.mtime_ns,
    )  # fmt: skip


def has_failed(before: Known | None) -> bool:
    """Return whether a source could not be read to its end the last time."""
    return before is not None and before.inode == _NOT_WHOLE


def begin(source: Source, before: Known | None) -> Mark:
    """Return where to begin to read: where it ended last, unless the file was rewritten."""
    if before is None:
        return Mark()
    if not source.reader.appends:
        return before.mark
    is_shorter = source.size < before.mark.offset
    if is_shorter or fingerprint(source.path, before.mark.offset) != before.fingerprint:
        return Mark()
    return before.mark


def fingerprint(path: str, offset: int) -> str:
    """Return a digest of a file's first bytes and of those before an offset.

    It stays the same while a file only grows. "" if the file cannot be read.
    """
    digest = hashlib.blake2b(digest_size=16)
    try:
        with open(path, "rb", opener=_opened) as file:
            digest.update(file.read(min(offset, PIECE_BYTES)))
            file.seek(max(0, offset - PIECE_BYTES))
            digest.update(file.read(min(offset, PIECE_BYTES)))
    except OSError:
        return ""
    return digest.hexdigest()


def note_mark(connection: sqlite3.Connection, source: Source, mark: Mark) -> None:
    """Write the mark up to which a source has been read, in the transaction of its records."""
    if is_hidden(source.name):
        return
    connection.execute(
        "UPDATE sources SET mark = ?, fingerprint = ? WHERE agent = ? AND path = ?",
        (_as_json(mark), fingerprint(source.path, mark.offset), source.agent, source.name),
    )


def note(
    connection: sqlite3.Connection,
    source: Source,
    mark: Mark,
    skipped: Sequence[str],
    *,
    is_whole: bool,
) -> None:
    """Write that a source has been read, in the transaction of `connection`.

    is_whole: Whether it could be read to its end; else it counts as changed.
    """
    if is_hidden(source.name):
        mark, skipped = Mark(), ()
    connection.execute(
        "UPDATE sources SET inode = ?, size = ?, mtime_ns = ?, fingerprint = ?, mark = ?,"
        " read_at = ?, gone_at = NULL, skipped = ? WHERE agent = ? AND path = ?",
        (
            source.inode if is_whole else _NOT_WHOLE, source.size, source.mtime_ns,
            fingerprint(source.path, mark.offset),
            _as_json(mark), _now_ms(),
            json.dumps(list(skipped)), source.agent, source.name,
        ),
    )  # fmt: skip


def show(connection: sqlite3.Connection, source: Source) -> Source:
    """Return a source by its path, of which something is kept again, and store it so."""
    if not is_hidden(source.name):
        return source
    shown = replace(source, name=clean_name(source.path))
    connection.execute(
        "UPDATE OR REPLACE sources SET path = ? WHERE agent = ? AND path = ?",
        (shown.name, source.agent, source.name),
    )
    return shown


def add(connection: sqlite3.Connection, source: Source) -> int:
    """Return the id of a source, added if it is new."""
    connection.execute(
        "INSERT OR IGNORE INTO sources (agent, path) VALUES (?, ?)", (source.agent, source.name)
    )
    (number,) = connection.execute(
        "SELECT id FROM sources WHERE agent = ? AND path = ?", (source.agent, source.name)
    ).fetchone()
    return int(number)


def note_gone(
    connection: sqlite3.Connection, agents: Sequence[Agent], present: set[tuple[str, str]]
) -> int:
    """Mark the sources that are not there any more; return how many are newly gone.

    A source that is not listed may be there nevertheless: the daemon has an environment of its own,
    whose variables may name other folders.

    present: The agents and stored names of those that are there.
    """
    names = {agent.name for agent in agents}
    gone, back = [], []
    for number, agent, path, gone_at in connection.execute(
        "SELECT id, agent, path, gone_at FROM sources"
    ):
        is_there = (agent, path) in present
        if is_there and gone_at is not None:
            back.append((number,))
        elif not is_there and gone_at is None and agent in names and _status(path) is None:
            gone.append((_now_ms(), number))
    connection.executemany("UPDATE sources SET gone_at = NULL WHERE id = ?", back)
    connection.executemany("UPDATE sources SET gone_at = ? WHERE id = ?", gone)
    return len(gone)


def _as_json(mark: Mark) -> str:
    state = {name: _without_secrets(value) for name, value in mark.state.items()}
    return json.dumps({"offset": mark.offset, "state": state})


def _without_secrets(value: str) -> str:
    """Return a value of a reader's state, an id or an object of ids and names, without secrets."""
    if not holds_secret(value):
        return value
    fields = parsed(value)
    if not isinstance(fields, dict):
        return clean_name(value)
    return compact(
        {
            name: clean_name(field) if isinstance(field, str) else field
            for name, field in fields.items()
        }
    )


def _status(path: str) -> os.stat_result | None:
    """Return the status of a regular file; None for anything else."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _size(path: str, status: os.stat_result, reader: TranscriptReader) -> int:
    """Return the size of a source; that of a database with its write-ahead log."""
    if reader.appends:
        return status.st_size
    log = _status(f"{path}-wal")
    return status.st_size + (log.st_size if log else 0)


def _changed(path: str, status: os.stat_result, reader: TranscriptReader) -> int:
    log = None if reader.appends else _status(f"{path}-wal")
    return max(status.st_mtime_ns, log.st_mtime_ns if log else 0)


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_NOFOLLOW)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
