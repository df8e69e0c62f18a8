"""Reads the transcripts of Qwen Code: prompts, answers and uses of tools.

A session is `projects/<folder>/chats/<session>.jsonl`. Rows are only appended, and each names its
parent, so going back starts a branch. A message is in the form of Google's API. A sub-agent has no
file of its own: the result of the tool that began it holds its report.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import gemini_tools, jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import fields_of
from triseek.agents.row_reading import Ancestry, Conversations, RowReading, files_below
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Message, ToolEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.agents.payloads.fields import Fields
    from triseek.model.conversation import Mark, Record, Role

_NOT_SAID = ("<system-reminder>", "<session_context>", "<hook_context>", "<task-notification>")
"""How texts of user rows begin that no person wrote."""


class QwenTranscripts(TranscriptReader):
    """Reads `projects/*/chats` in Qwen Code's folder."""

    evidence = "recorded with 0.15.10"
    retention = "Qwen Code deletes no conversations by itself."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the files of sessions."""
        folders = (here.folder("QWEN_RUNTIME_DIR", ".qwen"), here.folder("QWEN_HOME", ".qwen"))
        for folder in dict.fromkeys(folders):
            projects = os.path.join(folder, "projects")  # noqa: PTH118
            for path in files_below(projects, ".jsonl"):
                if os.path.basename(os.path.dirname(path)) == "chats":  # noqa: PTH119, PTH120
                    yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a file from a mark on."""
        yield from _Reading(path, mark).run(jsonl.rows(path, mark.offset), mark.offset)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("qwen", "--resume", conversation)


class _Reading(RowReading):
    def __init__(self, path: str, mark: Mark) -> None:
        super().__init__(mark)
        self._conversations = Conversations(mark.state)
        self._ancestry = Ancestry(path, mark, _link)
        self._stem = os.path.basename(path).removesuffix(".jsonl")  # noqa: PTH119

    def state(self) -> dict[str, str]:
        return {**self._conversations.state(), **self._ancestry.state()}

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        del start
        if not row.word("uuid"):
            return
        parts = _parts(row)
        title = row.inner("systemPayload").text("customTitle")
        has_title = row.get("subtype") == "custom_title" and bool(title)
        if parts or has_title:
            conversation = Conversation(
                id=row.word("sessionId") or self._stem,
                cwd=row.folder("", "cwd"),
                branch=row.word("gitBranch"),
                title=title if has_title else "",
                model=row.word("model"),
                started_ms=time_ms(row.get("timestamp")),
            )
            yield from self._conversations.update(conversation)
            before = self._ancestry.record_at(row.word("parentUuid"))
            for part in parts:
                is_result = isinstance(part, ToolEvent) and not part.time_ms
                yield replace(
                    part, conversation=conversation.id, parent="" if is_result else before
                )
                before = part.id
        self._ancestry.add(row)


def _link(row: Fields) -> tuple[str, str, str]:
    """Return the ids of a row, of its parent, and of the last record in it."""
    parts = _parts(row)
    return row.word("uuid"), row.word("parentUuid"), parts[-1].id if parts else ""


def _parts(row: Fields) -> list[Message | ToolEvent]:
    """Return the records of a row, without conversation and parent."""
    parts = row.inner("message").get("parts")
    match row.get("type"):
        case "user":
            text = gemini_tools.texts(parts)
            is_said = row.get("subtype") is None and not text.lstrip().startswith(_NOT_SAID)
            return _message(row, text) if is_said else []
        case "assistant":
            said = _message(row, gemini_tools.texts(parts))
            answer = [_as(part, "assistant") for part in said]
            calls = (part.inner("functionCall") for part in _fields(parts))
            return [*answer, *(_use(row, call) for call in calls if call.word("id"))]
        case "tool_result":
            given = (part.inner("functionResponse") for part in _fields(parts))
            return [_result(row, one) for one in given if one.word("id")]
        case "system" if row.get("subtype") == "chat_compression":
            return _summary(row)
    return []


def _fields(parts: object) -> list[Fields]:
    return [fields_of(part) for part in parts] if isinstance(parts, list) else []


def _message(row: Fields, text: str) -> list[Message | ToolEvent]:
    if not text.strip():
        return []
    time = time_ms(row.get("timestamp"))
    return [Message(conversation="", id=row.word("uuid"), role="user", text=text, time_ms=time)]


def _summary(row: Fields) -> list[Message | ToolEvent]:
    """Return what took the place of earlier messages: the first of those that are kept."""
    kept = row.inner("systemPayload").objects("compressedHistory")
    text = gemini_tools.texts(kept[0].get("parts")) if kept else ""
    return [_as(message, "summary") for message in _message(row, text)]


def _as(record: Message | ToolEvent, role: Role) -> Message | ToolEvent:
    return replace(record, role=role) if isinstance(record, Message) else record


def _use(row: Fields, call: Fields) -> ToolEvent:
    event = gemini_tools.use(
        call.word("id"), call.word("name"), call.inner("args"), row.folder("", "cwd")
    )
    return replace(event, time_ms=time_ms(row.get("timestamp")))


def _result(row: Fields, given: Fields) -> ToolEvent:
    about = row.inner("toolCallResult")
    event = gemini_tools.result(
        given.word("id"),
        given.word("name"),
        given.inner("response"),
        about.text("status"),
        about.get("resultDisplay"),
    )
    return replace(event, ended_ms=time_ms(row.get("timestamp")))
