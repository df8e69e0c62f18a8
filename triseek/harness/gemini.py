"""Gemini CLI: an MCP server, hooks and a slash command, as version 0.61 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness import slash_command
from triseek.harness.base import NAME
from triseek.harness.entries import JsonMember
from triseek.harness.hook_entries import HookItem, command
from triseek.harness.slash_command import OwnFile

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_TIMEOUT_MS = 5000
EVENTS: dict[str, str] = {
    "BeforeTool": f"mcp_{NAME}_memo_.*",
    "AfterTool": ".*",
    "BeforeAgent": "",
    "SessionStart": "",
    "SessionEnd": "",
    "PreCompress": "",
}
"""The events we listen to, and for which tools. Reads are not asked about beforehand: nothing tells
which of them are in the model's view still, so none could be spared."""


@dataclass(frozen=True, slots=True)
class Gemini:
    """`gemini`, the program."""

    name: str = "gemini"
    title: str = "Gemini CLI"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program, or its folder."""
        return here.found("gemini", folders=(_folder(here),))

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the hooks, the command."""
        folder = _folder(here) if scope == "user" else here.in_project(".gemini")
        settings = os.path.join(folder, "settings.json")  # noqa: PTH118
        server = {"command": here.program, "args": ["mcp", "serve"]}
        return [
            JsonMember(settings, ("mcpServers", NAME), server, "commented"),
            *(
                HookItem(settings, ("hooks", event), _group(event, matcher, here), "commented")
                for event, matcher in EVENTS.items()
            ),
            OwnFile(os.path.join(folder, "commands", f"{NAME}.toml"), _command()),  # noqa: PTH118
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Restart, and what keeps servers from being started."""
        return [
            "Restart Gemini CLI; `gemini mcp list` shows the server.",
            "It starts no servers in a folder it does not trust: start `gemini` there and say so.",
        ]


def _folder(here: Here) -> str:
    return os.path.join(here.folder("GEMINI_CLI_HOME"), ".gemini")  # noqa: PTH118


def _group(event: str, matcher: str, here: Here) -> dict[str, Any]:
    hook: dict[str, Any] = {
        "type": "command",
        "name": NAME,
        "command": command(here.program, event, "gemini"),
        "timeout": _TIMEOUT_MS,
    }
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}


def _command() -> str:
    """A command file: TOML, in which three single quotes hold any other text."""
    return (
        f"# {slash_command.MARKER}_COMMAND: source_harness=gemini\n"
        'description = "Hand work over to another agent, or resume it, with triseek"\n'
        f"prompt = '''\n{slash_command.prompt('gemini', '{{args}}')}'''\n"
    )
