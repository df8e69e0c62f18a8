"""session_open, session_status, session_list, session_close: the sessions of one machine."""

from __future__ import annotations

import dataclasses
import logging
import time
from pathlib import Path
from threading import Lock, RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from triseek.errors import InvalidRequest, StateUnwritable
from triseek.model.session import ALL, GOAL_MAX, LogEntry, Session, checked_id
from triseek.redaction import redact, redact_json
from triseek.sessions import files
from triseek.sessions.action_log import ActionLog, Counted

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from triseek.model.session import Status

logger = logging.getLogger(__name__)

CURRENT_S = 8 * 3600.0
"""A session that was not used for so many seconds is not meant by a caller who names none."""
CONVERSATIONS_MAX = 50
"""Conversations of a session that are remembered; older ones are forgotten."""
_TAIL_BYTES = 64 << 10


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
        self._used: dict[str, int] = {}
        """The newest entry of each session, as far as this process has written it."""

    def open(
        self,
        root: str,
        goal: str = "",
        session_id: str = "",
        *,
        by_itself: bool = False,
        conversation: str = "",
        awaits: str = "",
        resumed: Mapping[str, Any] | None = None,
    ) -> Session:
        """Open a new session, or reopen the one with that id.

        Without a conversation and `awaits` it is shared by all conversations of the repository.

        Args:
            root: The repository, absolute.
            goal: Its goal; a blank one leaves the goal of an existing session unchanged.
            session_id: "" for the session that the conversation began by itself, if it has one,
                otherwise for a new one.
            by_itself: Whether it begins without a request.
            conversation: The conversation that opens it; "" if it is not known.
            awaits: The agent whose next conversation belongs to it; * for any; "" for none.
            resumed: What to record if it is opened to resume a snapshot.

        Raises:
            InvalidRequest: The id is not valid, or belongs to another repository.
            StateUnwritable: It cannot be written.
        """
        if session_id:
            checked_id(session_id)
        goal = redact(goal).strip()[:GOAL_MAX]
        with self._lock:
            now = int(self._clock())
            if not session_id and not by_itself:
                session_id = self._begun(root, conversation, awaits)
            existing = self._sessions.get(session_id) if session_id else None
            if existing is None:
                existing = Session(
                    session_id=session_id or self._new_id(), goal=goal, repo_root=root,
                    created_at=now, updated_at=now, by_itself=by_itself,
                )  # fmt: skip
            elif existing.repo_root != root:
                raise InvalidRequest(
                    f"session {session_id} belongs to {existing.repo_root}",
                    next_step="Open it there, or choose another id.",
                )
            earlier = existing.conversations
            if not (by_itself or conversation or awaits):
                earlier = ()  # a person opens it, for every conversation
            elif existing.session_id in self._sessions and existing.is_shared:
                earlier = (ALL, *earlier)
            session = dataclasses.replace(
                existing,
                goal=goal or existing.goal,
                status="open",
                updated_at=now,
                by_itself=by_itself,
                awaits=_awaited(existing.awaits, awaits, conversation),
                conversations=_joined(earlier, conversation),
            )
            self._opened[session.session_id] = self._next
            if conversation:
                self._leave(root, conversation, session.session_id)
            if resumed is None:
                self._change(session, files.OPENED)
            else:
                self._change(session, files.RESUMED, resumed)
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
        """Return the session of a repository that a caller means who names none.

        That is the one opened last of those that were opened on request and used within
        `CURRENT_S`, else the open one that was used last.
        """
        sessions = self.all(root, "open")
        with self._lock:
            since = self._clock() - CURRENT_S

            def rank(session: Session) -> tuple[int, int, int]:
                is_meant = not session.by_itself and session.updated_at >= since
                opened = self._opened.get(session.session_id, 0) + 1 if is_meant else 0
                return opened, session.updated_at, self._used.get(session.session_id, 0)

            return max(sessions, key=rank, default=None)

    def of_conversation(self, root: str, conversation: str) -> Session | None:
        """Return the open session of a repository to which a conversation belongs."""
        return next((s for s in self.all(root, "open") if conversation in s.conversations), None)

    def shared(self, root: str) -> Session | None:
        """Return the open session that all conversations of a repository share, opened last."""
        return self._latest(s for s in self.all(root, "open") if s.is_shared)

    def awaiting(self, root: str, agent: str) -> Session | None:
        """Return the open session that awaits a conversation of this agent, opened last."""
        wanted = {"*", agent} - {""}
        return self._latest(
            s for s in self.all(root, "open") if wanted.intersection(s.awaits.split(","))
        )

    def last_conversation(self, root: str, agent: str) -> str:
        """Return the conversation of an agent that was active last; "" if none was of late."""
        since = self._clock() - CURRENT_S
        lead = f"{agent}/"
        for session in self.all(root, "open"):
            names = [name for name in session.conversations if name.startswith(lead)]
            if names and session.updated_at >= since:
                return names[-1]
        return ""

    def latest_of(self, root: str, agent: str) -> Session | None:
        """Return the session in which an agent worked last, open or not."""
        lead = f"{agent}/"
        for session in self.all(root):
            is_joined = any(name.startswith(lead) for name in session.conversations)
            if is_joined or self._is_work_of(session.session_id, agent):
                return session
        return None

    def join(self, session_id: str, conversation: str) -> Session:
        """Make a conversation belong to a session, and to no other of its repository.

        Raises:
            InvalidRequest: There is no such session.
        """
        with self._lock:
            session = self.get(session_id)
            if session.conversations[-1:] == (conversation,):
                return session
            names = _joined(session.conversations, conversation)
            rest = _awaited(session.awaits, "", conversation)
            session = dataclasses.replace(session, conversations=names, awaits=rest)
            self._leave(session.repo_root, conversation, session_id)
            self._sessions[session_id] = session
            self._unsaved = True
            return session

    def leave(self, session_id: str, conversation: str) -> None:
        """Make a conversation belong to a session no longer; it then awaits another.

        Raises:
            InvalidRequest: There is no such session.
        """
        with self._lock:
            session = self.get(session_id)
            names = tuple(name for name in session.conversations if name != conversation)
            awaits = _awaited(session.awaits, conversation.partition("/")[0], "")
            session = dataclasses.replace(session, conversations=names, awaits=awaits)
            self._sessions[session_id] = session
            self._unsaved = True

    def name(self, session_id: str, goal: str) -> Session:
        """Give a session a goal, if it has none.

        Raises:
            InvalidRequest: There is no such session.
        """
        with self._lock:
            session = self.get(session_id)
            if not session.goal:
                session = dataclasses.replace(session, goal=redact(goal).strip()[:GOAL_MAX])
                self._sessions[session_id] = session
                self._unsaved = True
            return session

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
            self._take_out(old)
        self._delete(old)
        return len(old)

    def every(self) -> list[Session]:
        """Return the sessions of all repositories."""
        with self._lock:
            return list(self._sessions.values())

    def rewrite(
        self,
        session_id: str,
        choose: Callable[[Session, ActionLog], tuple[Session, Sequence[LogEntry]] | None],
    ) -> None:
        """Replace a session and its log, while nothing is recorded; or delete both.

        choose: Returns what to keep; None to keep nothing. It is called with every writer waiting.

        Raises:
            InvalidRequest: There is no such session.
            StateUnwritable: It cannot be written.
        """
        deleted = []
        with self._lock:
            session = self.get(session_id)
            kept = choose(session, self._log(session_id))
            if kept is None:
                deleted = [session]
                self._take_out(deleted)
            else:
                self._log(session_id).replace(kept[1])
                self._sessions[session_id] = kept[0]
                self._unsaved = True
        if deleted:
            self._delete(deleted)
        else:
            self._save()

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

    def _take_out(self, sessions: Sequence[Session]) -> None:
        for session in sessions:
            del self._sessions[session.session_id]
            self._logs.pop(session.session_id, None)

    def _delete(self, sessions: Sequence[Session]) -> None:
        """Store the index without sessions that were taken out of it, and delete their logs."""
        if not sessions:
            return
        try:
            self._save()
        except StateUnwritable:
            with self._lock:  # their logs are still there, so they would come back
                self._sessions = {s.session_id: s for s in sessions} | self._sessions
            raise
        files.remove(self._folder, [session.session_id for session in sessions])

    def _begun(self, root: str, conversation: str, awaits: str) -> str:
        """Return the id of the session that a conversation began by itself; "" if it has none."""
        own = self.of_conversation(root, conversation) if conversation else None
        if not conversation and not awaits:
            own = self.current(root)
        return own.session_id if own is not None and own.by_itself else ""

    def _latest(self, sessions: Iterable[Session]) -> Session | None:
        return max(sessions, key=lambda s: self._opened.get(s.session_id, 0), default=None)

    def _leave(self, root: str, conversation: str, but: str) -> None:
        """Take a conversation out of all sessions of a repository but one."""
        for session in list(self._sessions.values()):
            if session.repo_root == root and session.session_id != but:
                names = tuple(name for name in session.conversations if name != conversation)
                if names != session.conversations:
                    left = dataclasses.replace(session, conversations=names)
                    self._sessions[session.session_id] = left
                    self._unsaved = True

    def _is_work_of(self, session_id: str, agent: str) -> bool:
        """Whether some of the newest entries of a log are an agent's."""
        entries = self.log(session_id).newest(_TAIL_BYTES).entries
        return any(entry.payload.get("harness") == agent for entry in entries)

    def _change(
        self, session: Session, kind: str, more: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        lasting = tuple(name for name in session.conversations if not _is_connection(name))
        record = dataclasses.replace(session, awaits="", conversations=lasting)
        payload = {"session": record.document(), **more}
        self._append(session.session_id, kind, payload, session.updated_at)
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
        self._used[session_id] = number
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


def _joined(conversations: tuple[str, ...], conversation: str) -> tuple[str, ...]:
    others = tuple(name for name in conversations if name not in (conversation, ALL))
    joined = (*others, conversation)[-CONVERSATIONS_MAX:] if conversation else others
    return (ALL, *joined) if ALL in conversations else joined


def _is_connection(conversation: str) -> bool:
    """Whether a conversation is only a connection, which ends with a process."""
    return conversation.startswith("connection/")


def _awaited(earlier: str, more: str, conversation: str) -> str:
    """Return whom a session awaits, when somebody opens or joins it.

    A conversation that is only a connection may turn out to be one of its agent's.
    """
    agents = set(filter(None, earlier.split(",")))
    if not conversation or _is_connection(conversation):
        agents |= {more} - {""}
    else:
        agents -= {"*", conversation.partition("/")[0]}
    return ",".join(sorted(agents))
