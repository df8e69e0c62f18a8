"""Cline: an MCP server, for the program and for the extension of VS Code."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.harness import editor_folders
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_FILE = ("settings", "cline_mcp_settings.json")
_EXTENSION = ("globalStorage", "saoudrizwan.claude-dev")


@dataclass(frozen=True, slots=True)
class Cline:
    """`cline`, the program, and the extension: each has a file of its own."""

    name: str = "cline"
    title: str = "Cline"
    scopes: tuple[Scope, ...] = ("user",)

    def detect(self, here: Here) -> str:
        """The program, or what the program or the extension has stored."""
        return here.found("cline", folders=[_home(here), *_extensions(here)])

    def plan(self, scope: Scope, here: Here) -> list[Edit]:  # noqa: ARG002 - there is only one
        """The server, in each file that somebody reads here."""
        paths = [os.path.join(folder, *_FILE) for folder in _extensions(here)]  # noqa: PTH118
        if not paths or here.found("cline", folders=[_home(here)]):
            paths.insert(0, _settings(here))
        server = {"command": here.program, "args": ["mcp", "serve"]}
        return [JsonMember(path, ("mcpServers", NAME), server, "bare") for path in paths]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Where its state is shown."""
        return ["`cline config mcp` lists the server; in VS Code, Cline's MCP Servers page does."]


def _home(here: Here) -> str:
    return here.folder("CLINE_DIR", ".cline")


def _settings(here: Here) -> str:
    """The program's file, by the variables that it looks at."""
    named = here.environ.get("CLINE_MCP_SETTINGS_PATH", "").strip()
    if named:
        return os.path.join(here.cwd, named)  # noqa: PTH118
    data = here.environ.get("CLINE_DATA_DIR", "").strip()
    folder = os.path.join(here.cwd, data) if data else os.path.join(_home(here), "data")  # noqa: PTH118
    return os.path.join(folder, *_FILE)  # noqa: PTH118


def _extensions(here: Here) -> list[str]:
    """What the extension has stored, in each edition of VS Code."""
    folders = [os.path.join(user, *_EXTENSION) for user in editor_folders.editions(here)]  # noqa: PTH118
    return [folder for folder in folders if os.path.isdir(folder)]  # noqa: PTH112
