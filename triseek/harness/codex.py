"""Codex: a server in config.toml, hooks.json, and a skill, as version 0.169 reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triseek.harness import slash_command
from triseek.harness.base import NAME
from triseek.harness.hook_entries import ASKED_ABOUT, HookItem, command
from triseek.harness.toml_edits import TomlTable

if TYPE_CHECKING:
    from triseek.harness.base import Edit, Here, Scope

_TIMEOUT_S = 5
_TIMEOUT_AT_END_S = 3
"""The longest that Codex lets a SessionEnd hook have without a warning."""
EVENTS: dict[str, str] = {
    "PreToolUse": f"^(Bash|{ASKED_ABOUT})$",
    "PostToolUse": "",
    "SessionStart": "",
    "SessionEnd": "",
    "UserPromptSubmit": "",
    "PreCompact": "",
    "PostCompact": "",
    "SubagentStart": "",
    "SubagentStop": "",
}
"""The events we listen to, and for which tools."""


@dataclass(frozen=True, slots=True)
class Codex:
    """`codex`, the program; the desktop app and the editors' extensions read the same files."""

    name: str = "codex"
    title: str = "Codex"
    scopes: tuple[Scope, ...] = ("user", "project")

    def detect(self, here: Here) -> str:
        """The program."""
        return here.found("codex")

    def plan(self, scope: Scope, here: Here) -> list[Edit]:
        """The server, the hooks, the skill.

        Hooks go to the end of their lists: a person's approval names a hook by its place.
        """
        folder = _folder(scope, here)
        server = {"command": here.program, "args": ["mcp", "serve"]}
        hooks = os.path.join(folder, "hooks.json")  # noqa: PTH118
        return [
            TomlTable(os.path.join(folder, "config.toml"), ("mcp_servers", NAME), server),  # noqa: PTH118
            *(
                HookItem(hooks, ("hooks", event), _group(event, matcher, here), "bare")
                for event, matcher in EVENTS.items()
            ),
            slash_command.OwnFile(
                os.path.join(folder, "skills", NAME, "SKILL.md"),  # noqa: PTH118
                slash_command.skill(self.name),
            ),
        ]

    def advice(self, scope: Scope, here: Here) -> list[str]:  # noqa: ARG002 - the same everywhere
        """Restart, and approve: hooks that nobody has approved do not run."""
        said = [
            "Restart Codex; `codex mcp list` shows the server.",
            "Codex runs no hook before you approve it: start `codex`, type /hooks, trust ours.",
            "When an upgrade changes the hooks, Codex asks again.",
            "The slash command is a skill here: `$triseek handoff claude`, `$triseek resume ID`.",
        ]
        if scope == "project":
            said.append("Codex reads a project's .codex only in a folder that you trust.")
        return said


def _folder(scope: Scope, here: Here) -> str:
    return here.folder("CODEX_HOME", ".codex") if scope == "user" else here.in_project(".codex")


def _group(event: str, matcher: str, here: Here) -> dict[str, Any]:
    hook: dict[str, Any] = {
        "type": "command",
        "command": command(here.program, event, "codex"),
        "timeout": _TIMEOUT_AT_END_S if event == "SessionEnd" else _TIMEOUT_S,
    }
    return {"matcher": matcher, "hooks": [hook]} if matcher else {"hooks": [hook]}
