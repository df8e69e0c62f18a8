"""Cursor's hook payloads, as its documentation has them (cursor.com/docs/hooks).

A conversation is a session. `tool_input` may be an object or its JSON; `tool_output` is JSON.
Nothing says what is still in view, so that uses can be counted only.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, moments, tools
from triseek.model.hook_event import HookEvent, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "cursor"
_EDITS = frozenset(("write", "edit", "multiedit", "delete", "search_replace", "edit_file"))
_READS = frozenset(("read", "read_file"))
_SHELLS = frozenset(("shell", "bash", "run_terminal_cmd"))
_SEARCHES = frozenset(("grep", "glob", "semsearch", "codebase_search", "ls", "list_dir"))
_OF_EVENT = {
    "beforereadfile": "read",
    "afterfileedit": "edit",
    "beforeshellexecution": "shell",
    "aftershellexecution": "shell",
}
"""The tools of events that are for one tool only; their input stands beside their name."""


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    roots = told.get("workspace_roots")
    root = fields.absolute_only(roots[0]) if isinstance(roots, list) and roots else ""
    name = fields.text(told, "hook_event_name") or event
    found = claude_code.envelope(
        {"tool_name": _OF_EVENT.get(moments.plain(name), ""), **told},
        event,
        root or cwd,
        HARNESS,
        tool_use,
    )
    session = fields.word(told, "conversation_id", "session_id")
    return replace(
        found,
        context=replace(found.context, session=session),
        prompt_id=fields.word(told, "generation_id"),
    )


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = _object(told.get("tool_input")) or told
    use = _use(name, given, folder)
    output = fields.text(told, "output") or fields.shown(_response(told))
    return replace(
        use,
        call=fields.word(told, "tool_use_id"),
        output=tools.of_file(use, given.get("command"), output or None),
    )


def _use(name: str, given: Fields, folder: str) -> ToolUse:
    plain = name.lower()
    if plain in _READS:
        return tools.native_read(name, tools.counted(given, folder))
    if plain in _EDITS:
        return tools.edit(name, given, folder)
    if plain in _SHELLS:
        place = fields.path(given, folder, "cwd", "working_directory") or folder
        return tools.shell(name, given.get("command"), place)
    if plain in _SEARCHES:
        return tools.search(name, given)
    if plain.startswith("mcp:") or tools.is_mcp(name):
        return tools.mcp(f"mcp__{name.removeprefix('MCP:')}", given, folder)
    return ToolUse(name=name, edits_unknown=True)


def _object(value: object) -> Fields:
    """An object, or what its JSON says; empty if it is neither."""
    if isinstance(value, str):
        value = _parsed(value)
    return value if isinstance(value, dict) else {}


def _response(told: Fields) -> object:
    """A tool's result, of whichever event."""
    value = told.get("tool_output", told.get("result_json", told.get("tool_response")))
    if not isinstance(value, str):
        return value
    parsed = _parsed(value)
    return parsed if isinstance(parsed, (str, dict, list)) else value


def _parsed(text: str) -> object:
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed
