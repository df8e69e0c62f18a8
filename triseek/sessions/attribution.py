"""Determines which work session an action or a call belongs to: every conversation has its own.

A conversation is named by its agent and the agent's id of it, as hooks report it. An MCP client
that names none is known by its connection: until a hook reports a call that came by it, the
connection belongs to the conversation of that agent which was active last, and without hooks it is
a conversation itself. A session that was opened from the command line is shared by all
conversations of its repository (docs/decisions/0034-every-conversation-is-a-session.md).
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cachetools import LRUCache

from triseek.agents.registry import recorded_name
from triseek.errors import TriseekError

if TYPE_CHECKING:
    from triseek.model.origin import Origin
    from triseek.model.session import Session
    from triseek.sessions.lifecycle import Sessions

_KEPT_MAX = 4_096


class _Opened(NamedTuple):
    session_id: str
    conversation: str
    """Which seemed to open it."""
    before: str
    """The session that this conversation had; "" for none."""


class Attribution:
    """Knows conversations, their connections and their sessions. Thread-safe."""

    def __init__(self, sessions: Sessions) -> None:
        """Attribute to `sessions`."""
        self._sessions = sessions
        self._lock = Lock()
        self._conversations: LRUCache[str, str] = LRUCache(_KEPT_MAX)
        """By connection: the conversation that used it last."""
        self._connections: LRUCache[str, str] = LRUCache(_KEPT_MAX)
        """By the id of a call: the connection that it came by."""
        self._opened: LRUCache[str, _Opened] = LRUCache(_KEPT_MAX)
        """By the id of a call: the session that it opened."""
        self._parents: LRUCache[str, str] = LRUCache(_KEPT_MAX)
        """By a sub-agent's conversation: the one that began it."""

    def session(self, root: str, origin: Origin, named: str = "") -> Session | None:
        """Return the open session of a repository that something belongs to; None if there is none.

        named: The id of the session that the caller works on; "" for none.
        """
        if named:
            session = self._named(root, named)
            if session is not None:
                return session
        conversation = self.conversation(root, origin)
        own = self._sessions.of_conversation(root, conversation)
        shared = self._sessions.shared(root)
        if own is not None and not (own.by_itself and shared is not None):
            return own
        if shared is not None:
            return shared
        if not conversation:
            return self._sessions.current(root) if not origin.harness else None
        awaiting = self._sessions.awaiting(root, _agent(origin))
        if awaiting is not None and origin.session:
            return self._sessions.join(awaiting.session_id, conversation)
        return None

    def conversation(self, root: str, origin: Origin) -> str:
        """Return the conversation's name; "" if the origin says nothing that names one."""
        agent = _agent(origin)
        if origin.session:
            return self._eldest(origin)
        with self._lock:
            bound = self._conversations.get(origin.connection, "")
        if bound:
            return bound
        last = self._sessions.last_conversation(root, agent) if agent else ""
        if last or not origin.connection:
            return last or (f"{agent}/" if agent else "")
        return f"connection/{origin.connection}"

    def called(self, origin: Origin) -> None:
        """Remember which connection a call came by."""
        if origin.call and origin.connection:
            with self._lock:
                self._connections[origin.call] = origin.connection

    def opened(
        self, origin: Origin, session: Session, conversation: str, before: Session | None
    ) -> None:
        """Remember that a call opened a session for the conversation that it seems to be of.

        before: The session which that conversation had; None for none.
        """
        self.called(origin)
        if origin.call:
            earlier = before.session_id if before is not None else ""
            with self._lock:
                self._opened[origin.call] = _Opened(session.session_id, conversation, earlier)

    def heard(self, origin: Origin) -> None:
        """Learn from a hook that a conversation has made a call of one of our tools."""
        conversation = self._eldest(origin)
        with self._lock:
            connection = self._connections.get(origin.call, "")
            opened = self._opened.pop(origin.call, None)
            if connection:
                self._conversations[connection] = conversation
        if opened is not None and opened.conversation != conversation:
            self._sessions.leave(opened.session_id, opened.conversation)
            if opened.before not in ("", opened.session_id):
                self._sessions.join(opened.before, opened.conversation)
            self._sessions.join(opened.session_id, conversation)

    def _eldest(self, origin: Origin) -> str:
        """Return the conversation of the person: a sub-agent's is that of its parent."""
        agent = _agent(origin)
        name = f"{agent}/{origin.session}"
        with self._lock:
            if origin.parent:
                parent = f"{agent}/{origin.parent}"
                self._parents[name] = self._parents.get(parent, parent)
            return self._parents.get(name, name)

    def _named(self, root: str, session_id: str) -> Session | None:
        try:
            session = self._sessions.get(session_id)
        except TriseekError:
            return None
        return session if session.status == "open" and session.repo_root == root else None


def _agent(origin: Origin) -> str:
    return recorded_name(origin.harness) or ""
