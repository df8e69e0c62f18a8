"""What each client tells its hooks and shows its model, in the shapes of the recorded payloads."""

from __future__ import annotations

import json
import re
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.memo.agents import Agent
    from tests.memo.uses import Line, Shown, Use

Payload = dict[str, Any]


class Said(NamedTuple):
    """One call of a hook."""

    event: str
    payload: Payload


class Result(NamedTuple):
    """What a tool's use comes to at a client."""

    text: str
    """What the model is shown."""
    lines: list[Line]
    """The lines of files that stand in it."""
    response: Any
    """What the hook is told of it; None if it is not called."""
    failed: bool = False


FAILED = "No such file or directory"


def standing(text: str, shown: Shown, *, numbered: bool = False) -> list[Line]:
    """Those of the lines that stand, whole, in what a client has cut out of an output's middle."""
    there = text.split("\n")
    if numbered:
        there = [re.sub(r"^ *\d+\t", "", line) for line in there]
    there = [line.rstrip("\r") for line in there]
    start = takewhile(lambda pair: pair[0].text == pair[1], zip(shown.lines, there, strict=False))
    kept = [line for line, _ in start]
    left, there = shown.lines[len(kept) :], there[len(kept) :]
    if there and not there[-1]:
        there.pop()
    pairs = zip(reversed(left), reversed(there), strict=False)
    return kept + [line for line, _ in takewhile(lambda pair: pair[0].text == pair[1], pairs)]


def trimmed(shown: Shown, *, has_more: bool) -> list[Line]:
    """Without the blank lines at either end and the last line's spaces, which Claude Code cuts.

    has_more: something else stands behind them.
    """
    kept = list(shown.lines)
    while kept and not kept[0].text.strip():
        kept.pop(0)
    if has_more:
        return kept
    while kept and not kept[-1].text.strip():
        kept.pop()
    if kept and kept[-1].text != kept[-1].text.rstrip():
        kept.pop()
    return kept


