"""Gemini CLI: its configuration files and hook payloads, as of 0.61.0.

`tool_response` is the tool's result: `llmContent` is what the model gets. Uses have no ids, and
nothing says what is still in view, so they can only be counted.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from triseek.agents.base import NAME, Refused, first_existing, own_names
from triseek.agents.gemini_transcripts import GeminiTranscripts
from triseek.agents.hook_protocol import HookAgent, plain
from triseek.agents.install import own_files
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.hook_entries import hook_items
from triseek.agents.install.own_files import OwnFile
from triseek.agents.install.splices import value_at
from triseek.agents.listing import Listed, program_of, uncoloured
from triseek.agents.payloads import exit_status, tools

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran, State
    from triseek.agents.payloads.fields import Fields
    from triseek.model.hook_event import ToolUse

EVENTS: dict[str, str] = {
    "BeforeTool": f"mcp_{NAME}_memo_.*",
    "AfterTool": ".*",
    "BeforeAgent": "",
    "SessionStart": "",
    "SessionEnd": "",
    "PreCompress": "",
}
"""The events we listen to, and for which tools. There is none before a read: nothing says which
reads are still in the model's view, so none could be refused."""
_TIMEOUTS = dict.fromkeys(EVENTS, 5000)
"""Milliseconds."""
_OWN_EVENTS = frozenset(("beforetool", "aftertool", "precompress", "beforeagent", "afteragent"))
"""Events that no other agent has, in lower case."""
_CUT = "--- FILE CONTENT (truncated) ---\n"


class Gemini(HookAgent):
    """The program `gemini`."""

    name = "gemini"
    title = "Gemini CLI"
    programs = ("gemini",)
    project_folder = ".gemini"
    question_words = ("gemini", "mcp", "list")
    client_names = ("gemini",)
    shown_form = "text"
    shown_form_evidence = "0.61.0"
    handoff_name = "gemini"
    handoff_title = "Gemini"
    aliases = ("gemini_cli",)
    project_files = ("GEMINI.md",)
    own_file = "GEMINI"
    transcripts = GeminiTranscripts()
    tells_compaction_once = True
    context_moment = "prompt"
    after_install = (
        "Restart Gemini CLI; `gemini mcp list` shows the server.",
        "It starts no servers in a folder it does not trust: start `gemini` there and say so.",
    )

    reads: ClassVar = {"read_file": tools.between}
    edits = frozenset(("replace", "write_file", "edit"))
    shells = frozenset(("run_shell_command",))
    shell_folders = ("dir_path", "directory")
    searches = frozenset(
        ("grep_search", "search_file_content", "glob", "list_directory", "google_web_search")
    )
    quiet = frozenset(("web_fetch", "write_todos", "save_memory", "ask_user", "read_many_files"))

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return os.path.join(here.folder("GEMINI_CLI_HOME"), ".gemini")  # noqa: PTH118

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the hooks and the slash command."""
        settings = self.path(scope, here, "settings.json")
        return [
            JsonMember(settings, ("mcpServers", NAME), here.server(), "commented"),
            *hook_items(
                settings, "commented", here.program, self.name, _TIMEOUTS, EVENTS, name=NAME
            ),
            OwnFile(self.path(scope, here, "commands", f"{NAME}.toml"), _command()),
        ]

    def listed(self, ran: Ran) -> Listed:
        """Read `gemini mcp list`, which tries the servers where it trusts the folder."""
        for line in uncoloured(ran.out + "\n" + ran.err).splitlines():
            found = re.match(r"\S+ triseek(?: \(from [^)]*\))?: (.*) \(\w+\) - (.+)", line.strip())
            if found is not None:
                state = _GEMINI.get(found[2].strip().lower(), "unclear")
                untrusted = "untrusted" in ran.out + ran.err
                note = "this folder is not trusted" if state == "off" and untrusted else ""
                return Listed("waiting" if note else state, program_of(found[1]), note or found[2])
        return Listed("unclear" if ran.status else "absent")

    def owns(self, payload: Fields) -> bool:
        """Whether the event's name is one that only Gemini CLI has."""
        return plain(str(payload.get("hook_event_name", ""))) in _OWN_EVENTS

    def refusal(self, reason: str, context: str) -> str:
        """Return the refusal, with reason and context in one text."""
        return json.dumps({"decision": "deny", "reason": f"{reason} {context}".strip()})

    def start_context(self, text: str) -> str:
        """Return the answer to `BeforeAgent`.

        Without a terminal, Gemini CLI puts the one to `SessionStart` before the prompt, and leaves
        out a prompt that begins so when the session is resumed.
        """
        answer = {"hookEventName": "BeforeAgent", "additionalContext": text}
        return json.dumps({"hookSpecificOutput": answer})

    def tool_use(self, payload: Fields, folder: str) -> ToolUse:
        """Return a tool's use, which has no id; its result says whether it failed."""
        is_failed = bool(payload.inner("tool_response").get("error"))
        return replace(super().tool_use(payload, folder), call="", failed=is_failed)

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over, with the exit status that the model is told."""
        response = payload.inner("tool_response")
        # A program may print such lines itself: then the text proves nothing.
        is_plain = "Exit Code:" not in response.text("returnDisplay")
        text = response.text("llmContent") if is_plain else ""
        return exit_status.with_status(super().ended(use, payload), exit_status.of_trailer(text))

    def output(self, use: ToolUse, payload: Fields) -> str | None:
        """Return what a tool has shown, without the remarks before a file's lines."""
        output = super().output(use, payload)
        if output is None or not use.reads:
            return output
        return output.rpartition(_CUT)[2].removeprefix("Output: ")

    def project_file(self, root: str) -> str:
        """Return the first existing file of the names in its settings, or else of its own names."""
        return first_existing(_context_files(root) or self.project_files, root)


def _command() -> str:
    """Return a command file: TOML, in which a text in three single quotes needs no escapes."""
    return (
        f"# {own_files.MARKER}_COMMAND: source_harness=gemini\n"
        'description = "Hand work over to another agent, or resume it, with triseek"\n'
        f"prompt = '''\n{own_files.prompt('gemini', '{{args}}')}'''\n"
    )


_GEMINI: Mapping[str, State] = {
    "connected": "connected",
    "disconnected": "failed",
    "connecting": "known",
    "disabled": "off",
    "blocked": "off",
}


def _context_files(root: str) -> tuple[str, ...]:
    """Return the names in `context.fileName` of the project's settings, or else the person's."""
    home = os.environ.get("GEMINI_CLI_HOME") or "~"
    for folder in (root, os.path.expanduser(home)):  # noqa: PTH111
        try:
            text = Path(folder, ".gemini", "settings.json").read_text("utf-8")
            file_name = value_at(text, ("context", "fileName"))
        except (OSError, ValueError, Refused):
            continue
        if names := own_names([file_name] if isinstance(file_name, str) else file_name):
            return names
    return ()


AGENT = Gemini()
