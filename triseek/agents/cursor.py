"""Cursor: its configuration files and hook payloads, as documented.

Source: cursor.com/docs/hooks. A conversation is a session. `tool_input` may be an object or its
JSON; `tool_output` is JSON. Nothing says what is still in view, so uses can only be counted.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from triseek.agents.base import NAME
from triseek.agents.cursor_transcripts import CursorTranscripts
from triseek.agents.hook_protocol import HookAgent, plain
from triseek.agents.install.entries import JsonDefault, JsonMember
from triseek.agents.install.hook_entries import HookItem, command
from triseek.agents.install.own_files import OwnFile, plain_command
from triseek.agents.payloads import exit_status, fields, tools
from triseek.agents.payloads.fields import Fields, fields_of, parsed

if TYPE_CHECKING:
    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.model.hook_event import HookEvent, ToolUse

_TIMEOUT_S = 5
EVENTS = (
    "sessionStart",
    "sessionEnd",
    "beforeSubmitPrompt",
    "postToolUse",
    "afterFileEdit",
    "preCompact",
    "subagentStart",
    "subagentStop",
)
"""The events we listen to. None is before a use: Cursor gives no evidence of what an agent still
has in view, so nothing is ever refused there."""
_OF_EVENT = {
    "beforereadfile": "read",
    "afterfileedit": "edit",
    "beforeshellexecution": "shell",
    "aftershellexecution": "shell",
}
"""The tools of events that are for one tool only; the input's fields are the payload's own."""


class Cursor(HookAgent):
    """The editor, and its program `cursor-agent`."""

    name = "cursor"
    title = "Cursor"
    programs = ("cursor-agent", "cursor")
    project_folder = ".cursor"
    client_names = ("cursor",)
    transcripts = CursorTranscripts()
    handoff_name = "cursor"
    aliases = ("cursor_agent",)
    project_files = ("AGENTS.md",)
    after_install = (
        "Restart Cursor; Settings, MCP shows the server: switch it on if it is off.",
        "Settings, Hooks shows the hooks.",
    )

    reads: ClassVar = {"read": tools.counted, "read_file": tools.counted}
    edits = frozenset(("write", "edit", "multiedit", "delete", "search_replace", "edit_file"))
    shells = frozenset(("shell", "bash", "run_terminal_cmd"))
    shell_folders = ("cwd", "working_directory")
    searches = frozenset(("grep", "glob", "semsearch", "codebase_search", "ls", "list_dir"))

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the hooks and the slash command."""
        hooks = self.path(scope, here, "hooks.json")
        # Cursor starts servers in any folder.
        server = here.server(*(("--repo", "${workspaceFolder}") if scope == "project" else ()))
        return [
            JsonMember(self.path(scope, here, "mcp.json"), ("mcpServers", NAME), server),
            JsonDefault(hooks, ("version",), 1),
            *(
                HookItem(
                    hooks,
                    ("hooks", event),
                    {"command": command(here.program, event, self.name), "timeout": _TIMEOUT_S},
                )
                for event in EVENTS
            ),
            OwnFile(self.path(scope, here, "commands", f"{NAME}.md"), plain_command(self.name)),
        ]

    def owns(self, payload: Fields) -> bool:
        """Whether the payload has a field that only Cursor sends."""
        return "conversation_id" in payload or "cursor_version" in payload

    def read(self, payload: Fields, event: str, cwd: str) -> HookEvent:
        """Read a payload, which has Claude Code's shape except for a few names."""
        roots = payload.get("workspace_roots")
        root = fields.absolute_only(roots[0]) if isinstance(roots, list) and roots else ""
        tool = _OF_EVENT.get(plain(payload.text("hook_event_name") or event), "")
        hook_event = super().read(Fields({"tool_name": tool, **payload}), event, root or cwd)
        session = payload.word("conversation_id", "session_id")
        return replace(
            hook_event,
            context=replace(hook_event.context, session=session),
            prompt_id=payload.word("generation_id"),
        )

    def refusal(self, reason: str, context: str) -> str:
        """Return the refusal, with one text for the person and one for the model."""
        message = f"{reason} {context}".strip()
        return json.dumps({"permission": "deny", "user_message": reason, "agent_message": message})

    def start_context(self, text: str) -> str:
        """Return the answer in Cursor's form."""
        return json.dumps({"additional_context": text})

    def tool_input(self, payload: Fields) -> Fields:
        """Return a tool's input, an object or its JSON, or else the payload's own fields."""
        value = payload.get("tool_input")
        return fields_of(parsed(value) if isinstance(value, str) else value) or payload

    def use_of(self, name: str, tool_input: Fields, folder: str) -> ToolUse:
        """Return the use of a tool, whose name may have any case."""
        if name.lower().startswith("mcp:") or tools.is_mcp(name):
            return tools.mcp(f"mcp__{name.removeprefix('MCP:')}", tool_input, folder)
        return replace(super().use_of(name.lower(), tool_input, folder), name=name)

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over, with the exit status if the result has one."""
        status = exit_status.of_field(fields_of(_response(payload)), "exitCode", "exit_code")
        return exit_status.with_status(super().ended(use, payload), status)

    def output(self, use: ToolUse, payload: Fields) -> str | None:  # noqa: ARG002 - the same for all
        """Return what a tool has shown, from the field that the event uses for it."""
        return payload.text("output") or fields.shown(_response(payload)) or None


def _response(payload: Fields) -> object:
    """Return a tool's result, from the field that the event uses for it."""
    value = payload.get("tool_output", payload.get("result_json", payload.get("tool_response")))
    if not isinstance(value, str):
        return value
    document = parsed(value)
    return document if isinstance(document, (str, dict, list)) else value


AGENT = Cursor()
