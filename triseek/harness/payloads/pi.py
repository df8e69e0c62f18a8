"""What our extension for Pi tells: Claude Code's envelope around Pi's tools (1.5.2, 0.74.2).

`read` shows at most 2000 lines, as they stand in the file, and a remark if there are more.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, Room, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "pi"
_LINES = 2000
_ROOM = Room(bytes=50_000, lines=_LINES)
_SEARCHES = frozenset(("grep", "find", "ls"))


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    use = _use(name, given, folder)
    output = fields.shown(told.get("tool_response"))
    return replace(
        use,
        call=fields.word(told, "tool_use_id"),
        room=_ROOM,
        output=tools.of_file(use, given.get("command"), output),
    )


def _use(name: str, given: Fields, folder: str) -> ToolUse:
    if name == "read":
        return tools.native_read(name, tools.counted(given, folder, usual=_LINES, most=_LINES))
    if name in ("edit", "write"):
        return tools.edit(name, given, folder)
    if name == "bash":
        return tools.shell(name, given.get("command"), folder)
    if name in _SEARCHES:
        return tools.search(name, given)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    return ToolUse(name=name, edits_unknown=True)
