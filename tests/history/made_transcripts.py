"""Transcripts of six agents, made by a program in the formats that their readers know.

Every text of a conversation comes from a function of the field's name, so that a test decides what
stands in each of them.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Say = Callable[[str], str]

START_MS = 1_760_000_000_000
TIME = "2026-10-01T10:00:00.000Z"


def claude_code(home: Path, name: str, say: Say, turns: int = 1) -> Path:
    """A session of Claude Code: prompts, answers, a command, an edit, a title."""
    path = home / ".claude" / "projects" / say("folder") / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return _lines(path, (row for turn in range(turns) for row in claude_rows(name, turn, say)))


def claude_rows(name: str, turn: int, say: Say) -> list[dict[str, Any]]:
    """The rows of one turn of a session of Claude Code."""
    shared = {
        "sessionId": name, "cwd": say("cwd"), "gitBranch": say("branch"), "timestamp": TIME,
        "version": "2.1.330", "isSidechain": False, "parentUuid": None,
    }  # fmt: skip

    def row(number: int, kind: str, role: str, content: Any) -> dict[str, Any]:
        message = {"role": role, "content": content, "model": say("model")}
        if role == "assistant":
            message["id"] = f"{say('id')}-{name}-{turn}-{number}"
        return {**shared, "type": kind, "uuid": f"{name}-{turn}-{number}", "message": message}

    call, change = f"call-{name}-{turn}", f"change-{name}-{turn}"
    arguments = {"command": say("command"), "description": say("argument")}
    edit = {"file_path": say("path"), "old_string": say("before"), "new_string": say("after")}
    return [
        row(1, "user", "user", say("prompt")),
        row(2, "assistant", "assistant", [{"type": "text", "text": say("answer")}]),
        row(3, "assistant", "assistant", [_use(call, "Bash", arguments)]),
        row(4, "user", "user", [_result(call, say("output"))]),
        row(5, "assistant", "assistant", [_use(change, "Edit", edit)]),
        row(6, "user", "user", [_result(change, "done")]),
        row(7, "assistant", "assistant", [_use(f"u{turn}", say("tool"), {"a": say("argument")})]),
        {"type": "custom-title", "customTitle": say("title"), "sessionId": name},
    ]  # fmt: skip


def codex(home: Path, name: str, say: Say) -> Path:
    """A thread of Codex."""
    path = home / ".codex" / "sessions" / "2026" / "10" / "01" / f"rollout-{name}.jsonl"

    def row(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": TIME, "type": kind, "payload": payload}

    call = json.dumps({"cmd": say("command"), "workdir": say("cwd"), "why": say("argument")})
    patch = (
        f"*** Begin Patch\n*** Update File: {say('path')}\n@@\n-{say('before')}\n+{say('after')}\n"
        "*** End Patch"
    )
    return _lines(
        path,
        [
            row("session_meta", id=name, cwd=say("cwd"), timestamp=TIME,
                git={"branch": say("branch")}),
            row("turn_context", cwd=say("cwd"), model=say("model")),
            row("response_item", type="message", role="user",
                content=[{"type": "input_text", "text": say("prompt")}]),
            row("response_item", type="function_call", name="exec_command", call_id="call-1",
                arguments=call),
            row("response_item", type="function_call_output", call_id="call-1",
                output=say("output")),
            row("response_item", type="custom_tool_call", name="apply_patch", call_id="call-2",
                input=patch),
            row("response_item", type="function_call", name=say("tool"), call_id=say("id"),
                arguments="{}"),
            row("response_item", type="message", role="assistant",
                content=[{"type": "output_text", "text": say("answer")}]),
            row("event_msg", type="thread_name_updated", thread_name=say("title")),
        ],
    )  # fmt: skip


def pi(home: Path, name: str, say: Say) -> Path:
    """A session of Pi."""
    path = home / ".pi" / "agent" / "sessions" / say("folder") / f"1_{name}.jsonl"

    def call(use: str, tool: str, **values: str) -> dict[str, Any]:
        return {"type": "toolCall", "id": use, "name": tool, "arguments": values}

    def entry(number: int, **message: Any) -> dict[str, Any]:
        return {"type": "message", "id": f"e{number}", "parentId": None, "message": message}

    calls = [
        {"type": "text", "text": say("answer")},
        call("u1", "bash", command=say("command")),
        call("u2", "edit", path=say("path"), oldText=say("before"), newText=say("after")),
        call(say("id"), say("tool"), query=say("argument")),
    ]
    return _lines(
        path,
        [
            {"type": "session", "id": name, "cwd": say("cwd"), "timestamp": TIME},
            {"type": "model_change", "modelId": say("model")},
            entry(1, role="user", content=say("prompt"), timestamp=START_MS),
            entry(2, role="assistant", content=calls, timestamp=START_MS),
            entry(3, role="toolResult", toolCallId="u1", toolName="bash",
                  content=[{"type": "text", "text": say("output")}], isError=False),
            {"type": "session_info", "name": say("title")},
        ],
    )  # fmt: skip


def gemini(home: Path, name: str, say: Say) -> Path:
    """A session of Gemini CLI."""
    project = home / ".gemini" / "tmp" / say("folder")
    path = project / "chats" / f"session-2026-10-01-{name}.jsonl"

    def call(use: str, tool: str, output: str, **values: str) -> dict[str, Any]:
        response = {"functionResponse": {"response": {"output": output}}}
        return {"id": use, "name": tool, "args": values, "status": "success", "result": [response]}

    calls = [
        call("g1", "run_shell_command", say("output"), command=say("command")),
        call("g2", "replace", "done", file_path=say("path"), old_string=say("before"),
             new_string=say("after")),
        call(say("id"), say("tool"), say("output"), query=say("argument")),
    ]  # fmt: skip
    made = _lines(
        path,
        [
            {"sessionId": name, "startTime": TIME, "kind": "main", "summary": say("title")},
            {"id": "m1", "type": "user", "timestamp": TIME, "content": say("prompt")},
            {"id": "m2", "type": "gemini", "timestamp": TIME, "model": say("model"),
             "content": say("answer"), "toolCalls": calls},
        ],
    )  # fmt: skip
    (project / ".project_root").write_text(say("cwd"))
    return made


def cline(home: Path, name: str, say: Say) -> Path:
    """A session of Cline's program."""
    folder = home / ".cline" / "data" / "sessions" / name
    folder.mkdir(parents=True, exist_ok=True)
    arguments = {"path": say("path"), "old_text": say("before"), "new_text": say("after")}
    uses = [
        {"type": "text", "text": say("answer")},
        _use("c1", "run_commands", {"commands": [say("command")]}),
        _use("c2", "editor", arguments),
        _use(say("id"), say("tool"), {"query": say("argument")}),
    ]
    messages = [
        {"id": "m1", "role": "user", "content": say("prompt"), "ts": START_MS},
        {"id": "m2", "role": "assistant", "content": uses, "ts": START_MS},
        {"id": "m3", "role": "user", "content": [_result("c1", say("output"))], "ts": START_MS},
    ]
    details = {
        "cwd": say("cwd"), "model": say("model"), "started_at": TIME,
        "metadata": {"title": say("title"), "git": {"branch": say("branch")}},
    }  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps(details))
    path = folder / f"{name}.messages.json"
    path.write_text(json.dumps({"sessionId": name, "messages": messages}))
    return path


