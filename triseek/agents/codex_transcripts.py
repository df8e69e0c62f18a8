"""Reads the transcripts of Codex, which it calls rollouts: prompts, answers and uses of tools.

A thread is `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`; so is that of a sub-agent. An old one
may be compressed (`.jsonl.zst`), an archived one is in `archived_sessions`. A thread that is
reverted goes on in a second file with its id, one that is forked in a file with an id of its own.
`response_item` rows hold what the model was sent and answered. Items that completed say how
commands ended and which files changed, also for uses that a model's script makes: those have ids of
their own, which begin with `exec-`. Rows name no parents.
"""

from __future__ import annotations

import io
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO, cast

from triseek.agents import codex_uses, jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import fields_of
from triseek.agents.row_reading import Conversations, RowReading, files_below
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Message, ToolEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.agents.payloads.fields import Fields
    from triseek.model.conversation import Mark, Record

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_COMPRESSED = ".jsonl.zst"
_NOT_SAID = (
    "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<turn_aborted>",
    "<permissions instructions>", "<skill>", "<skills_instructions>", "<user_shell_command>",
    "<collaboration_mode>", "<subagent_notification>", "<hook_prompt", "<INSTRUCTIONS>",
)  # fmt: skip
"""How texts of user messages begin that no person wrote, where the row does not say so itself."""
_IN_EDITOR, _REQUEST = "# Context from my IDE setup:", "\n## My request for Codex:\n"
"""How a message begins that an editor's extension has put its open files before, and their end."""


class CodexTranscripts(TranscriptReader):
    """Reads `sessions` and `archived_sessions` in Codex' folder."""

    evidence = "recorded with 0.169.0"
    retention = "Codex deletes no conversations by itself; it may compress old ones."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the rollouts, also archived and compressed ones."""
        home = here.folder("CODEX_HOME", ".codex")
        for folder in ("sessions", "archived_sessions"):
            path = os.path.join(home, folder)  # noqa: PTH118
            yield from files_below(path, ".jsonl", _COMPRESSED)

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a rollout from a mark on; offsets are those of the plain text."""
        reading = _Reading(path, mark)
        if not path.endswith(_COMPRESSED):
            yield from reading.run(jsonl.rows(path, mark.offset), mark.offset)
            return
        with jsonl.opened(path) as file:
            plain = _decompressed(file)
            _skip(plain, mark.offset)
            yield from reading.run(jsonl.rows_of(plain, mark.offset), mark.offset)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a thread."""
        return ("codex", "resume", conversation)


def _decompressed(file: BinaryIO) -> BinaryIO:
    """Return the plain text of a compressed file; reading damaged data raises OSError."""
    import pyarrow as pa

    return cast("BinaryIO", io.BufferedReader(pa.input_stream(file, compression="zstd")))


def _skip(file: BinaryIO, size: int) -> None:
    while size and (data := file.read(min(size, 1 << 20))):
        size -= len(data)


class _Reading(RowReading):
    def __init__(self, path: str, mark: Mark) -> None:
        super().__init__(mark)
        self._conversations = Conversations(mark.state)
        self._path = path
        self._cwd = mark.state.get("cwd", "")
        self._answer: Message | None = None
        """The newest answer: if a compaction follows, it was the summary."""

    def state(self) -> dict[str, str]:
        return {**self._conversations.state(), "cwd": self._cwd}

    @property
    def _thread(self) -> str:
        return self._conversations.newest.id

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        item = row.inner("payload") or row
        kind = row.get("type")
        if kind != "compacted" and kind in ("response_item", "turn_context", "message"):
            yield from self.rest()
            self.release()
        match kind:
            case "session_meta":
                yield from self._begin(item)
            case "turn_context":
                self._cwd = item.folder(self._cwd, "cwd")
                yield from self._update(model=item.word("model"))
            case "compacted":
                yield from self._compacted(start, row, item)
            case "event_msg":
                yield from self._event(row, item)
            case _ if kind == "response_item" or item is row:
                yield from self._item(start, row, item)

    def rest(self) -> Iterator[Record]:
        if self._answer is not None:
            yield self._answer
            self._answer = None

    def _begin(self, meta: Fields) -> Iterator[Record]:
        """Yield the thread. Only the first row is its own: an old fork repeats its parent's."""
        if self._thread or not meta.word("id"):
            return
        source = meta.inner("source").get("subagent")
        spawned = fields_of(source).inner("thread_spawn")
        self._cwd = meta.folder("", "cwd")
        yield from self._conversations.update(
            Conversation(
                id=meta.word("id"),
                parent=meta.word("parent_thread_id", "forked_from_id")
                or spawned.word("parent_thread_id"),
                is_sub_agent=source is not None or meta.get("thread_source") == "subagent",
                cwd=self._cwd,
                branch=meta.inner("git").word("branch"),
                started_ms=time_ms(meta.get("timestamp")),
            )
        )

    def _update(self, *, title: str = "", model: str = "") -> Iterator[Record]:
        if title or model:
            thread = self._thread or self._named()
            yield from self._conversations.update(Conversation(id=thread, title=title, model=model))

    def _named(self) -> str:
        """Return the id in the file's name, for a file whose first row cannot be read."""
        name = os.path.basename(self._path)  # noqa: PTH119
        match = _UUID.search(name)
        return match[0] if match else name

    def _known_thread(self) -> Iterator[Record]:
        if not self._thread:
            yield from self._conversations.update(Conversation(id=self._named()))

    def _item(self, start: int, row: Fields, item: Fields) -> Iterator[Record]:
        time = time_ms(row.get("timestamp"))
        record: Message | ToolEvent | None
        match item.get("type"):
            case "message":
                record = _message(item, f"byte-{start}", time)
            case "agent_message" if self._conversations.newest.is_sub_agent:
                record = _task(item, f"byte-{start}", time)
            case "function_call" | "custom_tool_call" | "local_shell_call":
                record = codex_uses.use(item, self._cwd, time)
            case "function_call_output" | "custom_tool_call_output":
                record = codex_uses.result(item, time)
            case _:
                return
        if record is None:
            return
        yield from self._known_thread()
        record = replace(record, conversation=self._thread)
        if isinstance(record, Message) and record.role == "assistant":
            self.hold()
            self._answer = record
        else:
            yield record

    def _compacted(self, start: int, row: Fields, item: Fields) -> Iterator[Record]:
        """Yield the summary: the answer before it, or else the text in the row."""
        text = item.text("message")
        answer, self._answer = self._answer, None
        yield from self._known_thread()
        if answer is not None and answer.text.strip() in text:
            yield replace(answer, role="summary")
            return
        if answer is not None:
            yield answer
        if text.strip():
            yield Message(
                conversation=self._thread,
                id=f"byte-{start}",
                role="summary",
                text=text,
                time_ms=time_ms(row.get("timestamp")),
            )

    def _event(self, row: Fields, item: Fields) -> Iterator[Record]:
        time = time_ms(row.get("timestamp"))
        event: ToolEvent | None = None
        match item.get("type"):
            case "item_completed":
                event = codex_uses.completed(item.inner("item"), self._cwd, item)
            case "exec_command_end":
                event = codex_uses.command_ended(item, item.word("call_id"), self._cwd, time)
            case "patch_apply_end":
                event = codex_uses.changed(item, item.word("call_id"), self._cwd, time)
            case "thread_name_updated":
                yield from self._update(title=item.text("thread_name"))
        if event is not None and event.id:
            yield from self._known_thread()
            yield replace(event, conversation=self._thread)


