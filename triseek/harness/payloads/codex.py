"""Codex's hook payloads (as of 0.169.0): Claude Code's shape, with Codex's own tools.

A shell command's `tool_response` is what the model is shown, without the lines that stand above
it there (`Chunk ID`, `Wall time`, …, `Output:`); it is cut in the middle as the model's is.

Newer models write JavaScript that runs the tools. Each of those uses has a hook too, but what the
model is shown is what its program prints: their ids begin with `exec-`, and nothing was shown.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "codex"
_OF_PROGRAM = "exec-"
_HEAD = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Exit code|Process exited with code|Process running with session ID"
    r"|Original token count|Total output lines)\b[^\n]*\n)+Output:\n"
    r"|\AWarning: truncated output \([^\n]*\)\nTotal output lines: \d+\n\n"
)
_QUIET = frozenset(("update_plan", "view_image", "web_search"))


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    command = given.get("command", given.get("cmd"))
    use = _use(name, given, command, fields.folder(given, folder, "workdir"))
    call = fields.word(told, "tool_use_id")
    if call.startswith(_OF_PROGRAM):
        return replace(use, call=call, only_reads=False)
    output = fields.shown(told.get("tool_response"))
    if command is not None and output is not None:
        output = _HEAD.sub("", output, count=1)
    return replace(use, call=call, output=tools.of_file(use, command, output))


def _use(name: str, given: Fields, command: object, folder: str) -> ToolUse:
    if name == "apply_patch":
        return tools.patch(name, fields.text(given, "command", "input", "patch"), folder)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    if command is not None:
        return tools.shell(name, command, folder)
    quiet = name in _QUIET or name.startswith("collaboration")  # sub-agents have hooks of their own
    return ToolUse(name=name, edits_unknown=not quiet)
