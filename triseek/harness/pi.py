"""Pi: an MCP server, an extension and a prompt template, as version 1.5 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness import plugin_source, slash_command
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember
from triseek.harness.slash_command import OwnFile

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope


@dataclass(frozen=True, slots=True)
class Pi:
    """`pi`, the program. MCP servers are known to it since version 1.0."""

    name: str = "pi"
    title: str = "Pi"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program, or its folder."""
        return here.found("pi", folders=(_folder(here),))

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the extension, the command."""
        folder = _folder(here) if scope == "user" else here.in_project(".pi")
        # Else the tools are declared to no model, but only found by scripts that look for them.
        server: dict[str, Any] = {
            "command": here.program,
            "args": ["mcp", "serve"],
            "exposure": "direct",
        }
        return [
            JsonMember(
                os.path.join(folder, "mcp.json"),  # noqa: PTH118
                ("mcpServers", NAME),
                server,
                "json",
            ),
            OwnFile(
                os.path.join(folder, "extensions", f"{NAME}.ts"),  # noqa: PTH118
                plugin_source.plugin(self.name, here.program),
            ),
            OwnFile(
                os.path.join(folder, "prompts", f"{NAME}.md"),  # noqa: PTH118
                slash_command.claude_command(self.name),
            ),
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Reload, and what a project's files ask for."""
        said = ["Restart Pi, or type /reload; `pi mcp list` shows the server (Pi 1.0 and later)."]
        if scope == "project":
            said.append("Pi asks once whether to trust the files below .pi: say yes.")
        return said


def _folder(here: Here) -> str:
    return here.folder("PI_CODING_AGENT_DIR", ".pi", "agent")
