"""VS Code: an MCP server entry for its agent, in `mcp.json`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from triseek.agents.base import NAME, Agent
from triseek.agents.install.entries import JsonMember

if TYPE_CHECKING:
    from triseek.agents.base import Edit, InstallPlace, Scope

_EDITIONS = ("Code", "Code - Insiders", "VSCodium")


class VSCode(Agent):
    """The program `code`; in the user scope, every installed edition of it."""

    name = "vscode"
    title = "VS Code"
    programs = ("code", "code-insiders", "codium")
    client_names = ("vscode", "visual studio code")
    shown_form = "structured"
    shown_form_evidence = (
        "its source: microsoft/vscode, mcpLanguageModelToolContribution.ts of 027907cb"
    )
    after_install = (
        "In VS Code, `MCP: List Servers` shows the server; it asks once whether to trust it.",
    )

    def data_folders(self, here: InstallPlace) -> list[str]:
        """Return the settings folder of each edition."""
        return editions(here)

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server."""
        server = {"type": "stdio", **here.server(), "cwd": "${workspaceFolder}"}
        if scope == "project":
            folders = [here.in_project(".vscode")]
        else:
            folders = editions(here) or [_user_folder(_EDITIONS[0], here)]
        paths = [os.path.join(folder, "mcp.json") for folder in folders]  # noqa: PTH118
        return [JsonMember(path, ("servers", NAME), server) for path in paths]


def applications(here: InstallPlace) -> str:
    """Return the folder in which applications keep their settings on this system."""
    if sys.platform == "darwin":
        return here.in_home("Library", "Application Support")
    if sys.platform == "win32":
        return here.folder("APPDATA", "AppData", "Roaming")
    return here.folder("XDG_CONFIG_HOME", ".config")


def editions(here: InstallPlace) -> list[str]:
    """Return the user folder of each edition of VS Code that has one."""
    folders = [_user_folder(name, here) for name in _EDITIONS]
    return [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112


def _user_folder(edition: str, here: InstallPlace) -> str:
    return os.path.join(applications(here), edition, "User")  # noqa: PTH118


AGENT = VSCode()
