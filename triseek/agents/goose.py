"""Goose: its sessions, a SQLite database since 1.10. Nothing is installed into it.

A message is a JSON list of contents: texts, requests of tools and their responses. When Goose
compacts a session it deletes its messages and inserts them again, with the summary, which only the
model sees.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import Agent, TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only
from triseek.agents.row_reading import files_below
from triseek.agents.tool_vocabulary import Vocabulary, exit_status_of
from triseek.agents.transcript_database import (
    DAY_MS,
    TranscriptDatabase,
    bounded,
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

_TOOLS = Vocabulary(
    shells=frozenset(("shell", "bash")),
    reads=frozenset(("read", "read_file", "view")),
    edits={
        "str_replace": ("old_str", "new_str"),
        "edit": ("before", "after"),
        "write": ("", "file_text"),
        "create": ("", "file_text"),
    },
)
_SESSION = ("name", "description", "working_dir", "session_type", "model_config_json", "created_at")
_MESSAGE = (
    "session_id", "role", "content_json", "created_timestamp", "metadata_json", "message_id",
)  # fmt: skip
_NEEDED = frozenset(("id", "session_id", "role", "content_json"))


class GooseTranscripts(TranscriptReader):
    """Reads `sessions.db` in Goose's data folder."""

    appends = False
    evidence = "its source, block/goose, schema versions 5 to 13; not recorded"
    retention = "Goose deletes no sessions by itself; a compaction replaces the messages before it."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the database."""
        folder = os.path.join(_data(here), "sessions")  # noqa: PTH118
        for path in files_below(folder, ".db", depth=0):
            if os.path.basename(path) == "sessions.db":  # noqa: PTH119
                yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of messages that were inserted since the mark."""
        with reading(path) as database:
            yield from _records(database, mark)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("goose", "session", "--resume", "--session-id", conversation)


