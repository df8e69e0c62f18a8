"""Gemini CLI's hook payloads (as of 0.61.0).

`tool_response` is the tool's result: `llmContent` is what the model gets. Uses have no ids, and
nothing says what is still in view, so that they can be counted only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from triseek.harness.payloads import claude_code, fields, tools
from triseek.model.hook_event import HookEvent, ToolUse

if TYPE_CHECKING:
    from triseek.harness.payloads.fields import Fields

HARNESS = "gemini"
OWN_EVENTS = frozenset(("beforetool", "aftertool", "precompress", "beforeagent", "afteragent"))
"""Events that no other agent has, without their capitals."""
_SEARCHES = frozenset(
    ("grep_search", "search_file_content", "glob", "list_directory", "google_web_search")
)
_QUIET = frozenset(("web_fetch", "write_todos", "save_memory", "ask_user", "read_many_files"))
_CUT = "--- FILE CONTENT (truncated) ---\n"


def read(told: Fields, event: str, cwd: str) -> HookEvent:
    """Read one payload. event: what the hook was registered for, if the payload does not say."""
    return claude_code.envelope(told, event, cwd, HARNESS, tool_use)


def tool_use(told: Fields, folder: str) -> ToolUse:
    """A tool's use, with what the agent was shown if it is over."""
    name = fields.text(told, "tool_name")
    given = fields.inner(told, "tool_input")
    use = _use(name, given, folder)
    response = told.get("tool_response")
    output = fields.shown(response)
    failed = isinstance(response, dict) and bool(response.get("error"))
    if output is not None and use.reads:
        output = output.rpartition(_CUT)[2].removeprefix("Output: ")
    output = tools.of_file(use, given.get("command"), output)
    return replace(use, output=output, failed=failed)


def _use(name: str, given: Fields, folder: str) -> ToolUse:
    if name == "read_file":
        return tools.native_read(name, tools.between(given, folder))
    if name in ("replace", "write_file", "edit"):
        return tools.edit(name, given, folder)
    if name == "run_shell_command":
        place = fields.path(given, folder, "dir_path", "directory") or folder
        return tools.shell(name, given.get("command"), place)
    if name in _SEARCHES:
        return tools.search(name, given)
    if tools.is_mcp(name):
        return tools.mcp(name, given, folder)
    return ToolUse(name=name, edits_unknown=name not in _QUIET)
