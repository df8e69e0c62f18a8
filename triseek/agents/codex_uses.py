"""Reads uses of Codex' tools from the rows of its transcripts."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.agents import codex_outputs, jsonl
from triseek.agents.patches import edits_of_patch, sides
from triseek.agents.payloads import exit_status
from triseek.agents.payloads.fields import absolute, absolute_only, fields_of
from triseek.agents.transcript_values import arguments, time_ms
from triseek.model.conversation import Edit, ToolEvent

if TYPE_CHECKING:
    from triseek.agents.payloads.fields import Fields

_FAILURES = ("apply_patch verification failed", "exec_command failed", "failed to parse ")
"""How outputs of calls begin that could not be made."""
_LONG_FIELDS = ("cmd", "command", "input", "patch", "message")
_SHELL_WORDS = 3
"""Words of `bash -lc COMMAND`."""


def use(item: Fields, cwd: str, time: int) -> ToolEvent | None:
    """Return a call of a tool, without its output."""
    name = item.word("name") or str(item.get("type"))
    text = item.text("arguments", "input")
    values = _object(text) if "arguments" in item else fields_of(None)
    values = values or item.inner("action")
    folder = values.folder(cwd, "workdir", "cwd", "working_directory")
    is_patch = name == "apply_patch"
    patch = (values.text("input", "patch") or text) if is_patch else ""
    call = item.word("call_id", "id")
    if not call:
        return None
    return ToolEvent(
        conversation="",
        id=call,
        name="/".join(filter(None, (item.word("namespace"), name))),
        input=arguments(values or {"input": text}, _LONG_FIELDS if not _script(name) else ()),
        command=_command(values.get("cmd", values.get("command"))) if not is_patch else "",
        edits=edits_of_patch(patch, folder),
        time_ms=time,
    )


def _object(text: str) -> Fields:
    """Return the object in a text; its texts can be encoded, too."""
    return fields_of(jsonl.parsed(text.encode(), "text"))


def _script(name: str) -> bool:
    """Whether the tool runs a script of the model, which no other field of the event holds."""
    return name == "exec"


def result(item: Fields, time: int) -> ToolEvent | None:
    """Return what a call's output adds to it; the lines before a command's output are left out."""
    output = item.get("output")
    if isinstance(output, str) and output[:1] == "{":
        output = _object(output).get("output", output)
    elif isinstance(output, dict):
        output = fields_of(output).get("content", "")
    if isinstance(output, list):
        blocks = (fields_of(block) for block in output)
        output = "".join(_line(block.text("text")) for block in blocks).removesuffix("\n")
    text = output if isinstance(output, str) else ""
    status = codex_outputs.status(item.get("output"))
    call = item.word("call_id")
    if not call:
        return None
    is_refused = text.startswith(_FAILURES) or item.inner("output").get("success") is False
    failed = True if is_refused else None
    return ToolEvent(
        conversation="",
        id=call,
        exit_status=status,
        failed=failed if status is None else status != 0,
        output=codex_outputs.HEAD.sub("", text, count=1),
        ended_ms=time,
    )


def _line(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def completed(item: Fields, cwd: str, row: Fields) -> ToolEvent | None:
    """Return what an item that completed adds to a call, or a use that a script made."""
    ended, call = time_ms(row.get("completed_at_ms")), item.word("id")
    match item.get("type"):
        case "CommandExecution":
            event = command_ended(item, call, cwd, ended)
            is_inner = call.startswith("exec-")
            began = time_ms(row.get("started_at_ms")) if is_inner else 0
            return replace(event, name="exec_command" if is_inner else "", time_ms=began)
        case "FileChange":
            return changed(item, call, cwd, ended)
        case "McpToolCall" if call.startswith("exec-"):
            name = "/".join(filter(None, (item.word("server"), item.word("tool"))))
            failed = item.get("status") == "failed"
            return ToolEvent(
                conversation="", id=call, name=name, failed=failed, ended_ms=ended,
                input=arguments(item.inner("arguments")),
            )  # fmt: skip
    return None


def command_ended(item: Fields, call: str, cwd: str, ended: int) -> ToolEvent:
    """Return how a command ended. What the model saw of it is in the output of its call."""
    folder = absolute_only(item.text("cwd").removeprefix("file://")) or cwd
    status = exit_status.of_field(item, "exit_code")
    reads = [
        path
        for command in item.objects("parsed_cmd")
        if command.get("type") == "read"
        and os.path.isabs(path := absolute(command.text("path"), folder))  # noqa: PTH117
    ]
    return ToolEvent(
        conversation="",
        id=call,
        command=_command(item.get("command")),
        exit_status=status,
        failed=None if status is None else status != 0,
        output=item.text("aggregated_output") if call.startswith("exec-") else "",
        reads=tuple(dict.fromkeys(map(os.path.normpath, reads))),
        ended_ms=ended,
    )


def _command(words: object) -> str:
    """Return a command's text: of `bash -lc COMMAND` the last word."""
    if isinstance(words, str):
        return words
    texts = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    is_shell = len(texts) == _SHELL_WORDS and texts[1] in ("-c", "-lc", "-Command")
    return texts[-1] if is_shell else " ".join(texts)


def changed(item: Fields, call: str, cwd: str, ended: int) -> ToolEvent:
    """Return the files that a patch changed."""
    success = item.get("success")
    failed = item.get("status") in ("failed", "declined") or success is False
    changes = item.inner("changes")
    edits = [
        edit
        for path in changes
        if (edit := _edit(absolute(path, cwd), changes.inner(path), cwd)) is not None
    ]
    return ToolEvent(
        conversation="",
        id=call,
        failed=failed,
        edits=() if failed else tuple(edits),
        ended_ms=ended,
    )


def _edit(path: str, change: Fields, cwd: str) -> Edit | None:
    if not os.path.isabs(path):  # noqa: PTH117
        return None
    content = change.text("content")
    match change.get("type"):
        case "add":
            return Edit(path=path, after=content)
        case "delete":
            return Edit(path=path, before=content)
    before, after = sides(change.text("unified_diff").splitlines())
    moved = absolute(change.text("move_path"), cwd)
    return Edit(path=moved or path, before=before, after=after)
