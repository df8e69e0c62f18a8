"""Reads the threads of Zed's own agent: a SQLite database with a JSON document for each thread.

Documents are compressed. A message is `{"User": …}` or `{"Agent": …}`; results of tools are beside
the answer that asked for them. Messages have no times. Of threads from before version 0.3 only the
texts are read.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only, fields_of
from triseek.agents.row_reading import files_below
from triseek.agents.tool_vocabulary import Vocabulary
from triseek.agents.transcript_database import (
    DAY_MS,
    VALUE_MAX,
    TranscriptDatabase,
    bounded,
    not_later,
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
    shells=frozenset(("terminal",)),
    reads=frozenset(("read_file",)),
    edits={"edit_file": ("old_text", "new_text"), "save_file": ("", ""), "delete_path": ("", "")},
)
_DETAILS = ("summary", "folder_paths", "created_at", "parent_id", "data_type", "data")


class ZedTranscripts(TranscriptReader):
    """Reads `threads.db` in Zed's data folder."""

    appends = False
    evidence = "other programs that read it; not recorded"
    retention = "Zed keeps threads until they are deleted in it."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the database."""
        for path in files_below(os.path.join(_data(here), "threads"), ".db", depth=0):  # noqa: PTH118
            if os.path.basename(path) == "threads.db":  # noqa: PTH119
                yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of threads that changed since the mark."""
        with reading(path) as database:
            columns = database.columns("threads")
            if not columns >= {"id", "updated_at", "data"}:
                yield Unreadable(where="threads", reason="the table is not that of Zed")
                yield Mark()
                return
            newest = mark.offset
            for thread, updated in database.rows(
                "SELECT id, updated_at FROM threads ORDER BY rowid"
            ):
                time = time_ms(updated)
                # A row without a time cannot be known to be old.
                if word(thread) and (not time or time >= mark.offset - DAY_MS):
                    yield from _thread(database, columns, word(thread))
                newest = max(newest, time)
            yield Mark(offset=not_later(newest))


def _data(here: InstallPlace) -> str:
    """Return Zed's data folder."""
    if sys.platform == "darwin":
        return here.in_home("Library", "Application Support", "Zed")
    if sys.platform == "win32":
        return os.path.join(here.folder("LOCALAPPDATA", "AppData", "Local"), "Zed")  # noqa: PTH118
    flatpak = here.environ.get("FLATPAK_XDG_DATA_HOME", "")
    data = here.folder("FLATPAK_XDG_DATA_HOME" if flatpak else "XDG_DATA_HOME", ".local", "share")
    return os.path.join(data, "zed")  # noqa: PTH118


def _thread(database: TranscriptDatabase, columns: frozenset[str], thread: str) -> Iterator[Record]:
    selected = ", ".join(bounded(name) if name in columns else "NULL" for name in _DETAILS)
    rows = database.rows(f"SELECT {selected} FROM threads WHERE id = ?", thread)  # noqa: S608
    if not rows:
        return
    row = Fields(zip(_DETAILS, rows[0], strict=True))
    document = _document(row.get("data"), row.text("data_type"), f"thread {thread}"[:2_000])
    if isinstance(document, Unreadable):
        yield document
        return
    conversation = Conversation(
        id=thread,
        parent=row.word("parent_id"),
        is_sub_agent=bool(row.word("parent_id")),
        cwd=_folder(row.text("folder_paths"), document),
        title=document.text("title", "summary") or row.text("summary"),
        model=document.inner("model").word("model"),
        started_ms=time_ms(row.get("created_at")),
    )
    yield conversation
    messages = document.get("messages")
    for place, message in enumerate(messages if isinstance(messages, list) else ()):
        yield from _message(conversation, place, fields_of(message))


def _document(data: object, kind: str, where: str) -> Fields | Unreadable:
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    if not isinstance(data, bytes):
        return Unreadable(where=where, reason="missing, or too long")
    if kind == "zstd":
        plain = _decompressed(data)
        if plain is None:
            return Unreadable(where=where, reason="cannot be decompressed, or is too long")
        data = plain
    value = jsonl.parsed_line(data, where)
    return value if value is not None else Unreadable(where=where, reason="empty")


def _decompressed(data: bytes) -> bytes | None:
    """Return the content of a Zstandard frame; None if it is damaged or longer than a value."""
    import pyarrow as pa

    try:
        with pa.input_stream(pa.BufferReader(data), compression="zstd") as stream:
            plain: bytes = stream.read(VALUE_MAX + 1)
    except (OSError, ValueError):
        return None
    return plain if len(plain) <= VALUE_MAX else None


def _folder(paths: str, document: Fields) -> str:
    """Return the first folder of a thread's project."""
    listed = jsonl.parsed(paths.encode(), "") if paths.startswith("[") else paths.split("\n")
    trees = document.inner("initial_project_snapshot").objects("worktree_snapshots")
    values = [
        *(listed if isinstance(listed, list) else ()),
        *(one.get("worktree_path") for one in trees),
    ]
    return next((path for value in values if (path := absolute_only(value))), "")


def _message(
    conversation: Conversation, place: int, message: Fields
) -> Iterator[Message | ToolEvent]:
    person, agent = message.inner("User"), message.inner("Agent")
    identity = person.word("id") or f"message {place}"
    role: Role = "user" if person or message.text("role") == "user" else "assistant"
    parts = (person or agent).objects("content")
    texts = [part.text("Text") for part in parts]
    texts += [
        part.text("text") for part in message.objects("segments") if part.get("type") == "text"
    ]
    text = "\n".join(text for text in texts if text.strip())
    if text:
        yield Message(conversation=conversation.id, id=identity, role=role, text=text)
    results = agent.inner("tool_results")
    for part in parts:
        call = part.inner("ToolUse")
        use = call.word("id")
        if use:
            yield _use(conversation, use, call, results.inner(use))


def _use(conversation: Conversation, use: str, call: Fields, result: Fields) -> ToolEvent:
    name = call.text("name")
    # Paths begin with the name of the project's folder.
    above = os.path.dirname(conversation.cwd)  # noqa: PTH120
    event = _TOOLS.event(conversation.id, use, name, call.inner("input"), above)
    is_error = result.get("is_error")
    content = result.get("content")
    return replace(
        event,
        failed=is_error if isinstance(is_error, bool) else None,
        output=_shown(content),
    )


def _shown(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [
        item if isinstance(item, str) else fields_of(item).text("Text", "text") for item in parts
    ]
    return "\n".join(text for text in texts if text)
