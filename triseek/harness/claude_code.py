"""Claude Code: MCP servers, hooks and a slash command, as version 2.1 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness import slash_command
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember
from triseek.harness.hook_entries import HookItem, command

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_TIMEOUT_S = 5
EVENTS: dict[str, str] = {
    "PreToolUse": "Read|Bash|mcp__.*__memo_(check|status|session)",
    "PostToolUse": "*",
    "PostToolUseFailure": "*",
    "SessionStart": "",
    "SessionEnd": "",
    "UserPromptSubmit": "",
    "PreCompact": "",
    "PostCompact": "",
    "SubagentStart": "",
    "SubagentStop": "",
}
"""The events we listen to, and for which tools. After a use all: every output costs tokens."""


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """`claude`, the program; its configs are also read by the app and the editors' extensions."""

    name: str = "claude-code"
    title: str = "Claude Code"
    scopes: tuple[Scope, ...] = ("user", "project", "local")

    def detect(self, here: Here) -> str:
        """The program; without it nothing reads the configs."""
        return here.found("claude")

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the hooks, the command."""
        settings = {
            "user": os.path.join(_folder(here), "settings.json"),  # noqa: PTH118
            "project": here.in_project(".claude", "settings.json"),
            "local": here.in_project(".claude", "settings.local.json"),
        }[scope]
        commands = _folder(here) if scope == "user" else here.in_project(".claude")
        return [
            _server(scope, here),
            *(
                HookItem(settings, ("hooks", event), _group(event, matcher, here))
                for event, matcher in EVENTS.items()
            ),
            slash_command.OwnFile(
                os.path.join(commands, "commands", f"{NAME}.md"),  # noqa: PTH118
                slash_command.claude_command(self.name),
            ),
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Restart, and what a project's server asks for."""
        said = ["Restart Claude Code; `claude mcp list` and `/hooks` show what it has read."]
        if scope == "project":
            said.append("Claude Code asks once whether to trust the servers of .mcp.json: say yes.")
        return said


def _folder(here: Here) -> str:
    return here.folder("CLAUDE_CONFIG_DIR", ".claude")


def _server(scope: Scope, here: Here) -> JsonMember:
    entry: dict[str, Any] = {
        "type": "stdio",
        "command": here.program,
        "args": ["mcp", "serve"],
        "env": {},
    }
    if scope == "project":
        return JsonMember(here.in_project(".mcp.json"), ("mcpServers", NAME), entry)
    named = here.environ.get("CLAUDE_CONFIG_DIR")
    path = os.path.join(_folder(here), ".claude.json") if named else here.in_home(".claude.json")  # noqa: PTH118
    keys = ("mcpServers", NAME) if scope == "user" else ("projects", here.cwd, "mcpServers", NAME)
    return JsonMember(path, keys, entry)


def _group(event: str, matcher: str, here: Here) -> dict[str, Any]:
    hook: dict[str, Any] = {
        "type": "command",
        "command": command(here.program, event, "claude-code"),
        "timeout": _TIMEOUT_S,
    }
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
