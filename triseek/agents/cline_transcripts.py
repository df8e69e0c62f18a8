"""Reads the conversations of Cline's program and of its VS Code extension: whole JSON files.

The program keeps `sessions/<id>/<id>.messages.json`, `<id>.json` beside it about the session, and a
file of messages for each sub-agent. The extension keeps `tasks/<id>/api_conversation_history.json`,
and what it knows of tasks in `state/taskHistory.json`; before it used tools by the API, uses of
tools were text of the answers, and are not read as events.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import jsonl
from triseek.agents.base import TranscriptReader
from triseek.agents.payloads.fields import Fields, absolute_only, fields_of, parsed
from triseek.agents.row_reading import files_below
from triseek.agents.tool_vocabulary import Vocabulary
from triseek.agents.transcript_values import compact, time_ms
from triseek.agents.vscode import editions
from triseek.model.conversation import Conversation, Mark, Message, ToolEvent, Unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from triseek.agents.base import InstallPlace
    from triseek.model.conversation import Record, Role

_MESSAGES, _TASK = ".messages.json", "api_conversation_history.json"
_EXTENSION = ("globalStorage", "saoudrizwan.claude-dev", "tasks")
_ADDED = re.compile(
    r"<(environment_details|mode_notice|task_progress)\b.*?</\1>", re.DOTALL
)  # fmt: skip
_WRAPPED = re.compile(
    r"\s*<(user_input|task|user_message|feedback)\b[^>]{0,200}>(.*?)</\1>(.*)", re.DOTALL
)
_RESULT = re.compile(r"\s*\[\w+(?: for '.{0,2000}?')?\] Result:", re.DOTALL)
"""How texts of the extension begin that are results of tools."""
_STATUS = re.compile(r"exited with code (\d{1,10})")
_SHELLS = frozenset(("run_commands", "execute_command", "bash"))
_TOOLS = Vocabulary(
    shells=_SHELLS,
    command=("commands", "command"),
    reads=frozenset(("read_files", "read_file")),
    edits={
        "editor": ("old_text", "new_text"),
        "write_to_file": ("", "content"),
        "replace_in_file": ("", "diff"),
    },
    patches=frozenset(("apply_patch",)),
    several=("files",),
)


class ClineTranscripts(TranscriptReader):
    """Reads `sessions` in Cline's folder, and `tasks` of its extension."""

    appends = False
    evidence = "program: recorded with 3.0.65; extension: its source, cline/cline"
    retention = "Cline deletes no conversations by itself."

    def sources(self, here: InstallPlace) -> Iterator[str]:
        """Yield the files of messages."""
        yield from files_below(_sessions(here), _MESSAGES)
        for user in editions(here):
            for path in files_below(os.path.join(user, *_EXTENSION), ".json", depth=1):  # noqa: PTH118
                if os.path.basename(path) == _TASK:  # noqa: PTH119
                    yield path

    def read(self, path: str, mark: Mark) -> Iterator[Record | Mark]:
        """Yield all records of a file, whatever the mark."""
        del mark
        document = jsonl.document(path)
        if isinstance(document, Unreadable):
            yield document
        elif os.path.basename(path) == _TASK:  # noqa: PTH119
            yield from _records(_task(path), Fields({"messages": document}).objects("messages"))
        else:
            fields = fields_of(document)
            yield from _records(_session(path, fields), fields.objects("messages"))
        yield Mark()

    def resume(self, conversation: str) -> tuple[str, ...]:
        """Return the command that reopens a session; the extension has none for its tasks."""
        return () if conversation.isdigit() else ("cline", "--id", conversation)


def _sessions(here: InstallPlace) -> str:
    """Return the folder of the program's sessions, by the variables that it reads."""
    named = here.environ.get("CLINE_SESSION_DATA_DIR", "").strip()
    if named:
        return os.path.join(here.cwd, named)  # noqa: PTH118
    data = here.environ.get("CLINE_DATA_DIR", "").strip()
    usual = os.path.join(here.folder("CLINE_DIR", ".cline"), "data")  # noqa: PTH118
    return os.path.join(here.cwd, data or usual, "sessions")  # noqa: PTH118


