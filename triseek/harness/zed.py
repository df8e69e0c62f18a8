"""Zed: a context server for its agent, in `settings.json`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope


@dataclass(frozen=True, slots=True)
class Zed:
    """`zed`, the editor. Its settings are JSON with comments and trailing commas."""

    name: str = "zed"
    title: str = "Zed"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program, or its folder."""
        return here.found("zed", "zeditor", "zed-editor", folders=(_folder(here),))

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server."""
        folder = _folder(here) if scope == "user" else here.in_project(".zed")
        server: dict[str, Any] = {"command": here.program, "args": ["mcp", "serve"], "env": {}}
        path = os.path.join(folder, "settings.json")  # noqa: PTH118
        return [JsonMember(path, ("context_servers", NAME), server)]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Where its state is shown."""
        return ["Zed starts it at once; the agent panel's settings show a green dot beside it."]


def _folder(here: Here) -> str:
    if sys.platform == "win32":
        return os.path.join(here.folder("APPDATA", "AppData", "Roaming"), "Zed")  # noqa: PTH118
    if sys.platform == "darwin":
        return here.in_home(".config", "zed")
    return os.path.join(here.folder("XDG_CONFIG_HOME", ".config"), "zed")  # noqa: PTH118
