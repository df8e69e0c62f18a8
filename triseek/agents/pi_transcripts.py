"""Reads Pi's sessions, each a file of JSON lines: a header, then entries that form a tree.

An entry names its parent, so going back starts a branch in the same file. An answer is one entry,
with its texts and the tools that it uses; each result is an entry of its own. A fork is a new file
with copies of the entries before it, whose ids are the same.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import Fields, absolute_only
from triseek.agents.row_reading import Ancestry, Conversations, RowReading, files_below
from triseek.agents.tool_vocabulary import Vocabulary, exit_status_of
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Message, ToolEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Mark, Record

_TOOLS = Vocabulary(
    shells=frozenset(("bash",)),
    reads=frozenset(("read",)),
    edits={"edit": ("oldText", "newText"), "write": ("", "content")},
)
_SUMMARIES = ("compaction", "branch_summary")


class PiTranscripts(TranscriptReader):
    """Reads `sessions` in Pi's folder."""

    evidence = "recorded with 1.5.2"
    retention = "Pi deletes no sessions by itself."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the sessions, wherever variables say that they are."""
        usual = os.path.join(here.folder("PI_CODING_AGENT_DIR", ".pi", "agent"), "sessions")  # noqa: PTH118
        named = here.environ.get("PI_CODING_AGENT_SESSION_DIR", "")
        folders = [usual, *([os.path.join(here.cwd, named)] if named else [])]  # noqa: PTH118
        for folder in dict.fromkeys(folders):
            yield from files_below(folder, ".jsonl")

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a session from a mark on."""
        yield from _Reading(path, mark).run(jsonl.rows(path, mark.offset), mark.offset)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("pi", "--session", conversation)


class _Reading(RowReading):
    def __init__(self, path: str, mark: Mark) -> None:
        super().__init__(mark)
        self._conversations = Conversations(mark.state)
        self._ancestry = Ancestry(path, mark, _link)
        self._stem = _id_of(path)

    def state(self) -> dict[str, str]:
        return {**self._conversations.state(), **self._ancestry.state()}

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        del start
        kind = row.text("type")
        if kind == "session":
            yield from self._conversations.update(
                Conversation(
                    id=row.word("id") or self._stem,
                    parent=_id_of(row.text("parentSession")),
                    cwd=absolute_only(row.get("cwd")),
                    started_ms=time_ms(row.get("timestamp")),
                )
            )
            return
        told = self._told(kind, row)
        if told is not None:
            yield from self._conversations.update(told)
        before = self._ancestry.record_at(row.word("parentId"))
        for record in self._entry(kind, row):
            # A result is of a use that came before.
            is_result = row.inner("message").text("role") == "toolResult"
            yield record if is_result else replace(record, parent=before)
            before = record.id
        self._ancestry.add(row)

    def _told(self, kind: str, row: Fields) -> Conversation | None:
        """Return what a row says of the conversation."""
        conversation = self._conversations.newest.id or self._stem
        if kind == "session_info":
            return Conversation(id=conversation, title=row.text("name"))
        if kind == "model_change":
            return Conversation(id=conversation, model=row.word("modelId"))
        return None if self._conversations.newest.id else Conversation(id=conversation)

    def _entry(self, kind: str, row: Fields) -> Iterator[Message | ToolEvent]:
        conversation = self._conversations.newest
        message, entry = row.inner("message"), row.word("id")
        time = time_ms(message.get("timestamp")) or time_ms(row.get("timestamp"))
        text = row.text("summary") if kind in _SUMMARIES else ""
        role = message.text("role")
        if kind == "message" and role in ("user", "assistant"):
            text = _text(message.get("content"))
        if text and entry:
            yield Message(
                conversation=conversation.id,
                id=entry,
                role="summary" if kind in _SUMMARIES else "user" if role == "user" else "assistant",
                text=text,
                time_ms=time,
            )
        if kind != "message":
            return
        if role == "assistant":
            for call in _calls(message):
                name, use = call.text("name"), call.word("id")
                values = call.inner("arguments")
                event = _TOOLS.event(conversation.id, use, name, values, conversation.cwd)
                yield replace(event, time_ms=time)
        elif role == "toolResult" and message.word("toolCallId"):
            yield _result(conversation.id, message, time)
        elif role == "bashExecution" and entry:
            yield _typed(conversation, entry, message, time)


def _result(conversation: str, message: Fields, time: int) -> ToolEvent:
    output = _text(message.get("content"))
    has_failed = message.get("isError") is True
    status = None
    if message.text("toolName") == "bash":
        status = exit_status.of_pattern(exit_status.LAST_LINE, output) if has_failed else 0
    return ToolEvent(
        conversation=conversation,
        id=message.word("toolCallId"),
        name=message.text("toolName"),
        exit_status=status,
        failed=has_failed,
        output=output,
        ended_ms=time,
    )


def _typed(conversation: Conversation, entry: str, message: Fields, time: int) -> ToolEvent:
    """Return the command that a person typed after an exclamation mark."""
    values = {"command": message.text("command")}
    event = _TOOLS.event(conversation.id, entry, "bash", values, conversation.cwd)
    status = exit_status_of(message, "exitCode")
    return replace(
        event,
        exit_status=status,
        failed=status != 0 if status is not None else None,
        output=message.text("output"),
        time_ms=time,
        ended_ms=time,
    )


def _calls(message: Fields) -> list[Fields]:
    calls = [part for part in message.objects("content") if part.text("type") == "toolCall"]
    return [call for call in calls if call.word("id")]


def _text(content: object) -> str:
    """Return the texts of a message; what was thought and images are left out."""
    if isinstance(content, str):
        return content
    parts = Fields({"content": content}).objects("content")
    return "\n".join(part.text("text") for part in parts if part.text("type") == "text")


def _link(row: Fields) -> tuple[str, str, str]:
    """Return an entry's id, its parent's and its last record's."""
    entry, kind, message = row.word("id"), row.text("type"), row.inner("message")
    role = message.text("role")
    record = ""
    if kind in _SUMMARIES:
        record = entry if row.text("summary") else ""
    elif kind == "message":
        calls = _calls(message) if role == "assistant" else []
        if calls:
            record = calls[-1].word("id")
        elif role == "toolResult":
            record = message.word("toolCallId")
        elif role == "bashExecution" or (_text(message.get("content")) and role != "system"):
            record = entry
    return "" if kind == "session" else entry, row.word("parentId"), record


def _id_of(path: str) -> str:
    """Return the session's id from the name of its file, `<time>_<id>.jsonl`."""
    return os.path.basename(path).removesuffix(".jsonl").rpartition("_")[2]  # noqa: PTH119
