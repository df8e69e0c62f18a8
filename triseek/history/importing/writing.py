"""Writes the records of conversations to the database.

Records may come again, with more in them than before, so each write is an upsert by the agent's own
ids. What a source no longer has stays in the database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from triseek.engine.roots import project
from triseek.history.importing import cleaning, precedence
from triseek.model.conversation import Conversation, Message, ToolEvent
from triseek.recall.sub_tokens import sub_tokens
from triseek.redaction import PRIVATE

if TYPE_CHECKING:
    import sqlite3

    from triseek.history.tombstones import Tombstones


FOREIGN_PREFIX = "claude-mem:"
"""What the external ids of prompts begin with that claude-mem's database had."""


@dataclass(slots=True)
class _Session:
    """What is known of a session while its records are written."""

    id: int
    cwd: str
    prompts: int
    """The number of its last prompt."""
    prompt: int
    """The number of the prompt whose turn is being read."""
    is_private: bool
    """Whether that prompt is private, so that its turn is not kept."""
    first_ms: int
    last_ms: int


@dataclass(slots=True)
class Written:
    """What was written."""

    sessions: set[int] = field(default_factory=set)
    """The ids of sessions that have changed."""
    messages: int = 0
    events: int = 0
    forgotten: int = 0
    """Records that were left out because somebody has forgotten them."""


