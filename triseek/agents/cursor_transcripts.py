"""Reads Cursor's conversations: the editor's database, and the transcripts of its agents.

The editor keeps keys and values in `globalStorage/state.vscdb`: `composerData:<conversation>` lists
the bubbles of a conversation, and `bubbleId:<conversation>:<bubble>` is one of them, a text or a
use of a tool. A value that is written again gets a new row, at the end of the table.

`projects/<folder>/agent-transcripts/` has files of JSON lines that say neither times nor results.
They are read for conversations that the database does not have.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only, fields_of
from triseek.agents.row_reading import files_below
from triseek.agents.tool_vocabulary import Vocabulary, exit_status_of
from triseek.agents.transcript_database import (
    DAY_MS,
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

_DATABASE = "state.vscdb"
_COMPOSER, _BUBBLE = "composerData:", "bubbleId:"
_PERSON = 1
"""The `type` of a bubble that a person wrote."""
_QUERY = re.compile(r"\s*<user_query>(.*?)</user_query>\s*", re.DOTALL)
_ADDED = re.compile(
    r"<(attached_files|system_reminder|timestamp|user_info|open_and_recently_viewed_files)\b"
    r".*?</\1>",
    re.DOTALL,
)
_TOOLS = Vocabulary(
    shells=frozenset(("run_terminal_cmd", "run_terminal_command_v2", "terminal_command", "shell")),
    reads=frozenset(("read_file", "read_file_v2", "read")),
    edits={
        "search_replace": ("old_string", "new_string"),
        "strreplace": ("old_string", "new_string"),
        "edit_file": ("", "code_edit"),
        "edit_file_v2": ("", "streamingContent"),
        "write": ("", "contents"),
        "delete_file": ("", ""),
        "delete": ("", ""),
    },
    patches=frozenset(("apply_patch",)),
    paths=("path", "target_file", "targetFile", "file_path", "filePath", "relativeWorkspacePath"),
)


class CursorTranscripts(TranscriptReader):
    """Reads the editor's database, and what its agents wrote besides."""

    appends = False
    evidence = "as others describe its database and transcripts; not recorded, not documented"
    retention = "Cursor keeps conversations until they are deleted in it."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the database, and the transcripts of conversations that it does not have."""
        databases = [
            path
            for path in files_below(os.path.join(_user(here), "globalStorage"), ".vscdb", depth=0)  # noqa: PTH118
            if os.path.basename(path) == _DATABASE  # noqa: PTH119
        ]
        yield from databases
        projects = os.path.join(here.folder("CURSOR_CONFIG_DIR", ".cursor"), "projects")  # noqa: PTH118
        known = _known(databases)
        for path in files_below(projects, ".jsonl"):
            if "agent-transcripts" in Path(path).parts and _stem(path) not in known:
                yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of conversations that changed since the mark, or of a transcript."""
        if os.path.basename(path) != _DATABASE:  # noqa: PTH119
            yield from _transcript(path)
            return
        with reading(path) as database:
            yield from _conversations(database, mark)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a conversation of its program."""
        return ("cursor-agent", f"--resume={conversation}")


def _user(here: InstallPlace) -> str:
    """Return the folder of the editor's data."""
    if sys.platform == "darwin":
        return here.in_home("Library", "Application Support", "Cursor", "User")
    if sys.platform == "win32":
        roaming = here.folder("APPDATA", "AppData", "Roaming")
        return os.path.join(roaming, "Cursor", "User")  # noqa: PTH118
    return os.path.join(here.folder("XDG_CONFIG_HOME", ".config"), "Cursor", "User")  # noqa: PTH118


def _known(databases: list[str]) -> set[str]:
    """Return the conversations that the databases have."""
    known: set[str] = set()
    for path in databases:
        try:
            with reading(path) as database:
                query = (
                    "SELECT key FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY key LIMIT ?"
                )
                for (key,) in database.pages(query, _COMPOSER, _after(_COMPOSER)):
                    known.add(str(key).removeprefix(_COMPOSER))
        except OSError:
            continue
    return known


def _after(prefix: str) -> str:
    """Return the text that follows all texts with a prefix that ends in a colon."""
    return f"{prefix[:-1]};"


def _conversations(database: TranscriptDatabase, mark: Mark) -> Iterator[Record | Mark]:
    if not database.columns("cursorDiskKV") >= {"key", "value"}:
        yield Mark()
        return
    newest = number(database.rows("SELECT max(rowid) FROM cursorDiskKV")[0][0])
    # Fewer rows than before: some were deleted, and new ones may have got their numbers.
    row = mark.offset if mark.offset <= newest else 0
    time = number(_whole(mark.state.get("time")))
    changed = dict.fromkeys(_changed(database, row))
    updates = _updates(database)
    if row:
        recent = (one for one, updated in updates.items() if updated >= time - DAY_MS)
        changed.update(dict.fromkeys(recent if time else ()))
    for conversation in changed:
        yield from _composer(database, conversation)
    yield Mark(offset=newest, state={"time": str(not_later(max(updates.values(), default=0)))})


def _changed(database: TranscriptDatabase, row: int) -> Iterator[str]:
    """Yield the conversations with values that were written after a row."""
    query = "SELECT rowid, key FROM cursorDiskKV WHERE rowid > ? ORDER BY rowid LIMIT ?"
    for _, key in database.pages(query, row):
        for prefix in (_COMPOSER, _BUBBLE):
            if isinstance(key, str) and key.startswith(prefix):
                conversation = word(key.removeprefix(prefix).partition(":")[0])
                if conversation:
                    yield conversation