def _session(path: str, fields: Fields) -> Conversation:
    """Return what is known of a session of the program, or of a sub-agent."""
    folder, name = os.path.split(path)
    stem = name.removesuffix(_MESSAGES)
    lead = os.path.basename(folder)  # noqa: PTH119
    details = fields_of(_beside(folder, f"{lead}.json"))
    metadata, origin = details.inner("metadata"), fields.inner("origin")
    parent = origin.word("parentThreadId")
    is_lead = stem == lead and not parent
    return Conversation(
        id=fields.word("sessionId") or stem,
        parent="" if is_lead else parent or lead,
        is_sub_agent=not is_lead,
        cwd=absolute_only(details.get("cwd")) or absolute_only(details.get("workspace_root")),
        branch=metadata.inner("git").text("branch") if is_lead else "",
        title=metadata.text("title") if is_lead else "",
        model=details.word("model"),
        started_ms=time_ms(details.get("started_at")) if is_lead else 0,
    )


def _task(path: str) -> Conversation:
    """Return what is known of a task of the extension."""
    folder = os.path.dirname(path)  # noqa: PTH120
    task = os.path.basename(folder)  # noqa: PTH119
    state = os.path.join(os.path.dirname(os.path.dirname(folder)), "state")  # noqa: PTH118, PTH120
    tasks = Fields({"tasks": _beside(state, "taskHistory.json")}).objects("tasks")
    details = next((one for one in tasks if one.word("id") == task), Fields())
    started = int(task) if task.isascii() and task.isdigit() and len(task) < 15 else 0
    return Conversation(
        id=task,
        cwd=absolute_only(details.get("cwdOnTaskInitialization")),
        title=details.text("task"),
        model=details.word("modelId"),
        started_ms=time_ms(started),
    )


def _beside(folder: str, name: str) -> object:
    try:
        return jsonl.document(os.path.join(folder, name))  # noqa: PTH118
    except OSError:
        return None


def _records(conversation: Conversation, messages: list[Fields]) -> Iterator[Record]:
    yield conversation
    for number, message in enumerate(messages):
        if message.inner("metadata").get("displayOnly") is True:
            continue  # such as errors of the API
        # Older versions give messages neither ids nor times.
        identity = message.word("id") or f"message {number}"
        time = time_ms(message.get("ts"))
        role: Role = "user" if message.text("role") == "user" else "assistant"
        text = _said(message, role)
        if text:
            yield Message(
                conversation=conversation.id, id=identity, role=role, text=text, time_ms=time
            )
        for part in message.objects("content"):
            if part.text("type") == "tool_use" and part.word("id"):
                yield _use(conversation, part, time)
            elif part.text("type") == "tool_result" and part.word("tool_use_id"):
                yield _result(conversation.id, part, time)


def _said(message: Fields, role: Role) -> str:
    content = message.get("content")
    texts = [content] if isinstance(content, str) else []
    texts += [
        part.text("text") for part in message.objects("content") if part.text("type") == "text"
    ]
    if role == "user":
        texts = [_unwrapped(text) for text in texts if not _RESULT.match(text)]
    return "\n".join(text for text in texts if text.strip()).strip()


def _unwrapped(text: str) -> str:
    """Return what a person wrote, without what Cline puts around it."""
    text = _ADDED.sub("", text)
    match = _WRAPPED.fullmatch(text)
    return f"{match[2]}{match[3]}".strip() if match else text


def _use(conversation: Conversation, part: Fields, time: int) -> ToolEvent:
    values = part.inner("input")
    event = _TOOLS.event(
        conversation.id, part.word("id"), part.text("name"), values, conversation.cwd
    )
    return replace(event, time_ms=time)


def _result(conversation: str, part: Fields, time: int) -> ToolEvent:
    """Return the result of a use: a text, its JSON, or a list with a result for each item."""
    content = part.get("content")
    value = parsed(content) if isinstance(content, str) else content
    items = value if isinstance(value, list) else [value]
    results = [Fields(item) for item in items if isinstance(item, dict)]
    failures = [item for item in results if item.get("success") is False or "error" in item]
    is_error = part.get("is_error") is True
    status = None
    if part.text("name") in _SHELLS and results:
        found = _STATUS.search(failures[0].text("error")) if failures else None
        status = int(found[1]) if found else None if failures else 0
    return ToolEvent(
        conversation=conversation,
        id=part.word("tool_use_id"),
        name=part.text("name"),
        exit_status=status,
        failed=is_error or bool(failures),
        output=content if isinstance(content, str) else _shown(content),
        ended_ms=time,
    )


def _shown(content: object) -> str:
    """Return the texts of a list of results; what has another form is shown as JSON."""
    texts = []
    for item in content if isinstance(content, list) else [content]:
        part = fields_of(item)
        known = part.text("result", "text") or part.text("error")
        texts.append(known or ("" if "result" in part else compact(item)))
    return "\n".join(text for text in texts if text)