class Writer:
    """Writes records of one source, in the transaction of one connection at a time."""

    def __init__(
        self,
        agent: str,
        source_id: int,
        tombstones: Tombstones,
        rank: int = len(precedence.LESSER),
    ) -> None:
        """Write records of an agent's source.

        rank: What the source's kind is worth; see `precedence.rank`.
        """
        self._agent = agent
        self._source_id = source_id
        self._rank = rank
        self._tombstones = tombstones
        self._sessions: dict[str, _Session | None] = {}
        self._newest_event = -1
        """The greatest id of an event so far: what has a greater one is new."""
        self.written = Written()

    def write(
        self, connection: sqlite3.Connection, record: Conversation | Message | ToolEvent
    ) -> None:
        """Write one record. Records that were forgotten are left out."""
        record = cleaning.clean_ids(record)
        if isinstance(record, Conversation):
            self._write_conversation(connection, record)
            return
        session = self._session(connection, record.conversation)
        if session is None:
            self.written.forgotten += 1
        elif isinstance(record, Message):
            self._write_message(connection, session, record)
        else:
            self._write_event(connection, session, record)

    def finish(self, connection: sqlite3.Connection) -> None:
        """Write what is known of the sessions so far. Call it at the end of each transaction."""
        connection.executemany(
            "UPDATE sessions SET prompt_counter = max(prompt_counter, ?),"
            " started_at_epoch = CASE WHEN ? AND (NOT started_at_epoch OR started_at_epoch > ?)"
            " THEN ? ELSE started_at_epoch END,"
            " completed_at_epoch = max(completed_at_epoch, ?) WHERE id = ?",
            [
                (one.prompts, one.first_ms, one.first_ms, one.first_ms, one.last_ms, one.id)
                for one in self._sessions.values()
                if one is not None
            ],
        )
        connection.executemany(
            "UPDATE sessions SET derived_at = 0 WHERE id = ?",
            [(number,) for number in self.written.sessions],
        )

    def _write_conversation(
        self, connection: sqlite3.Connection, conversation: Conversation
    ) -> None:
        parent = conversation.parent if conversation.is_sub_agent else ""
        if self._tombstones.cover(connection, self._agent, conversation.id, parent):
            self._sessions[conversation.id] = None
            return
        if conversation.id not in self._sessions:
            self._displace(connection, conversation.id)
        is_title_kept = not self._tombstones.has_title(self._agent, conversation.id)
        title = conversation.title if is_title_kept else ""
        texts = [
            cleaning.clean(text, cleaning.COMMAND_MAX)
            for text in (title, conversation.branch, conversation.model)
        ]
        cwd = cleaning.clean(conversation.cwd, cleaning.COMMAND_MAX)
        connection.execute(
            "INSERT INTO sessions (agent, external_id, parent_external_id, is_sub_agent, source_id,"
            " project, root, cwd, title, branch, model, started_at_epoch)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (agent, external_id) DO UPDATE SET"
            " source_id = excluded.source_id,"
            " parent_external_id = coalesce(nullif(excluded.parent_external_id, ''),"
            " parent_external_id),"
            " is_sub_agent = max(is_sub_agent, excluded.is_sub_agent),"
            " project = coalesce(nullif(project, ''), excluded.project),"
            " root = coalesce(nullif(root, ''), excluded.root),"
            " cwd = coalesce(nullif(cwd, ''), excluded.cwd),"
            " title = coalesce(nullif(excluded.title, ''), title),"
            " branch = coalesce(nullif(branch, ''), excluded.branch),"
            " model = coalesce(nullif(excluded.model, ''), model)",
            (
                self._agent, conversation.id, conversation.parent, conversation.is_sub_agent,
                self._source_id, *place_of(cwd), cwd, *texts, conversation.started_ms,
            ),
        )  # fmt: skip
        known = self._sessions.pop(conversation.id, None)
        session = self._session(connection, conversation.id)
        if session is not None and known is not None:
            session.prompt, session.is_private = known.prompt, known.is_private
            session.first_ms, session.last_ms = known.first_ms, known.last_ms

    def _write_message(
        self, connection: sqlite3.Connection, session: _Session, message: Message
    ) -> None:
        message = cleaning.clean_message(message)
        is_prompt = message.role == "user"
        if is_prompt:
            session.is_private = cleaning.is_private(message)
        elif session.is_private:
            return
        if self._is_forgotten(message, message.text):
            return
        number = session.prompts + 1 if is_prompt else session.prompt
        if is_prompt:
            number = _take_over(connection, session.id, message.text) or number
        row = connection.execute(
            "SELECT id, prompt_number, text, role FROM messages"
            " WHERE session_id = ? AND external_id = ?",
            (session.id, message.id),
        ).fetchone()
        if row is None:
            connection.execute(
                "INSERT INTO messages (session_id, external_id, parent, role, prompt_number, text,"
                " sub, created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    session.id, message.id, message.parent, message.role, number, message.text,
                    _sub(message), message.time_ms,
                ),
            )  # fmt: skip
            self._has_changed(session)
            self.written.messages += 1
        else:
            number = row[1]
            if row[2:] != (message.text, message.role):
                self._replace(connection, session, row[0], message)
        if is_prompt:
            session.prompts = max(session.prompts, number)
            session.prompt = number
        _note_times(session, message.time_ms)

    def _replace(
        self, connection: sqlite3.Connection, session: _Session, number: int, message: Message
    ) -> None:
        """Replace a message that has become longer, or of another role.

        It gets a new number, by which the recall index knows that it has not seen it.
        """
        connection.execute(
            "INSERT INTO messages (session_id, external_id, parent, role, prompt_number, text, sub,"
            " created_at_epoch) SELECT session_id, '', parent, ?, prompt_number, ?, ?,"
            " created_at_epoch FROM messages WHERE id = ?",
            (message.role, message.text, _sub(message), number),
        )
        connection.execute("DELETE FROM messages WHERE id = ?", (number,))
        connection.execute(
            "UPDATE messages SET external_id = ? WHERE session_id = ? AND external_id = ''",
            (message.id, session.id),
        )
        self._has_changed(session)

    def _write_event(
        self, connection: sqlite3.Connection, session: _Session, event: ToolEvent
    ) -> None:
        if session.is_private or self._is_forgotten(event, ""):
            return
        event = cleaning.clean_event(event, session.cwd)
        if self._newest_event < 0:
            [[self._newest_event]] = connection.execute(
                "SELECT coalesce(max(id), 0) FROM tool_events"
            )
        before = connection.total_changes
        (number,) = connection.execute(
            "INSERT INTO tool_events (session_id, external_id, parent, prompt_number, name, input,"
            " command, exit_status, failed, output, created_at_epoch, ended_at_epoch)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (session_id, external_id) DO UPDATE SET"
            " name = coalesce(nullif(excluded.name, ''), name),"
            " input = coalesce(nullif(excluded.input, ''), input),"
            " command = coalesce(nullif(excluded.command, ''), command),"
            " exit_status = coalesce(excluded.exit_status, exit_status),"
            " failed = coalesce(excluded.failed, failed),"
            " output = coalesce(nullif(excluded.output, ''), output),"
            " created_at_epoch = coalesce(nullif(created_at_epoch, 0), excluded.created_at_epoch),"
            " ended_at_epoch = max(ended_at_epoch, excluded.ended_at_epoch)"
            " RETURNING id",
            (
                session.id, event.id, event.parent, session.prompt, event.name, event.input,
                event.command, event.exit_status, event.failed, event.output, event.time_ms,
                event.ended_ms,
            ),
        ).fetchone()  # fmt: skip
        rows = [(number, path, "read", "", "") for path in event.reads]
        rows += [(number, edit.path, "modified", edit.before, edit.after) for edit in event.edits]
        if event.failed:  # they came with the call, and nothing of them was done
            connection.execute("DELETE FROM event_files WHERE event_id = ?", (number,))
            rows = []
        connection.executemany(
            "INSERT OR REPLACE INTO event_files (event_id, path, role, before, after)"
            " VALUES (?, ?, ?, ?, ?)",
            rows,
        )
        if connection.total_changes != before:
            self._has_changed(session)
        if number > self._newest_event:  # a use comes twice: its call, and its result
            self._newest_event = number
            self.written.events += 1
        _note_times(session, event.time_ms)
        _note_times(session, event.ended_ms)

    def _is_forgotten(self, record: Message | ToolEvent, text: str) -> bool:
        is_forgotten = self._tombstones.has_record(
            self._agent, record.conversation, record.id, text
        ) or (isinstance(record, ToolEvent) and self._tombstones.has_use(self._agent, record.id))
        self.written.forgotten += is_forgotten
        return is_forgotten

    def _has_changed(self, session: _Session) -> None:
        self.written.sessions.add(session.id)

    def _displace(self, connection: sqlite3.Connection, conversation: str) -> None:
        precedence.displace(connection, self._agent, conversation, self._source_id, self._rank)

    def _session(self, connection: sqlite3.Connection, conversation: str) -> _Session | None:
        """Return a session, made if it is new; None if it was forgotten."""
        if conversation not in self._sessions:
            self._sessions[conversation] = self._loaded(connection, conversation)
        return self._sessions[conversation]

    def _loaded(self, connection: sqlite3.Connection, conversation: str) -> _Session | None:
        if self._tombstones.has_session(self._agent, conversation):
            return None
        self._displace(connection, conversation)
        connection.execute(
            "INSERT OR IGNORE INTO sessions (agent, external_id, source_id) VALUES (?, ?, ?)",
            (self._agent, conversation, self._source_id),
        )
        number, cwd, prompts = connection.execute(
            "SELECT id, cwd, prompt_counter FROM sessions WHERE agent = ? AND external_id = ?",
            (self._agent, conversation),
        ).fetchone()
        last = connection.execute(
            "SELECT prompt_number, text FROM messages WHERE session_id = ? AND role = 'user'"
            " ORDER BY id DESC LIMIT 1",
            (number,),
        ).fetchone()
        prompt, text = last or (0, "")
        is_private = text.strip() == PRIVATE
        return _Session(number, cwd, max(prompts, prompt), prompt, is_private, 0, 0)


def _take_over(connection: sqlite3.Connection, session: int, text: str) -> int:
    """Delete a prompt that claude-mem's database had, and return its number; 0 if it had not."""
    first = FOREIGN_PREFIX
    row = connection.execute(
        "DELETE FROM messages WHERE id = (SELECT id FROM messages WHERE session_id = ?"
        " AND external_id >= ? AND external_id < ? AND role = 'user' AND text = ?"
        " ORDER BY prompt_number LIMIT 1) RETURNING prompt_number",
        (session, first, f"{first}\U0010ffff", text),
    ).fetchone()
    return int(row[0]) if row else 0


def place_of(cwd: str) -> tuple[str, str]:
    """Return the project's name and its root folder, for a conversation's working folder."""
    if not cwd:
        return "", ""
    root = project(cwd)
    return os.path.basename(root) or root, root  # noqa: PTH119 - `root` is a string


def _sub(message: Message) -> str:
    """Return the parts of the identifiers in a prompt, for its full-text index."""
    return sub_tokens((message.text,)) if message.role == "user" else ""


def _note_times(session: _Session, time_ms: int) -> None:
    if time_ms > 0:
        session.first_ms = min(session.first_ms or time_ms, time_ms)
        session.last_ms = max(session.last_ms, time_ms)