class Client:
    """Claude Code; the others differ in parts."""

    name = "claude-code"
    is_told = True
    """Whether it lets itself be refused and can prove what is in view."""
    has_agents = True
    keeps_folder = True
    reads_by_tool = True
    names = {"read": "Read", "shell": "Bash", "edit": "Edit", "other": "WebFetch"}  # noqa: RUF012
    memo_tool = "mcp__triseek__memo_check"
    compacts = ("PreCompact", "SessionStart", "PostCompact")
    turn = "prompt_id"
    rewinds: str | None = None
    """The event of a rewind, if there is one."""

    # What the model is shown

    def given(self, use: Use) -> Payload:
        if use.tool == "shell":
            return {"command": use.command}
        if use.tool == "edit":
            return {"file_path": use.effects[0], "old_string": "a", "new_string": "b"}
        if use.tool != "read":
            return {"url": "https://example.org", "prompt": "what"}
        return self.asked(use)

    def asked(self, use: Use) -> Payload:
        """The arguments of its own tool for reading."""
        (portion,) = use.portions
        given: Payload = {"file_path": portion.path}
        if portion.first > 1:
            given["offset"] = portion.first
        if portion.last is not None:
            given.setdefault("offset", portion.first)
            given["limit"] = portion.last - portion.first + 1
        return given

    def result(self, use: Use, shown: Shown) -> Result:
        if use.tool == "shell":
            return self.of_shell(use, shown)
        return self.of_read(use, shown)

    def of_read(self, use: Use, shown: Shown) -> Result:
        path, size = use.portions[0].path, sum(line.size for line in shown.lines)
        if shown.failed or size > 90_000 or b"\0" in shown.text:
            return Result("File does not exist or is too large.", [], None, failed=True)
        lines = shown.lines[:2000]
        if not lines:
            return Result(
                "<system-reminder>empty</system-reminder>", [], self._file(path, "", 1, 0)
            )
        long = [line for line in lines if len(line.text) > 2000]
        content = "\n".join(line.text[:2000] + ("..." if line in long else "") for line in lines)
        if lines == shown.lines and use.portions[0].last is None and shown.text.endswith(b"\n"):
            content += "\n"
        text = "\n".join(
            f"{lines[0].number + at}\t{line}" for at, line in enumerate(content.split("\n"))
        )
        response = self._file(path, content, lines[0].number, content.count("\n") + 1)
        return Result(text, [line for line in lines if line not in long], response)

    def _file(self, path: str, content: str, first: int, count: int) -> Payload:
        file = {"filePath": path, "content": content, "numLines": count, "startLine": first,
                "totalLines": first + count}  # fmt: skip
        return {"type": "text", "file": file}

    def of_shell(self, use: Use, shown: Shown) -> Result:
        whole = shown.text.decode(errors="replace")
        if shown.failed:
            return Result(f"Exit code 1\n{whole}{FAILED}", shown.lines, None, failed=True)
        response = {"stdout": whole.removesuffix("\n"), "stderr": "", "interrupted": False,
                    "isImage": False, "noOutputExpected": False}  # fmt: skip
        if len(whole) > 30_000:
            response |= {"persistedOutputPath": "/tmp/out.txt", "persistedOutputSize": len(whole)}
            text = f"<persisted-output>\nPreview:\n{whole[:2000]}\n</persisted-output>"
            return Result(
                text, standing(whole[:2000], shown, numbered=use.style == "numbered"), response
            )
        text = re.sub(r"^(\s*\n)+", "", whole).rstrip()
        has_more = use.trapped[0] == "more"
        lines = trimmed(shown, has_more=has_more) if use.style == "plain" else shown.lines
        return Result(text, lines, response)

    # What its hooks are told

    def base(self, agent: Agent, event: str) -> Payload:
        payload = {"session_id": agent.session, "transcript_path": agent.main_transcript,
                   "cwd": agent.cwd, "permission_mode": "default",
                   "hook_event_name": event}  # fmt: skip
        if agent.transcript:
            payload[self.turn] = (agent.parent or agent).transcript.turn
        if agent.name:
            payload |= {"agent_id": agent.name, "agent_type": "general-purpose"}
        return payload

    def before(self, agent: Agent, name: str, given: Payload, call: str) -> Said:
        payload = self.base(agent, "PreToolUse")
        return Said("PreToolUse", {**payload, "tool_name": name, "tool_input": given,
                                   "tool_use_id": call})  # fmt: skip

    def after(self, agent: Agent, name: str, given: Payload, call: str, result: Result) -> Said:
        event = "PostToolUseFailure" if result.failed else "PostToolUse"
        payload = {**self.base(agent, event), "tool_name": name, "tool_input": given,
                   "tool_use_id": call}  # fmt: skip
        if result.failed:
            return Said(event, {**payload, "error": result.text, "is_interrupt": False})
        return Said(event, {**payload, "tool_response": result.response, "duration_ms": 5})

    def prompt(self, agent: Agent, text: str) -> Said:
        event = "UserPromptSubmit"
        return Said(event, {**self.base(agent, event), "prompt": text})

    def moment(self, agent: Agent, event: str, **more: Any) -> Said:
        return Said(event, {**self.base(agent, event), **more})


