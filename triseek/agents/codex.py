"""Codex: its configuration files, hook payloads and transcripts, as of 0.169.0.

Hook payloads have Claude Code's shape, with Codex's own tools. A shell command's `tool_response` is
what the model gets, without the lines that come before it there (`Chunk ID`, `Wall time`, …,
`Output:`); it is cut in the middle as the model's is. Newer models write JavaScript that runs the
tools. Each of those uses has a hook too, with an id that begins with `exec-`, but the model gets
what its program prints: the use itself shows nothing. No payload has a command's exit status; the
transcript has it, a moment after the hook. An MCP tool's `tool_response` is what the server
answered, also where the model gets it with its middle cut out.

Transcripts, which Codex calls rollouts: one file per thread, sub-agents' too, only appended.
`compacted` begins a new context. `thread_rolled_back` removes the last turns; which outputs these
held is not worked out here, so nothing above it counts. A turn begins with a `turn_context` that
has the `turn_id` hooks get, so what was rolled back for that turn is above it. A thread that is
reverted or forked continues in another file, which does not repeat what it keeps.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek.agents import codex_outputs
from triseek.agents.base import NAME, Distrust, first_existing, own_names
from triseek.agents.codex_transcripts import CodexTranscripts
from triseek.agents.hook_protocol import CONTEXT_EVENTS, HookAgent
from triseek.agents.install.hook_entries import ASKED_ABOUT, hook_items
from triseek.agents.install.own_files import OwnFile, skill
from triseek.agents.install.toml_edits import TomlTable
from triseek.agents.listing import Listed, document
from triseek.agents.payloads import exit_status, tools
from triseek.agents.payloads.fields import Fields, entries, fields_of
from triseek.files.tree.root import main_tree
from triseek.model.hook_event import ToolUse

if TYPE_CHECKING:
    from collections.abc import Collection

    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran, State
    from triseek.model.hook_event import HookEvent

EVENTS = {
    "PreToolUse": f"^(Bash|{ASKED_ABOUT})$",
    **dict.fromkeys(("PostToolUse", *CONTEXT_EVENTS), ""),
}
"""The events we listen to, and for which tools."""
_TIMEOUTS = {**dict.fromkeys(EVENTS, 5), "SessionEnd": 3}
"""Seconds. Of a longer one at a session's end Codex gives a warning."""
_OF_PROGRAM = "exec-"
_STATUS_BYTES = 512 << 10
"""Bytes of a transcript, from its end, in which exit statuses are looked for."""
_CALLS = ("function_call", "custom_tool_call")
_CUT = re.compile(r"…\d+ \w+ truncated…")
"""What stands for the middle of an output in the transcript."""
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


