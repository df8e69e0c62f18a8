"""Codex's hook payloads: Claude Code's shape, with Codex's own tools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "codex"


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    command = given.get("command", given.get("cmd"))
    use = _use(name, given, command, fields.folder(given, folder, "workdir"))
    output = fields.shown(told.get("tool_response"))
    return replace(
        use, call=fields.word(told, "tool_use_id"), output=tools.of_file(use, command, output)
    )


def _use(name: str, given: Fields, command: object, folder: str) -> ToolUse:
    if name == "apply_patch":
        return tools.patch(name, fields.text(given, "command", "input", "patch"), folder)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    if command is not None:
        return tools.shell(name, command, folder)
    return ToolUse(name=name, edits_unknown=True)