def _message(item: Fields, otherwise: str, time: int) -> Message | None:
    """Return what a person or the model said; None for what the program adds."""
    name = item.word("id") or otherwise
    parts = item.objects("content")
    if item.get("role") == "assistant":
        text = "\n".join(filter(None, (part.text("text") for part in parts)))
        return _said(name, text, time, is_user=False)
    if item.get("role") != "user":
        return None
    kinds = item.inner("internal_chat_message_metadata_passthrough").get("content_item_kinds")
    if isinstance(kinds, list) and len(kinds) == len(parts):
        both = zip(parts, kinds, strict=True)
        parts = [part for part, kind in both if str(kind).startswith(("user.", "unknown"))]
    texts = [_without_editor(part.text("text")) for part in parts]
    said = [text for text in texts if text and not text.lstrip().startswith(_NOT_SAID)]
    return _said(name, "\n".join(said), time, is_user=True)


def _without_editor(text: str) -> str:
    """Return a message without what an editor's extension has put before it."""
    return text.partition(_REQUEST)[2] or text if text.lstrip().startswith(_IN_EDITOR) else text


def _task(item: Fields, otherwise: str, time: int) -> Message | None:
    """Return what a sub-agent was asked for, without the lines before it; None if encrypted."""
    texts = (part.text("text") for part in item.objects("content"))
    text = "".join(texts).partition("\nPayload:\n")[2]
    return _said(item.word("id") or otherwise, text, time, is_user=True)


def _said(name: str, text: str, time: int, *, is_user: bool) -> Message | None:
    if not text.strip():
        return None
    said = Message(conversation="", id=name, role="user", text=text, time_ms=time)
    return said if is_user else replace(said, role="assistant")