def _updates(database: TranscriptDatabase) -> dict[str, int]:
    """Return when each conversation was updated, in milliseconds."""
    query = (
        "SELECT key, CASE WHEN json_valid(CAST(value AS TEXT)) THEN"
        " json_extract(CAST(value AS TEXT), '$.lastUpdatedAt') END"
        " FROM cursorDiskKV WHERE key > ? AND key < ? ORDER BY key LIMIT ?"
    )
    rows = database.pages(query, _COMPOSER, _after(_COMPOSER))
    return {str(key).removeprefix(_COMPOSER): time_ms(updated) for key, updated in rows}


def _value(database: TranscriptDatabase, key: str) -> Fields | Unreadable | None:
    """Return the value of a key; None if there is none."""
    query = f"SELECT {bounded('value')} FROM cursorDiskKV WHERE key = ? AND value IS NOT NULL"  # noqa: S608
    rows = database.rows(query, key)
    return fields(rows[0][0], key[:2_000]) if rows else None


def _composer(database: TranscriptDatabase, conversation: str) -> Iterator[Record]:
    told = _value(database, f"{_COMPOSER}{conversation}")
    if told is None:
        return
    if isinstance(told, Unreadable):
        yield told
        return
    cwd = _folder(told)
    parent = told.inner("subagentInfo").word("parentComposerId")
    yield Conversation(
        id=conversation,
        parent=parent,
        is_sub_agent=bool(parent),
        cwd=cwd,
        title=told.text("name"),
        model=told.inner("modelConfig").word("modelName"),
        started_ms=time_ms(told.get("createdAt")),
    )
    # Older versions keep the bubbles in the list itself.
    for header in told.objects("fullConversationHeadersOnly") or told.objects("conversation"):
        identity = header.word("bubbleId")
        if not identity:
            continue
        stored = _value(database, f"{_BUBBLE}{conversation}:{identity}")
        if isinstance(stored, Unreadable):
            yield stored
        else:
            yield from _bubble(conversation, identity, Fields({**header, **(stored or {})}), cwd)


def _folder(told: Fields) -> str:
    """Return the folder of a conversation, where it says one."""
    uri = told.inner("workspaceIdentifier").inner("uri")
    repositories = [one.get("repoPath") for one in told.objects("trackedGitRepos")]
    values = (uri.get("fsPath"), uri.get("path"), *repositories)
    return next((path for value in values if (path := absolute_only(value))), "")


def _bubble(
    conversation: str, identity: str, bubble: Fields, cwd: str
) -> Iterator[Message | ToolEvent]:
    time = time_ms(bubble.get("createdAt")) or time_ms(bubble.get("timestamp"))
    role: Role = "user" if bubble.get("type") == _PERSON else "assistant"
    text = bubble.text("text", "rawText")
    if text.strip():
        yield Message(conversation=conversation, id=identity, role=role, text=text, time_ms=time)
    tool = bubble.inner("toolFormerData")
    if tool.text("name"):
        folder = absolute_only(bubble.get("workspaceProjectDir")) or cwd
        use = tool.word("toolCallId") or identity
        yield replace(_use(conversation, use, tool, folder), time_ms=time)


def _use(conversation: str, use: str, tool: Fields, cwd: str) -> ToolEvent:
    name = tool.text("name")
    values = _object(tool.get("rawArgs")) or _object(tool.get("params"))
    event = _TOOLS.event(conversation, use, name.lower(), values, cwd)
    result = _object(tool.get("result"))
    status = exit_status_of(result, "exitCode", "exit_code", "exitCodeV2")
    state = tool.text("status")
    failed = True if state in ("error", "failed") else False if state in _GOOD else None
    whole = tool.text("result")
    return replace(
        event,
        name=name,
        exit_status=status,
        failed=failed if status is None else bool(status) or bool(failed),
        output=result.text("output", "contents", "content", "result") or whole or _text(tool),
    )


_GOOD = ("completed", "success")


def _text(tool: Fields) -> str:
    return tool.inner("result").text("output", "contents", "text")


def _object(value: object) -> Fields:
    """Return an object, or the one in a JSON text."""
    return nested(value) if isinstance(value, str) else fields_of(value)


def _transcript(path: str) -> Iterator[Record | Mark]:
    """Yield the records of a transcript, whose lines have neither ids nor times."""
    conversation = _stem(path)
    parent = _parent(path)
    yield Conversation(id=conversation, parent=parent, is_sub_agent=bool(parent))
    end = 0
    for row in jsonl.rows(path):
        end = row.end
        if isinstance(row.value, Unreadable):
            yield row.value
            continue
        role, message = row.value.text("role"), row.value.inner("message")
        if role not in ("user", "assistant"):
            continue
        text = _said(message)
        identity = f"byte {row.start}"
        if text:
            yield Message(
                conversation=conversation,
                id=identity,
                role="user" if role == "user" else "assistant",
                text=text,
            )
        for place, part in enumerate(message.objects("content")):
            if part.text("type") == "tool_use":
                use = part.word("id") or f"{identity}, part {place}"
                name = part.text("name")
                event = _TOOLS.event(conversation, use, name.lower(), part.inner("input"), "")
                yield replace(event, name=name)
    yield Mark(offset=end)


def _said(message: Fields) -> str:
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    texts += [
        part.text("text") for part in message.objects("content") if part.text("type") == "text"
    ]
    whole = _ADDED.sub("", "\n".join(texts)).strip()
    match = _QUERY.fullmatch(whole)
    return match[1].strip() if match else whole


def _parent(path: str) -> str:
    """Return the conversation whose sub-agent wrote a transcript: the folder above `subagents`."""
    folder, name = os.path.split(os.path.dirname(path))  # noqa: PTH120
    return os.path.basename(folder) if name == "subagents" else ""  # noqa: PTH119


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".jsonl")  # noqa: PTH119


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 19 else 0