def opencode(home: Path, name: str, say: Say) -> Path:
    """A session in OpenCode's database, which is in the mode of a write-ahead log."""
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True, exist_ok=True)

    def tool(use: str, what: str, output: str, **values: str) -> dict[str, Any]:
        state = {"status": "completed", "input": values, "output": output,
                 "time": {"start": START_MS, "end": START_MS}}  # fmt: skip
        return {"type": "tool", "callID": use, "tool": what, "state": state}

    parts = [
        ("m1", {"type": "text", "text": say("prompt")}),
        ("m2", {"type": "text", "text": say("answer")}),
        ("m2", tool("o1", "bash", say("output"), command=say("command"))),
        ("m2", tool("o2", "edit", "done", filePath=say("path"), oldString=say("before"),
                    newString=say("after"))),
        ("m2", tool(say("id"), say("tool"), say("output"), query=say("argument"))),
    ]  # fmt: skip
    model = json.dumps({"id": say("model")})
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA journal_mode = WAL")
        database.executescript(
            "CREATE TABLE IF NOT EXISTS session (id PRIMARY KEY, parent_id, directory, title,"
            " model, time_created, time_updated);"
            "CREATE TABLE IF NOT EXISTS message (id PRIMARY KEY, session_id, time_updated, data);"
            "CREATE TABLE IF NOT EXISTS part (id PRIMARY KEY, message_id, session_id,"
            " time_updated, data);"
        )
        times = (START_MS, START_MS)
        database.execute(
            "INSERT INTO session VALUES (?, NULL, ?, ?, ?, ?, ?)",
            (name, say("cwd"), say("title"), model, *times),
        )
        for message, role in (("m1", "user"), ("m2", "assistant")):
            data = json.dumps({"role": role, "time": {"created": START_MS}})
            database.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?)",
                (f"{name}-{message}", name, START_MS, data),
            )
        for number, (message, part) in enumerate(parts):
            row = (f"{name}-p{number}", f"{name}-{message}", name, START_MS, json.dumps(part))
            database.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    return path


MAKERS = {
    "claude-code": claude_code, "codex": codex, "opencode": opencode, "pi": pi,
    "gemini": gemini, "cline": cline,
}  # fmt: skip
"""Agent → what makes a conversation of it: the home folder, the conversation's name, the texts."""


def _use(use: str, name: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": use, "name": name, "input": values}


def _result(use: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": use, "content": text}


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    return path