class Codex(Client):
    name = "codex"
    turn = "turn_id"
    has_agents = keeps_folder = reads_by_tool = False
    names = {"shell": "Bash", "edit": "apply_patch", "other": "web_search"}  # noqa: RUF012
    compacts = ("PreCompact", "PostCompact", "SessionStart")

    def given(self, use: Use) -> Payload:
        if use.tool != "edit":
            return super().given(use)
        path = use.effects[0]
        return {"command": f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"}

    def of_shell(self, use: Use, shown: Shown) -> Result:
        whole = shown.text.decode(errors="replace") + (f"cat: {FAILED}\n" if shown.failed else "")
        if len(whole) <= 40_000:
            return Result(whole, shown.lines, whole)
        head, tail = whole[:20_000], whole[-20_000:]
        cut = f"{head}…9999 tokens truncated…{tail}"
        text = (f"Warning: truncated output (original token count: {len(whole) // 4})\n"
                f"Total output lines: {whole.count(chr(10))}\n\n{cut}")  # fmt: skip
        return Result(text, standing(cut, shown, numbered=use.style == "numbered"), text)

    def after(self, agent: Agent, name: str, given: Payload, call: str, result: Result) -> Said:
        payload = {**self.base(agent, "PostToolUse"), "tool_name": name, "tool_input": given,
                   "tool_use_id": call}  # fmt: skip
        return Said("PostToolUse", {**payload, "tool_response": result.response})


class OpenCode(Client):
    """Its plugin pipes what it sees, and which outputs are in the context as it is sent."""

    name = "opencode"
    has_agents = keeps_folder = False
    names = {"read": "read", "shell": "bash", "edit": "edit", "other": "webfetch"}  # noqa: RUF012
    memo_tool = "triseek_memo_check"
    compacts = ("PreCompact",)
    rewinds = "ContextChanged"

    def base(self, agent: Agent, event: str) -> Payload:
        payload = {"session_id": agent.session, "hook_event_name": event, "cwd": agent.cwd}
        if event in ("PreToolUse", "PostToolUse"):
            payload["in_view"] = sorted(agent.sent)
        return payload

    def after(self, agent: Agent, name: str, given: Payload, call: str, result: Result) -> Said:
        payload = {**self.base(agent, "PostToolUse"), "tool_name": name, "tool_input": given,
                   "tool_use_id": call, "tool_response": result.text}  # fmt: skip
        return Said("PostToolUse", payload)

    def asked(self, use: Use) -> Payload:
        given = super().asked(use)
        return {"filePath": given.pop("file_path"), **given}

    def of_read(self, use: Use, shown: Shown) -> Result:
        path = use.portions[0].path
        if shown.failed or b"\0" in shown.text:
            return Result(f"Error: File not found: {path}", [], "", failed=True)
        lines, size = [], 0
        for line in shown.lines[:2000]:
            size += len(line.text[:2000].encode()) + 1
            if size > 50_000:
                break
            lines.append(line)
        numbered = "\n".join(
            f"{line.number}: {line.text[:2000]}"
            + ("... (line truncated to 2000 chars)" if len(line.text) > 2000 else "")
            for line in lines
        )
        last = lines[-1].number if lines else 0
        end = (f"(End of file - total {last} lines)" if len(lines) == len(shown.lines) else
               f"(Showing lines 1-{last} of 9999. Use offset={last + 1} to continue.)")  # fmt: skip
        text = f"<path>{path}</path>\n<type>file</type>\n<content>\n{numbered}\n\n{end}\n</content>"
        return Result(text, [line for line in lines if len(line.text) <= 2000], text)

    def of_shell(self, use: Use, shown: Shown) -> Result:
        whole = shown.text.decode(errors="replace") + (f"cat: {FAILED}\n" if shown.failed else "")
        if len(whole) <= 50_000:
            return Result(whole or "(no output)", shown.lines, whole)
        cut = whole[:50_000]
        text = f"{cut}\n\n...output truncated...\n\nFull output saved to: /tmp/x"
        return Result(text, standing(cut, shown, numbered=use.style == "numbered"), text)


class Pi(OpenCode):
    name = "pi"
    memo_tool = "memo_check"
    names = {"read": "read", "shell": "bash", "edit": "edit", "other": "fetch"}  # noqa: RUF012

    def asked(self, use: Use) -> Payload:
        given = Client.asked(self, use)
        return {"path": given.pop("file_path"), **given}

    def of_read(self, use: Use, shown: Shown) -> Result:
        if shown.failed or b"\0" in shown.text:
            return Result(f"ENOENT: {FAILED}", [], "", failed=True)
        lines, size = [], 0
        for line in shown.lines[:2000]:
            size += len(line.text.encode()) + 1
            if size > 50_000:
                break
            lines.append(line)
        text = "\n".join(line.text for line in lines)
        if len(lines) < len(shown.lines):
            text += f"\n\n[Showing lines 1-{len(lines)} of 9999. Use offset=9 to continue.]"
        elif use.portions[0].last is not None:
            text += "\n\n[12 more lines in file. Use offset=9 to continue.]"
        elif shown.text.endswith(b"\n"):
            text += "\n"
        return Result(text, lines, text)

    def of_shell(self, use: Use, shown: Shown) -> Result:
        whole = shown.text.decode(errors="replace") + (f"cat: {FAILED}\n" if shown.failed else "")
        if len(whole) <= 50_000:
            return Result(whole or "(no output)", shown.lines, whole)
        cut = whole[-50_000:]
        text = f"{cut}\n\n[Showing lines 9-99 of 99. Full output: /tmp/x]"
        return Result(text, standing(cut, shown, numbered=use.style == "numbered"), text)


class Cursor(Client):
    """Tells much, proves nothing."""

    name = "cursor"
    is_told = has_agents = keeps_folder = False
    names = {"read": "Read", "shell": "Shell", "edit": "Write", "other": "WebFetch"}  # noqa: RUF012
    memo_tool = "MCP:memo_check"
    compacts = ("preCompact",)

    def base(self, agent: Agent, event: str) -> Payload:
        return {"conversation_id": agent.session, "generation_id": "g", "model": "auto",
                "hook_event_name": event, "cursor_version": "2.0", "cwd": agent.cwd,
                "workspace_roots": [agent.tree.root], "transcript_path": None}  # fmt: skip

    def before(self, agent: Agent, name: str, given: Payload, call: str) -> Said:
        said = super().before(agent, name, given, call)
        said.payload["hook_event_name"] = "preToolUse"
        return Said("preToolUse", said.payload)

    def after(self, agent: Agent, name: str, given: Payload, call: str, result: Result) -> Said:
        payload = {**self.base(agent, "postToolUse"), "tool_name": name, "tool_input": given,
                   "tool_use_id": call, "duration": 5,
                   "tool_output": json.dumps({"content": result.text})}  # fmt: skip
        return Said("postToolUse", payload)

    def prompt(self, agent: Agent, text: str) -> Said:
        event = "beforeSubmitPrompt"
        return Said(event, {**self.base(agent, event), "prompt": text, "attachments": []})

    def moment(self, agent: Agent, event: str, **more: Any) -> Said:
        event = event[0].lower() + event[1:]
        return Said(event, {**self.base(agent, event), **more})


class Gemini(Client):
    name = "gemini"
    is_told = has_agents = keeps_folder = False
    names = {  # noqa: RUF012
        "read": "read_file",
        "shell": "run_shell_command",
        "edit": "replace",
        "other": "web_fetch",
    }
    memo_tool = "mcp_triseek_memo_check"
    compacts = ("PreCompress",)

    def base(self, agent: Agent, event: str) -> Payload:
        return {"session_id": agent.session, "transcript_path": "/nowhere/chat.json",
                "cwd": agent.cwd, "hook_event_name": event,
                "timestamp": "2026-11-22T10:00:00.000Z"}  # fmt: skip

    def before(self, agent: Agent, name: str, given: Payload, call: str) -> Said:
        payload = {**self.base(agent, "BeforeTool"), "tool_name": name, "tool_input": given}
        return Said("BeforeTool", payload)

    def after(self, agent: Agent, name: str, given: Payload, call: str, result: Result) -> Said:
        response = {"llmContent": result.text, "returnDisplay": ""}
        payload = {**self.base(agent, "AfterTool"), "tool_name": name, "tool_input": given}
        return Said("AfterTool", {**payload, "tool_response": response})

    def prompt(self, agent: Agent, text: str) -> Said:
        return Said("BeforeAgent", {**self.base(agent, "BeforeAgent"), "prompt": text})

    def of_read(self, use: Use, shown: Shown) -> Result:
        if shown.failed or b"\0" in shown.text:
            return Result("File not found", [], "", failed=True)
        lines = shown.lines[:2000]
        return Result("\n".join(line.text for line in lines), lines, "")


CLIENTS = (Client(), Codex(), OpenCode(), Pi(), Cursor(), Gemini())
SHARES = (34, 18, 16, 16, 8, 8)


def is_refusal(said: str) -> bool:
    """Whether what a hook writes keeps the agent from using the tool, at any client."""
    if not said.strip():
        return False
    told = json.loads(said)
    inner = told.get("hookSpecificOutput") or {}
    words = (inner.get("permissionDecision"), told.get("permission"), told.get("decision"))
    return any(word in ("deny", "block") for word in words)
