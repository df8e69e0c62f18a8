"""Reads the transcripts of Gemini CLI: prompts, answers and uses of tools.

A session is `tmp/<project>/chats/session-<time>-<id>.jsonl`, that of a sub-agent
`chats/<parent session>/<id>.jsonl`, and `tmp/<project>/.project_root` names the project's folder. A
row is a message, or what changes: `$set` (sometimes all messages, as after a compression), or
`$rewindTo` a message that is removed with all after it. A message is written again when it has
changed: an answer gets its `toolCalls` once they have results. Older versions wrote one JSON
document, `session-<time>-<id>.json`.
"""

from __future__ import annotations

import os
import re
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.agents import gemini_tools, jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only, fields_of
from triseek.agents.row_reading import Conversations, RowReading, files_below
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Record

_NOT_SAID = ("/", "?", "<session_context>", "<hook_context>")
"""How user messages begin that the program itself leaves out when it shows a session."""
_HOOK_CONTEXT = re.compile(r"\A\s*<hook_context>.*?</hook_context>\n\n", re.DOTALL)
"""What a hook has put before the first prompt, without a terminal."""
_SUMMARY = "<state_snapshot>"
_ROOT_MAX = 4096
"""Bytes of `.project_root`."""


class GeminiTranscripts(TranscriptReader):
    """Reads `tmp/*/chats` in Gemini CLI's folder."""

    evidence = "recorded with 0.61.0; sub-agents and single documents from its source"
    retention = (
        "Gemini CLI deletes conversations after 30 days (`general.sessionRetention.maxAge`)."
    )

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the files of sessions and of their sub-agents."""
        home = os.path.join(here.folder("GEMINI_CLI_HOME"), ".gemini", "tmp")  # noqa: PTH118
        for path in files_below(home, ".json", ".jsonl"):
            folders = Path(path).relative_to(home).parts
            is_session = path.endswith(".jsonl") or folders[-1].startswith("session-")
            if folders[1:2] == ("chats",) and is_session:
                yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a file from a mark on; a single document is read as a whole."""
        if path.endswith(".jsonl"):
            yield from _Reading(path, mark).run(jsonl.rows(path, mark.offset), mark.offset)
            return
        document = jsonl.document(path)
        value = document if isinstance(document, Unreadable) else fields_of(document)
        size = os.stat(path).st_size  # noqa: PTH116
        yield from _Reading(path, Mark()).run([jsonl.Row(0, size, value)], 0)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("gemini", "--resume", conversation)


