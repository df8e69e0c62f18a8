"""The sessions folder: `sessions.json` and a folder with a log for each session.

    sessions.json                   {schema_version, sessions: [by id], next_entry_id, logs}
    <session_id>/action_log.jsonl   see `sessions.action_log`

`sessions.json` is an index, replaced as a whole whenever a session changes. Its `logs` has the
number of entries and bytes of each log at that time, by the session's id, so that they need not be
counted again. The logs have the same information: each begins with an entry that opens the session.
So a damaged index is set aside and rebuilt from the logs, and no session is lost.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from triseek import private
from triseek.errors import StateUnwritable
from triseek.model.session import SCHEMA_VERSION, Session, checked_id, is_count, is_id, is_ours
from triseek.sessions.action_log import NAME as LOG
from triseek.sessions.action_log import ActionLog, Counted
from triseek.store import atomic

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping

logger = logging.getLogger(__name__)

INDEX = "sessions.json"
OPENED, CLOSED, RESUMED = "session_open", "session_close", "session_resume"
HANDED_OFF = "session_handoff"
"""Kinds of the entries that define a session; their payload holds its record."""
_INDEX_MAX = 64 << 20
_NUMBER_MAX = 1 << 53
"""Maximum number of an entry: no machine writes so many, so an index with more is damaged."""


class StoredSessions(NamedTuple):
    """The content of a folder of sessions."""

    sessions: dict[str, Session]
    next_entry_id: int
    counted: dict[str, Counted] = {}  # noqa: RUF012 - never changed
    """Counts of the logs, by the ids of their sessions."""


def load(folder: str | os.PathLike[str]) -> StoredSessions:
    """Read a folder, for its owner; a missing folder is empty.

    A damaged index is set aside, and one that was half written is removed.
    """
    path = Path(folder) / INDEX
    for partial in path.parent.glob(f"{INDEX}.*.partial"):  # of a process that was killed
        partial.unlink(missing_ok=True)
    kept = _indexed(path)
    if kept is None:
        _set_aside(path)
        kept = StoredSessions({}, 1)
    sessions = {**dict(_from_logs(folder, known=kept.sessions)), **kept.sessions}
    newest = max((log.last_id() for log in _logs(folder)), default=0)
    return kept._replace(sessions=sessions, next_entry_id=max(kept.next_entry_id, newest + 1))


def peek(folder: str | os.PathLike[str]) -> dict[str, Session]:
    """Return the sessions of a folder by their ids, for a process that is not its owner.

    Nothing is written. Sessions that the index lacks, or all if it is damaged, are read from the
    logs.
    """
    kept = _indexed(Path(folder) / INDEX) or StoredSessions({}, 1)
    return {**dict(_from_logs(folder, known=kept.sessions)), **kept.sessions}


def save(
    folder: str | os.PathLike[str],
    sessions: Iterable[Session],
    next_entry_id: int,
    counted: Mapping[str, Counted],
) -> None:
    """Replace the index.

    Raises:
        StateUnwritable: it cannot be written; the old index is still there.
    """
    document = {
        "schema_version": SCHEMA_VERSION,
        "sessions": [s.document() for s in sorted(sessions, key=lambda s: s.session_id)],
        "next_entry_id": next_entry_id,
        "logs": {name: list(counted[name]) for name in sorted(counted)},
    }
    try:
        private.make(folder)
        atomic.write(Path(folder) / INDEX, json.dumps(document, indent=1).encode("ascii"))
    except OSError as error:
        raise StateUnwritable(f"cannot write {folder}: {error.strerror}") from error


def remove(folder: str | os.PathLike[str], session_ids: Iterable[str]) -> None:
    """Delete the logs of sessions that are no longer in the index; skip what cannot be deleted."""
    for name in session_ids:
        shutil.rmtree(Path(folder) / checked_id(name), ignore_errors=True)


def _indexed(path: Path) -> StoredSessions | None:
    """Read the index; None if it is damaged."""
    try:
        with path.open("rb") as file:
            body = json.loads(file.read(_INDEX_MAX))
        next_id = body["next_entry_id"]
        if not is_ours(body["schema_version"]) or not is_count(next_id) or next_id > _NUMBER_MAX:
            return None
        sessions = [Session.read(record) for record in body["sessions"]]
    except FileNotFoundError:
        return StoredSessions({}, 1)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    counted = dict(_counted(body.get("logs")))
    return StoredSessions({session.session_id: session for session in sessions}, next_id, counted)


def _counted(body: object) -> Iterator[tuple[str, Counted]]:
    """Yield the index's counts of the logs; logs with an invalid count are counted again."""
    for name, stored in body.items() if isinstance(body, dict) else ():
        match stored:
            case [int(entries), int(size)] if is_count(entries) and is_count(size):
                yield name, Counted(entries, size)


def _set_aside(path: Path) -> None:
    with contextlib.suppress(OSError):
        aside = path.with_name(f"{INDEX}.damaged")
        path.replace(aside)
        logger.warning("sessions.json makes no sense; it is set aside", extra={"path": str(aside)})


def _from_logs(
    folder: str | os.PathLike[str], known: Iterable[str]
) -> Iterator[tuple[str, Session]]:
    """Yield the sessions that are only in their logs."""
    for action_log in _logs(folder):
        if action_log.path.parent.name in known:
            continue
        session = None
        for entry in action_log:
            if entry.kind in (OPENED, CLOSED, RESUMED):
                with contextlib.suppress(ValueError):
                    session = Session.read(entry.payload.get("session"))
        if session is not None and session.session_id == action_log.path.parent.name:
            yield session.session_id, session


def _logs(folder: str | os.PathLike[str]) -> Iterator[ActionLog]:
    with contextlib.suppress(OSError):
        for session_folder in sorted(Path(folder).iterdir()):
            if is_id(session_folder.name) and (session_folder / LOG).is_file():
                yield ActionLog(session_folder)
