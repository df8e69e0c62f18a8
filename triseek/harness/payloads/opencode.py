"""What our plugin for OpenCode tells: Claude Code's envelope around OpenCode's tools (1.18.33).

`read` shows 2000 lines if it is told no limit, each as `12: text`, between `<content>` tags.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, Room, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "opencode"
_LINES = 2000
_ROOM = Room(bytes=50_000, lines=_LINES, line_bytes=2_000)
_EDITS = frozenset(("edit", "write", "multiedit"))
_SEARCHES = frozenset(("grep", "glob", "list", "codesearch", "websearch", "lsp"))
_QUIET = frozenset(("todowrite", "todoread", "webfetch", "skill", "question", "invalid", "task"))


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    use = _use(name, given, folder)
    output = fields.shown(told.get("tool_response"))
    if name == "read" and use.reads and output is not None:
        output = _content(output, use.reads[0].first)
    return replace(
        use,
        call=fields.word(told, "tool_use_id"),
        room=_ROOM,
        output=tools.of_file(use, given.get("command"), output),
    )


def _use(name: str, given: Fields, folder: str) -> ToolUse:
    if name == "read":
        return tools.native_read(name, tools.counted(given, folder, usual=_LINES))
    if name in _EDITS:
        return tools.edit(name, given, folder)
    if name in ("apply_patch", "patch"):
        return tools.patch(name, fields.text(given, "patchText", "patch", "input"), folder)
    if name in ("bash", "shell"):
        return tools.shell(
            name, given.get("command"), fields.path(given, folder, "workdir") or folder
        )
    if name in _SEARCHES:
        return tools.search(name, given)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    return ToolUse(name=name, edits_unknown=name not in _QUIET)


def _content(output: str, first: int) -> str | None:
    """The lines of the file in what `read` shows; None if it shows something else."""
    _, opened, rest = output.partition("<content>\n")
    return tools.numbered(rest, first, ": ") if opened else None
