"""Forgets conversations in triseek's own session logs, snapshots and exported packs.

A session in which nothing else was done is deleted, open or not; from any other one the
conversation's entries are taken out, and its goal too if that conversation began it. Snapshots and
packs that hold some of it are deleted. What an agent does in a conversation after that is recorded
in a new session.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from pathlib import Path
from typing import TYPE_CHECKING

from triseek import paths
from triseek.app.session_records import SessionRecords, history_name
from triseek.errors import Busy, InvalidRequest, PackRejected, StateUnwritable
from triseek.history.own_sessions import Removed
from triseek.ipc import lock
from triseek.sessions import files, pack
from triseek.sessions.lifecycle import Sessions
from triseek.sessions.snapshot import Snapshots

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from triseek.model.session import LogEntry, Session
    from triseek.sessions.action_log import ActionLog

    Conversations = Collection[tuple[str, str]]

SNAPSHOT_S = 15.0
"""Seconds to wait for a snapshot; git may be slow."""


def forget(
    conversations: Conversations,
    sessions: Sessions | None,
    snapshots: Snapshots | None,
    finish_snapshot: Callable[[float], None] = lambda _within_s: None,
    *,
    dry_run: bool,
) -> Removed:
    """Remove everything that is recorded of some conversations.

    Args:
        conversations: The history's name of the agent and its id of the conversation, of each.
        sessions: The sessions that this process owns; None to own those of the state folder
            meanwhile, in place of a daemon.
        snapshots: The snapshots; None for those of the state folder.
        finish_snapshot: Waits for a snapshot of these sessions that is being made.
        dry_run: Count what would be removed, and remove nothing.

    Raises: as `OwnSessions.forget`.
    """
    snapshots = snapshots or Snapshots(paths.snapshots())
    with contextlib.ExitStack() as stack:
        if sessions is None:
            if not Path(paths.daemon()).is_dir():
                return Removed()
            stack.enter_context(_instead_of_daemon())
            sessions = Sessions(paths.sessions())
        affected = _affected(sessions, conversations)
        if not dry_run:
            for session_id in affected:
                sessions.rewrite(session_id, lambda s, log: _without(s, log, conversations))
            if affected:
                _remove_aside()
            finish_snapshot(SNAPSHOT_S)
        forgotten = set(affected)
        taken = list(_snapshots(snapshots, conversations, forgotten))
        packs = list(_packs(conversations, forgotten))
        if not dry_run:
            for snapshot_id in taken:
                snapshots.remove(snapshot_id)
            _unlink(packs)
    return Removed(logs=len(affected), snapshots=len(taken), packs=len(packs))


@contextlib.contextmanager
def _instead_of_daemon() -> Iterator[None]:
    """Hold the daemon's lock: only its holder may change sessions."""
    lock.ensure_folder()
    descriptor = lock.take()
    if descriptor is None:
        raise Busy("a daemon is starting or ending", next_step="Try again.")
    try:
        yield
    finally:
        os.close(descriptor)


def _affected(sessions: Sessions, conversations: Conversations) -> list[str]:
    """Return the ids of the sessions in which one of these conversations took part."""
    return [
        session.session_id
        for session in sessions.every()
        if _has_joined(session, conversations)
        or _holds(session.session_id, sessions.log(session.session_id), conversations)
    ]


def _holds(session_id: str, entries: Iterable[LogEntry], conversations: Conversations) -> bool:
    records = SessionRecords(session_id)
    return any(records.conversation(entry) in conversations for entry in entries)


def _has_joined(session: Session, conversations: Conversations) -> bool:
    return any(_key(name) in conversations for name in session.conversations)


def _key(name: str) -> tuple[str, str]:
    """Return the key of a conversation as sessions name it, `agent/id`."""
    harness, _, conversation = name.partition("/")
    return history_name(harness), conversation


def _without(
    session: Session, log: ActionLog, conversations: Conversations
) -> tuple[Session, Sequence[LogEntry]] | None:
    """Return a session and its entries without some conversations; None if nothing is left."""
    records = SessionRecords(session.session_id)
    owned = [(entry, records.conversation(entry)) for entry in log]
    of_work = [key for _, key in owned if key is not None]
    others = [name for name in session.conversations if _key(name) not in conversations]
    if all(key in conversations for key in of_work) and (of_work or not others):
        return None
    has_begun_it = of_work[:1] != [] and of_work[0] in conversations
    kept = dataclasses.replace(
        session, conversations=tuple(others), goal="" if has_begun_it else session.goal
    )
    if kept.is_shared and not session.is_shared and kept.status == "open":
        kept = dataclasses.replace(kept, status="abandoned")  # else any conversation would join it
    entries = [
        _redefined(entry, kept) if key is None else entry
        for entry, key in owned
        if key not in conversations
    ]
    return kept, entries


def _redefined(entry: LogEntry, session: Session) -> LogEntry:
    """Return an entry about a session without what is left out of that."""
    record = entry.payload.get("session")
    if not isinstance(record, dict):
        return entry
    listed = [*session.conversations]
    goal = record.get("goal") if session.goal else ""
    record = {**record, "goal": goal, "conversations": listed}
    return dataclasses.replace(entry, payload={**entry.payload, "session": record})


def _remove_aside() -> None:
    """Remove a damaged index that was set aside: it has the goals of sessions."""
    with contextlib.suppress(OSError):
        Path(paths.sessions(), f"{files.INDEX}.damaged").unlink(missing_ok=True)


def _snapshots(
    snapshots: Snapshots, conversations: Conversations, sessions: Collection[str]
) -> Iterator[str]:
    """Yield the ids of the snapshots that hold some of these conversations, or their sessions."""
    for manifest in snapshots.all():
        if manifest.session_id in sessions:
            yield manifest.snapshot_id
            continue
        with contextlib.suppress(InvalidRequest):  # damaged
            entries = snapshots.get(manifest.snapshot_id).entries
            if _holds(manifest.session_id, entries, conversations):
                yield manifest.snapshot_id


def _packs(conversations: Conversations, sessions: Collection[str]) -> Iterator[Path]:
    """Yield the exported packs that hold some of these conversations, or their sessions."""
    for path in sorted(Path(paths.exports()).glob(f"*{pack.SUFFIX}")):
        with contextlib.suppress(PackRejected):
            snapshot = pack.unpack(path).snapshot
            session_id = snapshot.manifest.session_id
            if session_id in sessions or _holds(session_id, snapshot.entries, conversations):
                yield path


def _unlink(packs: Iterable[Path]) -> None:
    for path in packs:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise StateUnwritable(f"cannot remove {path}: {error.strerror}") from error
