"""Owner of the sessions folder: `sessions.json` and a folder with a log for each session.

    sessions.json                   {schema_version, sessions: [by id], next_entry_id, logs}
    <session_id>/action_log.jsonl   see `sessions.action_log`

`sessions.json` is an index, replaced whole whenever a session changes; `logs` has the entries and
bytes of each log then, by the session's id, so that nobody has to count them again. What it would
say is in the logs too: each begins with an entry that opens it. So if it is damaged, it is set
aside and made anew from them, and no session is lost by it.
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
OPENED, CLOSED = "session_open", "session_close"
"""Kinds of the entries that say what a session is; their payload holds its record."""
_INDEX_MAX = 64 << 20
_NUMBER_MAX = 1 << 53
"""Of an entry: no machine writes so many, and a damaged index must not say so."""


class Kept(NamedTuple):
    """What a folder of sessions holds."""

    sessions: dict[str, Session]
    next_entry_id: int
    counted: dict[str, Counted] = {}  # noqa: RUF012 - never changed
    """Of the logs, by the ids of their sessions."""


def load(folder: str | os.PathLike[str]) -> Kept:
    """Read a folder, for its owner; one that is not there holds nothing.

    What is damaged is set aside, what was half written is removed.
    """
    path = Path(folder) / INDEX
    for left in path.parent.glob(f"{INDEX}.*.partial"):  # of a process that was killed
        left.unlink(missing_ok=True)
    kept = _indexed(path)
    if kept is None:
        _set_aside(path)
        kept = Kept({}, 1)
    sessions = {**dict(_from_logs(folder, known=kept.sessions)), **kept.sessions}
    newest = max((log.last_id() for log in _logs(folder)), default=0)
    return kept._replace(sessions=sessions, next_entry_id=max(kept.next_entry_id, newest + 1))


def peek(folder: str | os.PathLike[str]) -> dict[str, Session]:
    """The sessions of a folder by their ids, for a process that is not its owner.

    Nothing is written: what the index does not tell of, or all if it is damaged, comes of the logs.
    """
    kept = _indexed(Path(folder) / INDEX) or Kept({}, 1)
    return {**dict(_from_logs(folder, known=kept.sessions)), **kept.sessions}


def save(
    folder: str | os.PathLike[str],
    sessions: Iterable[Session],
    next_entry_id: int,
    counted: Mapping[str, Counted],
) -> None:
    """Replace the index.

    Raises:
        StateUnwritable: it cannot be written; the old one is still there.
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
    """Delete the logs of sessions that the index no longer names; what cannot be deleted stays."""
    for name in session_ids:
        shutil.rmtree(Path(folder) / checked_id(name), ignore_errors=True)


def log(
    folder: str | os.PathLike[str], session_id: str, counted: Counted | None = None
) -> ActionLog:
    """The log of a session, whose id has been checked.

    counted: What its owner has counted; None: as the index says.
    """
    if counted is None:
        kept = _indexed(Path(folder) / INDEX) or Kept({}, 1)
        counted = kept.counted.get(session_id, Counted())
    return ActionLog(Path(folder) / session_id, counted)


def _indexed(path: Path) -> Kept | None:
    """What the index says; None if it makes no sense."""
    try:
        with path.open("rb") as file:
            body = json.loads(file.read(_INDEX_MAX))
        next_id = body["next_entry_id"]
        if not is_ours(body["schema_version"]) or not is_count(next_id) or next_id > _NUMBER_MAX:
            return None
        sessions = [Session.read(each) for each in body["sessions"]]
    except FileNotFoundError:
        return Kept({}, 1)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    counted = dict(_counted(body.get("logs")))
    return Kept({session.session_id: session for session in sessions}, next_id, counted)


def _counted(body: object) -> Iterator[tuple[str, Counted]]:
    """What the index says of logs; where it makes no sense, they are counted once more."""
    for name, told in body.items() if isinstance(body, dict) else ():
        match told:
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
    """Sessions that only their logs tell of."""
    for each in _logs(folder):
        if each.path.parent.name in known:
            continue
        session = None
        for entry in each:
            if entry.kind in (OPENED, CLOSED):
                with contextlib.suppress(ValueError):
                    session = Session.read(entry.payload.get("session"))
        if session is not None and session.session_id == each.path.parent.name:
            yield session.session_id, session


def _logs(folder: str | os.PathLike[str]) -> Iterator[ActionLog]:
    with contextlib.suppress(OSError):
        for each in sorted(Path(folder).iterdir()):
            if is_id(each.name) and (each / LOG).is_file():
                yield ActionLog(each)
