"""Claude Code's hook payloads (as of 2.1.330), which Codex has taken over in part.

`Read` answers `{"type": "text", "file": {content, startLine, numLines, totalLines}}`: the lines as
they stand in the file, while the model gets them numbered. `Bash` answers `{stdout, stderr, …}`;
above 30,000 letters the model gets two kilobytes of it and `persistedOutputPath` is set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from triseek.harness.payloads import fields, moments, tools
from triseek.harness.payloads.fields import Fields
from triseek.model.hook_event import Context, HookEvent, Room, ToolUse

ToolUses: TypeAlias = Callable[[Fields, str], ToolUse]
"""Makes a tool's use of a payload and the working folder."""

HARNESS = "claude-code"
_EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
_SEARCHES = frozenset(("Grep", "Glob", "WebSearch", "ToolSearch", "LSP"))
_SHELL = "Bash"
_QUIET = frozenset(
    ("TodoWrite", "WebFetch", "TaskOutput", "ExitPlanMode", "AskUserQuestion", "Skill")
)
_PATHS = ("file_path", "path", "filePath")
_KNOWN = {
    "Read": frozenset((*_PATHS, "offset", "limit", "pages", "allow_large")),
    "Bash": frozenset(
        ("command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox")
    ),
}
"""The words of these tools' inputs. With another it may run on another machine."""
_ROOM = Room(bytes=60_000, line_bytes=2_000)
"""`Read` shows 25,000 tokens at most, of code some 75,000 bytes, and older ones cut long lines."""
_DIRECT = {"read": "Read", "edit": "Edit", "write": "Write"}
"""Events of scripts that tell a use themselves; the input's fields may stand beside the others."""
_AGENTS = frozenset(("Agent", "Task"))
"""Sub-agents have hooks of their own."""


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    tool = _DIRECT.get(moments.plain(fields.text(told, "hook_event_name") or event))
    if tool is not None and "tool_name" not in told:
        given = {name: told[name] for name in (*_PATHS, "offset", "limit") if name in told}
        told = {
            "tool_input": given,
            "tool_response": told.get("content"),
            **told,
            "tool_name": tool,
        }
    return envelope(told, event, cwd, HARNESS, tool_use)


def envelope(told: Fields, event: str, cwd: str, harness: str, tool_use: ToolUses) -> HookEvent:
    """What is around a tool's use, for agents that have Claude Code's payloads."""
    name = fields.text(told, "hook_event_name") or event
    moment = moments.moment(name)
    folder = fields.folder(told, cwd, "cwd")
    use = None
    if moment in ("before", "after"):
        use = tool_use(told, folder)
        if moments.plain(name) == "posttoolusefailure":
            use = replace(use, failed=True)
    return HookEvent(
        moment=moment,
        context=Context(
            harness=harness,
            session=fields.word(told, "session_id"),
            agent=fields.word(told, "agent_id"),
        ),
        cwd=folder,
        event=name,
        source=fields.word(told, "source", "trigger", "reason"),
        use=use,
        prompt=fields.text(told, "prompt"),
        prompt_id=fields.word(told, "prompt_id", "turn_id"),
        transcript=fields.absolute_only(told.get("transcript_path")),
        in_view=fields.words(told.get("in_view")),
    )


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    response = told.get("tool_response")
    over = isinstance(response, dict)
    use = _use(name, given, folder, stays=_stays(told, response), over=over)
    call = fields.word(told, "tool_use_id")
    if name == "Read":
        return replace(_of_read(use, response), call=call)
    if name in _EDITS:
        return replace(use, call=call)
    output = _of_shell(response) if name == _SHELL else fields.shown(response)
    return replace(use, call=call, output=tools.of_file(use, given.get("command"), output))


def _of_read(use: ToolUse, response: object) -> ToolUse:
    """What `Read` has shown, which may be less than it was asked for."""
    if response is None or not isinstance(response, dict):
        return replace(
            use, output=tools.unnumbered(response) if isinstance(response, str) else None
        )
    file = fields.inner(response, "file")
    content, first = file.get("content"), fields.line(file, "startLine")
    if response.get("type") != "text" or not isinstance(content, str) or not first:
        return replace(use, reads=(), only_reads=False)  # a picture, or what it says is known
    count = fields.line(file, "numLines") or 0
    if content.endswith("\n") and first + count - 1 == file.get("totalLines"):
        count -= 1  # it counts a line after the last newline
    reads = [replace(each, first=first, last=first + count - 1) for each in use.reads if count]
    return replace(use, reads=tuple(reads), output=content)


def _stays(told: Fields, response: object) -> bool:
    """Whether the shell stays where `cd` leads: the main agent's, if that is in the project."""
    error = fields.text(response, "stderr") if isinstance(response, dict) else ""
    return not told.get("agent_id") and "Shell cwd was reset" not in error


def _of_shell(response: object) -> str | None:
    """What `Bash` has shown; None where most of it went to a file, or went on without the agent."""
    if isinstance(response, dict):
        hidden = ("persistedOutputPath", "backgroundTaskId", "isImage")
        if any(response.get(name) for name in hidden):
            return None
        if isinstance(response.get("stdout"), str):
            return _trimmed(response["stdout"], fields.text(response, "stderr"))
    return fields.shown(response)


def _use(name: str, given: Fields, folder: str, *, stays: bool, over: bool) -> ToolUse:
    is_here = given.keys() <= _KNOWN.get(name, given.keys())
    if name == "Read":
        # Pages are of a PDF, and a notebook is shown as cells: neither is lines.
        read = tools.counted(given, folder)
        lines = not given.get("pages") and not read.path.endswith((".pdf", ".ipynb")) and is_here
        return replace(tools.native_read(name, read), room=_ROOM) if lines else ToolUse(name=name)
    if name in _EDITS:
        return tools.edit(name, given, folder)
    if name == _SHELL:
        shown = given.get("run_in_background") in (None, False) and is_here
        use = tools.shell(name, given.get("command"), folder, stays=stays, over=over)
        return use if shown else replace(use, reads=(), only_reads=False)
    if name in _SEARCHES:
        return tools.search(name, given)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    return ToolUse(name=name, edits_unknown=name not in _QUIET | _AGENTS)


def _trimmed(stdout: str, stderr: str) -> str:
    """What a command has printed, as the model is shown it: blank lines around it are gone."""
    indented = stdout[: len(stdout) - len(stdout.lstrip())].rpartition("\n")[2]
    shown = indented + stdout.strip().strip("\ufeff")
    return "\n".join(filter(None, (shown.rstrip(), stderr.strip())))
