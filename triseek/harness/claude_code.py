"""Claude Code: MCP servers, hooks and a slash command, as version 2.1 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.files.root import git_root
from triseek.harness import slash_command
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember
from triseek.harness.hook_entries import ASKED_ABOUT, HookItem, command

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_TIMEOUT_S = 5
EVENTS: dict[str, str] = {
    "PreToolUse": f"^(Read|Bash|{ASKED_ABOUT})$",
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
                HookItem(settings, ("hooks", event), _group(event, matcher, here), "json")
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
        return JsonMember(here.in_project(".mcp.json"), ("mcpServers", NAME), entry, "json")
    keys: tuple[str, ...] = ("mcpServers", NAME)
    if scope == "local":
        keys = ("projects", _project(here.cwd), *keys)
    return JsonMember(_global_config(here), keys, entry, "json")


def _global_config(here: Here) -> str:
    """The file of servers and projects; an old one in the settings' folder wins if it says any."""
    old = Path(_folder(here), ".config.json")
    if old.is_file() and old.stat().st_size:
        return str(old)
    named = here.environ.get("CLAUDE_CONFIG_DIR")
    return os.path.join(_folder(here), ".claude.json") if named else here.in_home(".claude.json")  # noqa: PTH118


def _project(cwd: str) -> str:
    """What Claude Code calls a project: the main working tree of the repository around a folder."""
    root = git_root(cwd)
    if root is None:
        return cwd
    try:  # of a linked working tree, `.git` is a file that leads to the main one's
        told = Path(root, ".git").read_text(encoding="utf-8").removeprefix("gitdir:").strip()
        folder = Path(root, told)
        common = (folder / (folder / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except (OSError, ValueError):
        return root
    return str(common.parent) if common.name == ".git" else root


def _group(event: str, matcher: str, here: Here) -> dict[str, Any]:
    hook: dict[str, Any] = {
        "type": "command",
        "command": command(here.program, event, "claude-code"),
        "timeout": _TIMEOUT_S,
    }
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