class _Reading(RowReading):
    def __init__(self, path: str, mark: Mark) -> None:
        super().__init__(mark)
        self._conversations = Conversations(mark.state)
        self._path = path
        self._at = mark.offset
        """Where the current row begins."""
        self._newest = mark.state.get("newest", "")
        self._before_id = mark.state.get("before", "")
        self._record = mark.state.get("record", "")
        self._known: dict[str, str] | None = {} if mark.offset == 0 else None
        """The last record at each message so far, in order; None until they are needed."""

    def state(self) -> dict[str, str]:
        position = {"newest": self._newest, "before": self._before_id, "record": self._record}
        return {**self._conversations.state(), **position}

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        self._at = start
        rewind, changes = row.word("$rewindTo"), row.inner("$set")
        if rewind:
            self._rewind(rewind)
        elif changes:
            yield from self._head(changes)
            yield from self._messages(changes)
        elif row.word("id"):
            yield from self._message(row)
        elif row.word("sessionId"):
            yield from self._head(row)
            yield from self._messages(row)

    def _head(self, row: Fields) -> Iterator[Record]:
        """Yield the conversation that rows without a message describe."""
        newest = self._conversations.newest
        name = row.word("sessionId") or newest.id
        if not name:
            return
        kind = row.get("kind")
        is_sub_agent = kind == "subagent"
        told = Conversation(
            id=name,
            is_sub_agent=is_sub_agent,
            parent=os.path.basename(os.path.dirname(self._path)) if is_sub_agent else "",  # noqa: PTH119, PTH120
            cwd=newest.cwd if name == newest.id else self._project(row),
            title=row.text("summary"),
            started_ms=time_ms(row.get("startTime")),
        )
        yield from self._conversations.update(told)

    def _project(self, row: Fields) -> str:
        """Return the project's folder: the file that names it is beside the folder of chats."""
        above, _, _ = self._path.rpartition(f"{os.sep}chats{os.sep}")
        try:
            with jsonl.opened(os.path.join(above, ".project_root")) as file:  # noqa: PTH118
                name = file.read(_ROOT_MAX).decode("utf-8", "replace").strip()
        except OSError:
            name = ""
        folders = row.get("directories")
        first = folders[0] if isinstance(folders, list) and folders else ""
        return absolute_only(name) or absolute_only(first)

    def _messages(self, row: Fields) -> Iterator[Record]:
        """Yield those of a list of messages that were not in the file before.

        A checkpoint repeats the others with new times and without the results of tools.
        """
        for message in row.objects("messages"):
            name = message.word("id")
            if name and _parts(message, "") and name not in self._records():
                yield from self._message(message)

    def _message(self, row: Fields) -> Iterator[Record]:
        if not self._conversations.newest.id:
            stem = os.path.basename(self._path).partition(".")[0]  # noqa: PTH119
            yield from self._conversations.update(Conversation(id=stem))
        thread = self._conversations.newest
        if row.get("type") == "gemini" and row.word("model"):
            told = Conversation(id=thread.id, model=row.word("model"))
            yield from self._conversations.update(told)
        name = row.word("id")
        if name != self._newest:
            self._newest, self._before_id = name, self._record
        parent = self._before_id
        for part in _parts(row, thread.cwd):
            yield replace(part, conversation=thread.id, parent=parent)
            parent = part.id
        self._record = parent
        if self._known is not None:
            self._known[name] = parent

    def _records(self) -> dict[str, str]:
        """Return the last record at each message, also of those that an earlier read has read."""
        if self._known is None:
            earlier = _Reading(self._path, Mark())
            for row in jsonl.rows(self._path):
                if row.start >= self._at:
                    break
                if not isinstance(row.value, Unreadable):
                    deque(earlier.records(row.start, row.value), maxlen=0)
            self._known = {**(earlier._known or {}), self._newest: self._record}
        return self._known

    def _rewind(self, name: str) -> None:
        """Go back to before a message; to the start if it is not known."""
        records = self._records()
        ids = list(records)
        kept = ids[: ids.index(name)] if name in records else []
        self._known = {message: records[message] for message in kept}
        self._newest = kept[-1] if kept else ""
        self._record = records[self._newest] if kept else ""
        self._before_id = records[kept[-2]] if len(kept) > 1 else ""


def _parts(row: Fields, cwd: str) -> list[Message | ToolEvent]:
    """Return the records of a message, without conversation and parent."""
    name, time = row.word("id"), time_ms(row.get("timestamp"))
    text = gemini_tools.texts(row.get("displayContent") or row.get("content"))
    text = _HOOK_CONTEXT.sub("", text)
    message = Message(conversation="", id=name, role="user", text=text, time_ms=time)
    has_text = bool(text.strip())
    if row.get("type") == "user":
        if text.lstrip().startswith(_SUMMARY):
            return [replace(message, role="summary")]
        return [message] if has_text and not text.strip().startswith(_NOT_SAID) else []
    if row.get("type") != "gemini":
        return []
    answer: list[Message | ToolEvent] = [replace(message, role="assistant")] if has_text else []
    calls = row.objects("toolCalls")
    return answer + [_event(call, cwd, time) for call in calls if call.word("id")]


def _event(call: Fields, cwd: str, time: int) -> ToolEvent:
    """Return a use of a tool, with its result if it has one."""
    name = call.word("name")
    event = replace(gemini_tools.use(call.word("id"), name, call.inner("args"), cwd), time_ms=time)
    results = call.get("result")
    parts = [fields_of(part) for part in results] if isinstance(results, list) else []
    responses = (part.inner("functionResponse").inner("response") for part in parts)
    response = next(filter(None, responses), Fields())
    state = call.text("status")
    if not response and state not in ("success", "error", "cancelled"):
        return event
    result = gemini_tools.result(event.id, name, response, state, call.get("resultDisplay"))
    return replace(
        event,
        exit_status=result.exit_status,
        failed=result.failed,
        output=result.output,
        edits=result.edits or event.edits,
        ended_ms=time_ms(call.get("timestamp")),
    )
