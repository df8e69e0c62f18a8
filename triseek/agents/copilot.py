"""GitHub Copilot's program `copilot`: its sessions, as of 1.0.102. Nothing is installed into it.

A session is a folder with `events.jsonl`, and what it is called in `workspace.yaml`. What a
sub-agent does is in the same file, marked with its id; here it is a conversation of its own.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import Agent, TranscriptReader
from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import Fields, absolute_only
from triseek.agents.row_reading import Conversations, RowReading, files_below
from triseek.agents.tool_vocabulary import Vocabulary, exit_status_of
from triseek.agents.transcript_values import time_ms
from triseek.model.conversation import Conversation, Message, ToolEvent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Mark, Record, Role

_EVENTS, _WORKSPACE = "events.jsonl", "workspace.yaml"
_NAME = re.compile(rb"^name: (.+?)\s*$", re.MULTILINE)
_YAML_MAX = 1 << 16
_SHELLS = frozenset(("bash", "powershell", "shell"))
_STATUS = re.compile(r"<[^<>\n]{0,60}exit(?:ed with exit)? code (\d{1,10})>\s*\Z")
"""How the output of a shell command ends."""
_TOOLS = Vocabulary(
    shells=_SHELLS,
    reads=frozenset(("view", "read")),
    edits={"edit": ("old_str", "new_str"), "create": ("", "file_text"), "write": ("", "content")},
    patches=frozenset(("apply_patch",)),
)


class CopilotTranscripts(TranscriptReader):
    """Reads `session-state` in Copilot's folder."""

    evidence = "recorded with 1.0.102"
    retention = "Copilot CLI keeps sessions until they are deleted; its documentation names no age."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the sessions' events."""
        folder = os.path.join(here.folder("COPILOT_HOME", ".copilot"), "session-state")  # noqa: PTH118
        for path in files_below(folder, ".jsonl", depth=1):
            if os.path.basename(path) == _EVENTS:  # noqa: PTH119
                yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield the records of a session from a mark on."""
        yield from _Reading(path, mark).run(jsonl.rows(path, mark.offset), mark.offset)

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session."""
        return ("copilot", f"--resume={conversation}")


class Copilot(Agent):
    """The program `copilot`."""

    name = "copilot"
    title = "Copilot CLI"
    programs = ("copilot",)
    transcripts = CopilotTranscripts()

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings and sessions."""
        return here.folder("COPILOT_HOME", ".copilot")


class _Reading(RowReading):
    def __init__(self, path: str, mark: Mark) -> None:
        super().__init__(mark)
        self._conversations = Conversations(mark.state)
        kept = self._conversations.newest
        parent = kept.parent if kept.is_sub_agent else kept.id
        self._session = mark.state.get("session") or parent or _session_of(path)
        self._cwd = mark.state.get("cwd", "")
        self._title = _title(path)

    def state(self) -> dict[str, str]:
        own = {"session": self._session, "cwd": self._cwd}
        return {**own, **self._conversations.state()}

    def records(self, start: int, row: Fields) -> Iterator[Record]:
        del start
        kind, data = row.text("type"), row.inner("data")
        told = self._told(kind, row, data)
        record = self._record(kind, row, data, told.id)
        is_news = kind in ("session.start", "session.resume", "session.model_change")
        if record is not None or is_news or kind == "subagent.started":
            yield from self._conversations.update(told)
        if record is not None:
            yield record

    def _told(self, kind: str, row: Fields, data: Fields) -> Conversation:
        """Return what an event says of its conversation."""
        if kind == "session.start":
            self._session = data.word("sessionId") or self._session
        context = data.inner("context")
        self._cwd = self._cwd or absolute_only(context.get("cwd"))
        # Older versions do not give sub-agents ids.
        agent = row.word("agentId") or data.word("parentToolCallId")
        model = data.word("selectedModel", "newModel")
        if kind in ("assistant.message", "subagent.started"):
            model = data.word("model")
        is_start = kind == "subagent.started"
        title = data.text("agentDisplayName") if is_start else ""
        return Conversation(
            id=agent or self._session,
            parent=self._session if agent else "",
            is_sub_agent=bool(agent),
            cwd=self._cwd,
            branch="" if agent else context.text("branch"),
            title=title if agent else self._title,
            model=model,
            started_ms=time_ms(row.get("timestamp") if is_start else data.get("startTime")),
        )

    def _record(
        self, kind: str, row: Fields, data: Fields, conversation: str
    ) -> Message | ToolEvent | None:
        time = time_ms(row.get("timestamp"))
        use = data.word("toolCallId")
        if kind == "tool.execution_start" and use:
            values = data.get("arguments")
            event = _TOOLS.event(conversation, use, data.text("toolName"), values, self._cwd)
            return replace(event, time_ms=time)
        if kind == "tool.execution_complete" and use:
            return _result(conversation, use, data, time)
        role = _role(kind, data)
        if role is None or not row.word("id"):
            return None
        return Message(
            conversation=conversation, id=row.word("id"), role=role, text=_said(data), time_ms=time
        )


def _role(kind: str, data: Fields) -> Role | None:
    """Return who says the text of an event; None if it has none that was said."""
    if not _said(data).strip():
        return None
    if kind == "user.message":
        # Others are injected, such as the texts of skills.
        source = data.text("source")
        is_said = source in ("", "user") or source.startswith("agent-")  # a parent's prompt
        return "user" if is_said else None
    if kind == "assistant.message":
        return "assistant"
    return "summary" if kind == "session.compaction_complete" else None


def _said(data: Fields) -> str:
    return data.text("content", "summaryContent")


def _result(conversation: str, use: str, data: Fields, time: int) -> ToolEvent:
    result = data.inner("result")
    output = result.text("content") or data.text("result") or data.inner("error").text("message")
    status = exit_status_of(data.inner("shellExecution"), "exitCode")
    if status is None:
        status = exit_status.of_pattern(_STATUS, output)
    success = data.get("success")
    failed = success is False or bool(status) if isinstance(success, bool) else None
    return ToolEvent(
        conversation=conversation,
        id=use,
        exit_status=status,
        failed=failed,
        output=output,
        ended_ms=time,
    )


def _session_of(path: str) -> str:
    return os.path.basename(os.path.dirname(path))  # noqa: PTH119, PTH120


def _title(path: str) -> str:
    """Return the session's name, one line of YAML; "" if it has none."""
    try:
        with jsonl.opened(os.path.join(os.path.dirname(path), _WORKSPACE)) as file:  # noqa: PTH118, PTH120
            match = _NAME.search(file.read(_YAML_MAX))
    except OSError:
        return ""
    text = match[1].decode("utf-8", "replace") if match else ""
    if text[:1] in ("|", ">", "&", "*", "!"):
        return ""
    if text[:1] == text[-1:] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[:1] == '"':
        try:
            value = json.loads(text)
        except ValueError:
            return ""
        return value if isinstance(value, str) else ""
    return text


AGENT = Copilot()
