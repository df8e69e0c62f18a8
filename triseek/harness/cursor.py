"""Cursor: mcp.json, hooks.json and a command, as its documentation has them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.harness import slash_command
from triseek.harness.base import NAME
from triseek.harness.entries import JsonDefault, JsonMember
from triseek.harness.hook_entries import HookItem, command

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

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
"""The events we listen to. None before a use: Cursor gives no evidence of what an agent still has
in view, so nothing is ever denied there."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The editor, and `cursor-agent`, its program."""

    name: str = "cursor"
    title: str = "Cursor"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """A program, or the folder that the editor makes when it first starts."""
        return here.found("cursor", "cursor-agent", folders=[here.in_home(".cursor")])

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the hooks, the command."""
        folder = here.in_home(".cursor") if scope == "user" else here.in_project(".cursor")
        hooks = os.path.join(folder, "hooks.json")  # noqa: PTH118
        server = {"command": here.program, "args": ["mcp", "serve"]}
        if scope == "project":  # it starts servers anywhere
            server["args"] = ["mcp", "serve", "--repo", "${workspaceFolder}"]
        return [
            JsonMember(os.path.join(folder, "mcp.json"), ("mcpServers", NAME), server),  # noqa: PTH118
            JsonDefault(hooks, ("version",), 1),
            *(
                HookItem(
                    hooks,
                    ("hooks", event),
                    {"command": command(here.program, event, self.name), "timeout": _TIMEOUT_S},
                )
                for event in EVENTS
            ),
            slash_command.OwnFile(
                os.path.join(folder, "commands", f"{NAME}.md"),  # noqa: PTH118
                slash_command.plain_command(self.name),
            ),
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Restart, and switch the server on."""
        return [
            "Restart Cursor; Settings, MCP shows the server: switch it on if it is off.",
            "Settings, Hooks shows the hooks.",
        ]