class Codex(HookAgent):
    """The program `codex`; the desktop app and the editors' extensions read the same files."""

    name = "codex"
    title = "Codex"
    programs = ("codex",)
    project_folder = ".codex"
    question_words = ("codex", "mcp", "get", NAME, "--json")
    answers_quickly = True
    client_names = ("codex",)
    shown_form = "structured"
    shown_form_evidence = "0.169.0, 0.171.0"
    handoff_name = "codex"
    aliases = ("codex_cli",)
    paste = "$triseek resume {id}"  # Codex has a skill instead of a slash command
    project_files = ("AGENTS.override.md", "AGENTS.md")
    own_file = "AGENTS"
    instructions = "AGENTS.md"
    transcripts = CodexTranscripts()
    keeps_record = True
    after_install = (
        "Restart Codex; `codex mcp list` shows the server.",
        "Codex runs no hook before you approve it: start `codex`, type /hooks, trust ours.",
        "When an upgrade changes the hooks, Codex asks again.",
        "The slash command is a skill here: `$triseek handoff claude`, `$triseek resume ID`.",
    )
    after_project_install = ("Codex reads a project's .codex only in a folder that you trust.",)

    patches = frozenset(("apply_patch",))
    patch_fields = ("command", "input", "patch")
    quiet = frozenset(("update_plan", "view_image", "web_search"))

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return here.folder("CODEX_HOME", ".codex")

    def data_folders(self, here: InstallPlace) -> tuple[str, ...]:  # noqa: ARG002 - only the program shows it
        """Return none: without the program nothing reads the configs."""
        return ()

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the hooks and the skill.

        Hooks are appended to their lists: a person's approval names a hook by its position.
        """
        config = self.path(scope, here, "config.toml")
        hooks = self.path(scope, here, "hooks.json")
        return [
            TomlTable(config, ("mcp_servers", NAME), here.server()),
            *hook_items(hooks, "bare", here.program, self.name, _TIMEOUTS, EVENTS),
            OwnFile(self.path(scope, here, "skills", NAME, "SKILL.md"), skill(self.name)),
        ]

    def distrusts(self, here: InstallPlace) -> Distrust | None:
        """Return why it ignores the project's `.codex`: it reads that only in a trusted folder.

        It looks for the folder itself and for the main working tree of its repository, by name.
        """
        settings = os.path.join(self.user_folder(here), "config.toml")  # noqa: PTH118
        projects = Fields(_parsed(settings)).inner("projects")
        root = main_tree(here.cwd)
        levels = [projects.inner(folder).text("trust_level") for folder in (here.cwd, root)]
        if next(filter(None, levels), "") == "trusted":
            return None
        return Distrust(
            f"ignores .codex/config.toml and .codex/hooks.json here: it does not trust {root}",
            f'in {settings}: [projects.{json.dumps(root)}] trust_level = "trusted"   '
            "# or start `codex` here and say that you trust the folder",
        )

    def listed(self, ran: Ran) -> Listed:
        """Read `codex mcp get triseek --json`, which does not try the server."""
        if ran.status:
            return Listed("absent" if "No MCP server" in ran.err + ran.out else "unclear")
        server = fields_of(document(ran.out))
        if server.get("name") != NAME:
            return Listed("unclear")
        state: State = "off" if server.get("enabled") is False else "known"
        program = server.inner("transport").text("command")
        return Listed(state, program, server.text("disabled_reason"))

    def owns(self, payload: Fields) -> bool:
        """Whether the payload has a turn's id."""
        return "turn_id" in payload

    def in_view(self, event: HookEvent) -> frozenset[str] | None:
        """Return the ids of uses whose outputs are in the context now; None if unknown."""
        items = entries(event.transcript) if event.transcript else None
        if not items or not any(_is_now(entry, event) for entry in items):
            return None
        calls: set[str] = set()
        for item in items:
            inner = item.inner("payload")
            if item.get("type") == "compacted" or inner.get("type") == "thread_rolled_back":
                calls.clear()
            elif _is_whole_output(item, inner):
                calls.add(inner.text("call_id"))
        return frozenset(calls - {""})

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over, with the exit status if the output has one."""
        status = codex_outputs.status(payload.get("tool_response"))
        return exit_status.with_status(super().ended(use, payload), status)

    def exit_statuses(self, event: HookEvent, calls: Collection[str]) -> dict[str, int]:
        """Return the exit statuses of these uses that the transcript has."""
        items = entries(event.transcript, most=_STATUS_BYTES) if event.transcript else None
        statuses = {}
        for item in items or ():
            inner = item.inner("payload")
            if inner.text("call_id") not in calls:
                continue
            status = codex_outputs.status(inner.get("output"))
            if inner.get("type") == "exec_command_end":
                status = exit_status.of_field(inner, "exit_code")
            if status is not None:
                statuses[inner.text("call_id")] = status
        return statuses

    def tool_use(self, payload: Fields, folder: str) -> ToolUse:
        """Return a tool's use, with the output shown to the agent once it is over."""
        tool_input = payload.inner("tool_input")
        use = self.use_of(
            payload.text("tool_name"), tool_input, tool_input.folder(folder, "workdir")
        )
        call = payload.word("tool_use_id")
        if call.startswith(_OF_PROGRAM):
            return replace(use, call=call, only_reads=False, of_script=True)
        shell_command, output = _shell_command(tool_input), self.output(use, payload)
        if shell_command is not None and output is not None:
            output = codex_outputs.HEAD.sub("", output, count=1)
        return replace(use, call=call, output=tools.of_file(use, shell_command, output))

    def use_of(self, name: str, tool_input: Fields, folder: str) -> ToolUse:
        """Return the use of a tool; any that gets a command is a shell."""
        if name not in self.patches and not tools.is_mcp(name):
            shell_command = _shell_command(tool_input)
            if shell_command is not None:
                return tools.shell(name, shell_command, folder)
            if name.startswith("collaboration"):  # sub-agents have hooks of their own
                return ToolUse(name=name)
        return super().use_of(name, tool_input, folder)

    def project_file(self, root: str) -> str:
        """Return the first existing file of its own names and those the person configured."""
        return first_existing((*self.project_files, *_fallback_names()), root)


def _fallback_names() -> tuple[str, ...]:
    """Return the names in `project_doc_fallback_filenames` of the person's configuration."""
    folder = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")  # noqa: PTH111
    settings = _parsed(os.path.join(folder, "config.toml"))  # noqa: PTH118
    return own_names(settings.get("project_doc_fallback_filenames"))


def _parsed(path: str) -> dict[str, Any]:
    """Return the settings in a file; empty if they cannot be read."""
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}


def _shell_command(tool_input: Fields) -> object:
    return tool_input.get("command", tool_input.get("cmd"))


def _is_now(item: Fields, event: HookEvent) -> bool:
    """Whether the agent's current turn begins at this item, or the item is the use's own call."""
    inner = item.inner("payload")
    if item.get("type") == "turn_context":
        return bool(event.prompt_id) and inner.get("turn_id") == event.prompt_id
    call = event.use.call if event.use is not None else ""
    return bool(call) and inner.get("type") in _CALLS and inner.get("call_id") == call


def _is_whole_output(item: Fields, inner: Fields) -> bool:
    """Whether an item is a use's output; if it is an MCP tool's, as a whole."""
    if item.get("type") != "response_item" or inner.get("type") not in _OUTPUTS:
        return False
    return not any(_CUT.search(block.text("text")) for block in inner.objects("output"))


AGENT = Codex()
