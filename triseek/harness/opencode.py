"""OpenCode: an MCP server, a plugin and a slash command, as version 1.18 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triseek.harness import plugin_source, slash_command
from triseek.harness.base import NAME, Refused
from triseek.harness.entries import JsonDefault, JsonMember
from triseek.harness.slash_command import OwnFile
from triseek.harness.splices import value_at

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_KEYS = ("mcp", NAME)
_SCHEMA = "https://opencode.ai/config.json"
_USER_FILES = ("opencode.jsonc", "opencode.json", "config.json")
"""All are read, and the first counts most; OpenCode itself writes to the first that is there."""
_PROJECT_FILES = ("opencode.jsonc", "opencode.json")


@dataclass(frozen=True, slots=True)
class OpenCode:
    """`opencode`, the program; its app reads the same files."""

    name: str = "opencode"
    title: str = "OpenCode"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program, or its folder."""
        return here.found("opencode", folders=(_folder(here),))

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the plugin, the command."""
        if scope == "user":
            config, folder = _config(_folder(here), _USER_FILES), _folder(here)
        else:
            config, folder = _config(here.cwd, _PROJECT_FILES), here.in_project(".opencode")
        server = {"type": "local", "command": [here.program, "mcp", "serve"], "enabled": True}
        return [
            JsonDefault(config, ("$schema",), _SCHEMA),  # OpenCode puts it in where it is not
            JsonMember(config, _KEYS, server),
            OwnFile(
                os.path.join(folder, "plugins", f"{NAME}.ts"),  # noqa: PTH118
                plugin_source.plugin(self.name, here.program),
            ),
            OwnFile(
                os.path.join(folder, "commands", f"{NAME}.md"),  # noqa: PTH118
                slash_command.claude_command(self.name),
            ),
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """It reads its configs when it starts."""
        return ["Restart OpenCode; `opencode mcp list` shows the server."]


def _folder(here: Here) -> str:
    return os.path.join(here.folder("XDG_CONFIG_HOME", ".config"), "opencode")  # noqa: PTH118


def _config(folder: str, names: tuple[str, ...]) -> str:
    """The file that has us, or the one that counts most, or a new one."""
    paths = [os.path.join(folder, name) for name in names]  # noqa: PTH118
    there = [path for path in paths if os.path.lexists(path)]
    ours = [path for path in there if _has_us(path)]
    return next(iter(ours or there), os.path.join(folder, "opencode.json"))  # noqa: PTH118


def _has_us(path: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return value_at(file.read(), _KEYS) is not None
    except (OSError, ValueError, Refused):
        return False
