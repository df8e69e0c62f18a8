"""What our plugin for OpenCode tells: Claude Code's envelope around OpenCode's tools."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "opencode"


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    use = _use(name, given, folder)
    output = fields.shown(told.get("tool_response"))
    if name == "read" and output is not None:
        output = tools.unnumbered(output)
    return replace(
        use,
        call=fields.word(told, "tool_use_id"),
        output=tools.of_file(use, given.get("command"), output),
    )


def _use(name: str, given: Fields, folder: str) -> ToolUse:
    if name == "read":
        return tools.native_read(name, tools.counted(given, folder))
    if name in ("edit", "write", "multiedit"):
        return tools.edit(name, given, folder)
    if name in ("apply_patch", "patch"):
        return tools.patch(name, fields.text(given, "patchText", "patch", "input"), folder)
    if name == "bash":
        return tools.shell(name, given.get("command"), fields.folder(given, folder, "workdir"))
    if name in ("grep", "glob", "list", "codesearch", "websearch", "find", "ls"):
        return tools.search(name, given)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    return ToolUse(name=name, edits_unknown=True)
