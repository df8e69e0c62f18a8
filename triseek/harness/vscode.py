"""VS Code: an MCP server for its agent, in `mcp.json`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness import editor_folders
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_FILE = "mcp.json"


@dataclass(frozen=True, slots=True)
class VSCode:
    """`code`; for a person, every edition of it that is there."""

    name: str = "vscode"
    title: str = "VS Code"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program, or the settings of any edition."""
        programs = ("code", "code-insiders", "codium")
        return here.found(*programs, folders=editor_folders.editions(here))

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server."""
        server: dict[str, Any] = {
            "type": "stdio",
            "command": here.program,
            "args": ["mcp", "serve"],
            "cwd": "${workspaceFolder}",
        }
        if scope == "project":
            folders = [here.in_project(".vscode")]
        else:
            folders = editor_folders.editions(here) or [editor_folders.first_edition(here)]
        paths = [os.path.join(folder, _FILE) for folder in folders]  # noqa: PTH118
        return [JsonMember(path, ("servers", NAME), server) for path in paths]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Where its state is shown."""
        return [
            "In VS Code, `MCP: List Servers` shows the server; it asks once whether to trust it."
        ]
