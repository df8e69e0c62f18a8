"""OpenCode: its configuration files, and our plugin's reports of its tools, as of 1.18.33.

`read` shows 2000 lines unless it gets a limit, each as `12: text`, between `<content>` tags.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from triseek.agents.base import NAME, Refused
from triseek.agents.hook_protocol import HookAgent
from triseek.agents.install.entries import JsonDefault, JsonMember
from triseek.agents.install.own_files import OwnFile, claude_command, plugin
from triseek.agents.install.splices import value_at
from triseek.agents.listing import Listed, program_of, uncoloured
from triseek.agents.opencode_transcripts import OpenCodeTranscripts
from triseek.agents.payloads import exit_status, tools
from triseek.model.hook_event import Room, ToolUse

if TYPE_CHECKING:
    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran
    from triseek.agents.payloads.fields import Fields

_KEYS = ("mcp", NAME)
_SCHEMA = "https://opencode.ai/config.json"
_USER_FILES = ("opencode.jsonc", "opencode.json", "config.json")
"""All are read, and the first takes precedence; OpenCode writes to the first that exists."""
_PROJECT_FILES = ("opencode.jsonc", "opencode.json")
_LINES = 2000


class OpenCode(HookAgent):
    """The program `opencode`; its app reads the same files."""

    name = "opencode"
    title = "OpenCode"
    programs = ("opencode",)
    project_folder = ".opencode"
    question_words = ("opencode", "mcp", "list")
    client_names = ("opencode",)
    transcripts = OpenCodeTranscripts()
    shown_form = "text"
    shown_form_evidence = "1.18.33"
    handoff_name = "opencode"
    aliases = ("open_code",)
    project_files = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
    keeps_record = True
    tells_compaction_once = True
    after_install = ("Restart OpenCode; `opencode mcp list` shows the server.",)

    reads: ClassVar = {"read": partial(tools.counted, usual=_LINES)}
    edits = frozenset(("edit", "write", "multiedit"))
    patches = frozenset(("apply_patch", "patch"))
    patch_fields = ("patchText", "patch", "input")
    shells = frozenset(("bash", "shell"))
    shell_folders = ("workdir",)
    searches = frozenset(("grep", "glob", "list", "codesearch", "websearch", "lsp"))
    quiet = frozenset(("todowrite", "todoread", "webfetch", "skill", "question", "invalid", "task"))
    room = Room(bytes=50_000, lines=_LINES, line_bytes=2_000)

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return os.path.join(here.folder("XDG_CONFIG_HOME", ".config"), "opencode")  # noqa: PTH118

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the plugin and the slash command."""
        names = _USER_FILES if scope == "user" else _PROJECT_FILES
        config = _config(self.user_folder(here) if scope == "user" else here.cwd, names)
        words = [here.program, *here.server()["args"]]
        server = {"type": "local", "command": words, "enabled": True}
        return [
            JsonDefault(config, ("$schema",), _SCHEMA),  # OpenCode adds it if it is missing
            JsonMember(config, _KEYS, server),
            OwnFile(
                self.path(scope, here, "plugins", f"{NAME}.ts"), plugin(self.name, here.program)
            ),
            OwnFile(self.path(scope, here, "commands", f"{NAME}.md"), claude_command(self.name)),
        ]

    def listed(self, ran: Ran) -> Listed:
        """Read `opencode mcp list`, which tries the servers."""
        lines = [line.strip(" │●▲\t") for line in uncoloured(ran.out).splitlines()]
        for number, line in enumerate(lines):
            mark, _, rest = line.partition(" ")
            name, _, state = rest.partition(" ")
            if mark and not mark.isascii() and name == NAME:
                below = lines[number + 1] if number + 1 < len(lines) else ""
                return _opencode(state.strip(), below)
        return Listed("unclear" if ran.status else "absent")

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over, with the exit status that our plugin passes on."""
        status = exit_status.of_field(payload, "exit_status")
        return exit_status.with_status(super().ended(use, payload), status)

    def output(self, use: ToolUse, payload: Fields) -> str | None:
        """Return what a tool has shown: of `read`, the file's lines without their numbers."""
        output = super().output(use, payload)
        if use.name != "read" or not use.reads or output is None:
            return output
        _, opened, rest = output.partition("<content>\n")
        return tools.numbered(rest, use.reads[0].first, ": ") if opened else None


def _config(folder: str, names: tuple[str, ...]) -> str:
    """Return the file that has our server, else the first that exists, else a new one."""
    paths = [os.path.join(folder, name) for name in names]  # noqa: PTH118
    existing = [path for path in paths if os.path.lexists(path)]
    ours = [path for path in existing if _has_us(path)]
    return next(iter(ours or existing), os.path.join(folder, "opencode.json"))  # noqa: PTH118


def _has_us(path: str) -> bool:
    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            return value_at(file.read(), _KEYS) is not None
    except (OSError, ValueError, Refused):
        return False


def _opencode(state: str, below: str) -> Listed:
    if state.startswith("connected"):
        return Listed("connected", program_of(below))
    if state.startswith("disabled"):
        return Listed("off", program_of(below))
    return Listed("failed", "", f"{state}: {below}" if below else state)


AGENT = OpenCode()
