"""Reads OpenCode's database: sessions, their messages, and the parts of those.

A part is a text, a use of a tool, or something that is not read here, such as a snapshot. Parts
change while they stream, and a use changes when it ends: `time_updated` says when. A sub-agent's
session names its parent; a fork is a session with copies, and names none. What was undone is
deleted from the database when the next prompt is sent.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only
from triseek.agents.row_reading import files_below
from triseek.agents.tool_vocabulary import Vocabulary, exit_status_of
from triseek.agents.transcript_database import (
    DAY_MS,
    MARGIN_MS,
    TranscriptDatabase,
    bounded,
    fields,
    nested,
    not_later,
    number,
    reading,
    word,
)
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Record, Role

_NAME = re.compile(r"opencode(-[\w.-]+)?\.db")
_UNTITLED = re.compile(r"(New|Child) session - \d{4}-")
_TOOLS = Vocabulary(
    shells=frozenset(("bash", "shell")),
    reads=frozenset(("read",)),
    edits={
        "edit": ("oldString", "newString"),
        "multiedit": ("oldString", "newString"),
        "write": ("", "content"),
    },
    patches=frozenset(("apply_patch", "patch")),
    patch=("patchText", "patch", "input"),
)
_NEW_MESSAGES = f"""
    SELECT id, {bounded("data")} FROM message AS m WHERE id > ? AND session_id = ?
        AND (time_updated >= ? OR EXISTS (
            SELECT 1 FROM part WHERE message_id = m.id AND (time_updated >= ? OR part.rowid > ?)
        ))
    ORDER BY id LIMIT ?"""  # noqa: S608 - no values


class OpenCodeTranscripts(TranscriptReader):
    """Reads `opencode.db` in OpenCode's data folder."""

    appends = False
    evidence = "recorded with 1.18.33"
    retention = "OpenCode deletes no conversations by itself; what is undone or deleted is gone."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the databases: one for each channel of releases."""
        folder = os.path.join(here.folder("XDG_DATA_HOME", ".local", "share"), "opencode")  # noqa: PTH118
        paths = list(files_below(folder, ".db", depth=0))
        yield from (path for path in paths if _NAME.fullmatch(os.path.basename(path)))  # noqa: PTH119
        named = here.environ.get("OPENCODE_DB", "")
        path = os.path.join(folder, named)  # noqa: PTH118
        if named and path not in paths and os.path.isfile(path):  # noqa: PTH113
            yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of all sessions that changed since the mark."""
        with reading(path) as database:
            yield from _Reading(database, mark).run()

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("opencode", "--session", conversation)


class _Reading:
    def __init__(self, database: TranscriptDatabase, mark: Mark) -> None:
        self._database = database
        self._since = max(0, mark.offset - MARGIN_MS)
        self._sessions_since = max(0, mark.offset - DAY_MS)
        self._row = _whole(mark.state.get("part"))

    def run(self) -> Iterator[Record | Mark]:
        columns = self._database.columns("session")
        if not {"id", "time_updated"} <= columns or not self._database.columns("part"):
            yield Unreadable(where="session", reason="the tables are not those of OpenCode")
            yield Mark()
            return
        # Taken first: what changes while this reads is read again the next time.
        mark = self._mark()
        for session in self._sessions():
            yield from self._session(session, columns)
        yield mark

    def _mark(self) -> Mark:
        # Of parts, which have no index by time, the newest row is enough: what changes after this
        # has a later time than any session has now.
        newest = self._database.rows("SELECT max(time_updated) FROM session")[0][0]
        row = self._database.rows("SELECT max(rowid) FROM part")[0][0]
        return Mark(offset=not_later(number(newest)), state={"part": str(number(row))})

    def _sessions(self) -> list[str]:
        """Return the ids of sessions that changed, the oldest first."""
        # New parts count by their rows, too: a clock may have been set back.
        rows = self._database.rows(
            "SELECT id FROM session WHERE time_updated >= ? OR id IN"
            " (SELECT session_id FROM part WHERE rowid > ?) ORDER BY time_created, id",
            self._sessions_since, self._row,
        )  # fmt: skip
        return [session for row in rows if (session := word(row[0]))]

    def _session(self, session: str, columns: frozenset[str]) -> Iterator[Record]:
        names = ("parent_id", "directory", "title", "model", "time_created")
        selected = ", ".join(bounded(name) if name in columns else "NULL" for name in names)
        rows = self._database.rows(f"SELECT {selected} FROM session WHERE id = ?", session)  # noqa: S608
        if not rows:
            return  # deleted meanwhile
        told = Fields(zip(names, rows[0], strict=True))
        title, cwd = told.text("title"), absolute_only(told.get("directory"))
        conversation = Conversation(
            id=session,
            parent=told.word("parent_id"),
            is_sub_agent=bool(told.word("parent_id")),
            cwd=cwd,
            title="" if _UNTITLED.match(title) else title,
            model=nested(told.text("model")).word("id", "modelID"),
            started_ms=time_ms(told.get("time_created")),
        )
        yield conversation
        new = (session, self._since, self._since, self._row)
        for message, data in self._database.pages(_NEW_MESSAGES, "", *new):
            yield from self._message(conversation, message, data)

    def _message(self, conversation: Conversation, message: Any, data: object) -> Iterator[Record]:  # noqa: ANN401 - a key of any type
        said = fields(data, f"message {message}"[:2_000])
        if isinstance(said, Unreadable):
            yield said
            return
        role: Role = "user" if said.text("role") == "user" else "assistant"
        if said.get("summary") is True:
            role = "summary"
        created = time_ms(said.inner("time").get("created"))
        parts = self._database.pages(
            "SELECT id FROM part WHERE id > ? AND message_id = ? ORDER BY id LIMIT ?", "", message
        )
        for (part,) in parts:
            rows = self._database.rows(f"SELECT {bounded('data')} FROM part WHERE id = ?", part)  # noqa: S608
            content = fields(rows[0][0] if rows else "{}", f"part {part}"[:2_000])
            if isinstance(content, Unreadable):
                yield content
            else:
                record = _record(conversation, word(part), role, content, created)
                if record is not None:
                    yield record


def _record(
    conversation: Conversation, part: str, role: Role, content: Fields, created: int
) -> Message | ToolEvent | None:
    if not part:
        return None
    if content.text("type") == "tool":
        return _use(conversation, content.word("callID") or part, content)
    text = content.text("text")
    is_said = not (content.get("synthetic") or content.get("ignored"))
    if content.text("type") != "text" or not text.strip() or not is_said:
        return None
    time = time_ms(content.inner("time").get("start")) or created
    return Message(conversation=conversation.id, id=part, role=role, text=text, time_ms=time)


def _use(conversation: Conversation, use: str, content: Fields) -> ToolEvent:
    state = content.inner("state")
    name = content.text("tool")
    given = state.inner("input")
    folder = given.folder(conversation.cwd, "workdir")
    event = _TOOLS.event(conversation.id, use, name, given, folder)
    status = exit_status_of(state.inner("metadata"), "exit")
    is_over = state.text("status") in ("completed", "error")
    return replace(
        event,
        exit_status=status,
        failed=(state.text("status") == "error" or bool(status)) if is_over else None,
        output=state.text("error") or state.text("output"),
        time_ms=time_ms(state.inner("time").get("start")),
        ended_ms=time_ms(state.inner("time").get("end")),
    )


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 0