class Goose(Agent):
    """The program `goose`."""

    name = "goose"
    title = "Goose"
    programs = ("goose",)
    transcripts = GooseTranscripts()

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of its data."""
        return _data(here)


def _data(here: InstallPlace) -> str:
    root = here.environ.get("GOOSE_PATH_ROOT", "")
    if root:
        return os.path.join(here.cwd, root, "data")  # noqa: PTH118
    if sys.platform == "win32":
        roaming = here.folder("APPDATA", "AppData", "Roaming")
        return os.path.join(roaming, "Block", "goose", "data")  # noqa: PTH118
    return os.path.join(here.folder("XDG_DATA_HOME", ".local", "share"), "goose")  # noqa: PTH118


def _records(database: TranscriptDatabase, mark: Mark) -> Iterator[Record | Mark]:
    columns, own = database.columns("sessions"), database.columns("messages")
    if "id" not in columns or not own >= _NEEDED:
        yield Unreadable(where="messages", reason="the tables are not those of Goose")
        yield Mark()
        return
    newest = number(database.rows("SELECT max(id) FROM messages")[0][0])
    # A smaller number than before: it is another database.
    after = mark.offset if mark.offset <= newest else 0
    conversations: dict[str, Conversation] = {}
    for session in _changed(database, columns, _whole(mark.state.get("time"))):
        told = _conversation(database, columns, session)
        conversations[session] = told
        yield told
    selected = ", ".join(bounded(name) if name in own else "NULL" for name in _MESSAGE)
    query = f"SELECT id, {selected} FROM messages WHERE id > ? ORDER BY id LIMIT ?"  # noqa: S608
    for row, *values in database.pages(query, after):
        after = number(row)
        fields = Fields(zip(_MESSAGE, values, strict=True))
        session = fields.word("session_id")
        if session and session not in conversations:
            conversations[session] = _conversation(database, columns, session)
            yield conversations[session]
        yield from _message(row, fields, conversations.get(session))
    times = database.rows("SELECT max(updated_at) FROM sessions") if "updated_at" in columns else []
    time = not_later(time_ms(times[0][0]) if times else 0)
    yield Mark(offset=after, state={"time": str(time)})


def _changed(database: TranscriptDatabase, columns: frozenset[str], since: int) -> list[str]:
    """Return the sessions that changed since a time, in milliseconds: their names do, too."""
    if "updated_at" not in columns:
        return []
    rows = database.rows("SELECT id, updated_at FROM sessions ORDER BY rowid")
    return [
        session
        for identity, updated in rows
        if (session := word(identity)) and time_ms(updated) >= since - DAY_MS
    ]


def _conversation(
    database: TranscriptDatabase, columns: frozenset[str], session: str
) -> Conversation:
    names = [name for name in _SESSION if name in columns]
    selected = ", ".join(map(bounded, names)) or "NULL"
    rows = database.rows(f"SELECT {selected} FROM sessions WHERE id = ?", session)  # noqa: S608
    told = Fields(zip(names, rows[0], strict=False)) if rows else Fields()
    return Conversation(
        id=session,
        is_sub_agent=told.text("session_type") == "sub_agent",
        cwd=absolute_only(told.get("working_dir")),
        title=told.text("name", "description"),
        model=nested(told.text("model_config_json")).word("model_name"),
        started_ms=time_ms(told.get("created_at")),
    )


def _message(
    row: int, fields: Fields, conversation: Conversation | None
) -> Iterator[Message | ToolEvent | Unreadable]:
    where = f"row {row} of messages"
    if conversation is None:
        yield Unreadable(where=where, reason="no session")
        return
    content = jsonl.parsed(fields.text("content_json").encode("utf-8", "replace"), where)
    if not isinstance(content, list):
        yield (
            content
            if isinstance(content, Unreadable)
            else Unreadable(where=where, reason="not a JSON list")
        )
        return
    parts = Fields({"parts": content}).objects("parts")
    time = time_ms(fields.get("created_timestamp"))
    role = _role(fields)
    text = "\n".join(part.text("text") for part in parts if part.text("type") == "text").strip()
    if text and role is not None:
        identity = fields.word("message_id") or str(row)
        yield Message(conversation=conversation.id, id=identity, role=role, text=text, time_ms=time)
    for part in parts:
        if part.text("type") == "toolRequest" and part.word("id"):
            yield _use(conversation, part, time)
        elif part.text("type") == "toolResponse" and part.word("id"):
            yield _result(conversation.id, part, time)


def _role(fields: Fields) -> Role | None:
    """Return who says a message; None if it is only for the model and no summary."""
    is_user = fields.text("role") == "user"
    seen = nested(fields.text("metadata_json"))
    if seen.get("userVisible") is False:
        return "summary" if is_user and seen.get("agentVisible") is True else None
    return "user" if is_user else "assistant"


def _use(conversation: Conversation, part: Fields, time: int) -> ToolEvent:
    call = part.inner("toolCall")
    call = call.inner("value", "Ok") or call
    name = call.text("name")
    values = call.inner("arguments")
    tool = name.rpartition("__")[2]  # after the extension's name
    if tool == "text_editor":
        tool = values.text("command")
    event = _TOOLS.event(conversation.id, part.word("id"), tool, values, conversation.cwd)
    return replace(event, name=name, time_ms=time)


def _result(conversation: str, part: Fields, time: int) -> ToolEvent:
    whole = part.inner("toolResult")
    value = whole.inner("value", "Ok") or whole
    error = whole.text("error", "Error")
    status = exit_status_of(value.inner("structuredContent"), "exit_code", "exitCode")
    is_error = value.get("isError") is True or bool(error) or whole.text("status") == "error"
    output = "\n".join(item.text("text") for item in value.objects("content") if _for_model(item))
    return ToolEvent(
        conversation=conversation,
        id=part.word("id"),
        exit_status=status,
        failed=is_error or bool(status),
        output=output or error,
        ended_ms=time,
    )


def _for_model(item: Fields) -> bool:
    audience = item.inner("annotations").get("audience")
    return not isinstance(audience, list) or "assistant" in audience


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 0


AGENT = Goose()
