"""session_open, session_status, session_list, session_close: the sessions of one machine."""

from __future__ import annotations

import dataclasses
import logging
import time
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any, Literal

from triseek.errors import InvalidRequest, StateUnwritable
from triseek.model.session import GOAL_MAX, LogEntry, Session, checked_id
from triseek.redaction import redact, redact_json
from triseek.sessions import files
from triseek.sessions.action_log import ActionLog, Counted

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from triseek.model.session import Status

logger = logging.getLogger(__name__)


class Sessions:
    """All sessions and their logs; threads may share it.

    One process owns the folder: the daemon, which holds its own lock.
    """

    def __init__(
        self, folder: str | os.PathLike[str], clock: Callable[[], float] = time.time
    ) -> None:
        """Read the sessions in `folder`, which is created by the first write."""
        self._folder = folder
        self._clock = clock
        self._lock = RLock()
        self._saving = Lock()  # one save at a time; taken before `_lock`, never after
        kept = files.load(folder)
        self._sessions = kept.sessions
        self._unsaved = bool(kept.sessions)  # some may be in the logs alone
        self._next = kept.next_entry_id
        self._counted = kept.counted
        self._logs: dict[str, ActionLog] = {}
        self._opened: dict[str, int] = {}
        """The next entry number when each session was last opened in this process."""

    def open(
        self, root: str, goal: str = "", session_id: str = "", *, by_itself: bool = False
    ) -> Session:
        """Open a new session, or reopen the one with that id.

        Args:
            root: The repository, absolute.
            goal: Its goal; a blank one leaves the goal of an existing session unchanged.
            session_id: "" for the current session if it began by itself, otherwise for a new one.
            by_itself: Whether it begins without a request.

        Raises:
            InvalidRequest: The id is not valid, or belongs to another repository.
            StateUnwritable: It cannot be written.
        """
        if session_id:
            checked_id(session_id)
        goal = redact(goal).strip()[:GOAL_MAX]
        with self._lock:
            now = int(self._clock())
            current = self.current(root)
            if not session_id and not by_itself and current is not None and current.by_itself:
                session_id = current.session_id
            existing = self._sessions.get(session_id) if session_id else None
            if existing is None:
                name = session_id or self._new_id()
                session = Session(
                    session_id=name, goal=goal, repo_root=root, created_at=now, updated_at=now,
                    by_itself=by_itself,
                )  # fmt: skip
            elif existing.repo_root != root:
                raise InvalidRequest(
                    f"session {session_id} belongs to {existing.repo_root}",
                    next_step="Open it there, or choose another id.",
                )
            else:
                goal = goal or existing.goal
                session = dataclasses.replace(
                    existing, goal=goal, status="open", updated_at=now, by_itself=by_itself
                )
            self._opened[session.session_id] = self._next
            self._change(session, files.OPENED)
        self._save()
        return session

    def close(self, session_id: str, status: Status) -> Session:
        """End a session.

        Raises:
            InvalidRequest: There is no such session, or the status is not one of an ended session.
            StateUnwritable: It cannot be written.
        """
        if status not in ("resolved", "abandoned"):
            raise InvalidRequest(
                f"a session does not end as {status!r}", next_step="Say resolved or abandoned."
            )
        with self._lock:
            session = self.get(session_id)
            now = int(self._clock())
            session = dataclasses.replace(session, status=status, updated_at=now)
            self._change(session, files.CLOSED)
        self._save()
        return session

    def get(self, session_id: str) -> Session:
        """Return the session with that id.

        Raises:
            InvalidRequest: There is none.
        """
        with self._lock:
            session = self._sessions.get(checked_id(session_id))
        if session is None:
            raise InvalidRequest(
                f"unknown session_id `{session_id}`",
                next_step="See `triseek session list`.",
                tool_step="session_list has the ids.",
            )
        return session

    def all(self, root: str, status: Status | Literal[""] = "") -> list[Session]:
        """Return the sessions of a repository, last changed first."""
        with self._lock:
            sessions = [
                session
                for session in self._sessions.values()
                if session.repo_root == root and status in ("", session.status)
            ]
        return sorted(sessions, key=lambda s: (s.updated_at, s.session_id), reverse=True)

    def current(self, root: str) -> Session | None:
        """Return the open session of a repository that was opened last, else the one used last."""
        sessions = self.all(root, "open")
        with self._lock:
            return max(sessions, key=lambda s: self._opened.get(s.session_id, 0), default=None)

    def record(
        self, session_id: str, kind: str, payload: dict[str, Any], at_s: float | None = None
    ) -> int:
        """Append an entry to a session's log, and return its number.

        Raises:
            InvalidRequest: There is no such session.
            StateUnwritable: It cannot be written.
        """
        with self._lock:
            session = self.get(session_id)
            at = int(self._clock() if at_s is None else at_s)
            number = self._append(session_id, kind, payload, at)
            self._sessions[session_id] = dataclasses.replace(
                session, updated_at=max(session.updated_at, at)
            )
            self._unsaved = True
            return number

    def log(self, session_id: str) -> ActionLog:
        """Return the log of an existing session."""
        with self._lock:
            self.get(session_id)
            return self._log(session_id)

    def prune(self, idle_s: float) -> int:
        """Delete sessions that began by themselves and were idle for `idle_s`; return their number.

        Raises:
            StateUnwritable: The index cannot be written.
        """
        with self._lock:
            before = self._clock() - idle_s
            old = [s for s in self._sessions.values() if s.by_itself and s.updated_at < before]
            for session in old:
                del self._sessions[session.session_id]
                self._logs.pop(session.session_id, None)
        if old:
            try:
                self._save()
            except StateUnwritable:
                with self._lock:  # their logs are still there, so they would come back
                    self._sessions = {s.session_id: s for s in old} | self._sessions
                raise
            files.remove(self._folder, [session.session_id for session in old])
        return len(old)

    def save(self) -> None:
        """Store when sessions were last used, if any was, and make their logs durable.

        Raises:
            StateUnwritable: It cannot be written.
        """
        if self._unsaved:
            self._save()
        with self._lock:
            logs = list(self._logs.values())
        for log in logs:
            log.sync()

    def _change(self, session: Session, kind: str) -> None:
        self._append(session.session_id, kind, {"session": session.document()}, session.updated_at)
        self._sessions[session.session_id] = session
        self._unsaved = True

    def _save(self) -> None:
        """Replace the index, without making writers of logs wait for the disk."""
        with self._saving:
            with self._lock:
                sessions, next_id = list(self._sessions.values()), self._next
                logs = dict(self._logs)
                self._unsaved = False
            self._counted |= {name: log.counted() for name, log in logs.items()}
            ids = {session.session_id for session in sessions}
            self._counted = {name: count for name, count in self._counted.items() if name in ids}
            try:
                files.save(self._folder, sessions, next_id, self._counted)
            except StateUnwritable:
                self._unsaved = True
                raise

    def _append(self, session_id: str, kind: str, payload: dict[str, Any], at: int) -> int:
        number = self._next
        plain = redact_json(payload)
        entry = LogEntry(entry_id=number, session_id=session_id, ts=at, kind=kind, payload=plain)
        self._log(session_id).append(entry)
        self._next = number + 1
        return number

    def _log(self, session_id: str) -> ActionLog:
        if session_id not in self._logs:
            counted = self._counted.get(session_id, Counted())
            self._logs[session_id] = ActionLog(Path(self._folder, session_id), counted)
        return self._logs[session_id]

    def _new_id(self) -> str:
        millis = int(self._clock() * 1000)
        while f"session_{millis}" in self._sessions:
            millis += 1
        return f"session_{millis}"
