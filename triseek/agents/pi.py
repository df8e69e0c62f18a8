"""Pi: its configuration files, and our extension's reports of its tools, as of 1.5.2 and 0.74.2.

`read` shows at most 2000 lines, as they are in the file, and a remark if there are more.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from triseek.agents.base import NAME
from triseek.agents.hook_protocol import HookAgent
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.own_files import OwnFile, claude_command, plugin
from triseek.agents.listing import Listed, Question, document, program_of
from triseek.agents.payloads import exit_status, tools
from triseek.agents.payloads.fields import fields_of
from triseek.agents.pi_transcripts import PiTranscripts
from triseek.model.hook_event import Room

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran, State
    from triseek.agents.payloads.fields import Fields
    from triseek.model.hook_event import ToolUse

_LINES = 2000


class Pi(HookAgent):
    """The program `pi`. It supports MCP servers since version 1.0."""

    name = "pi"
    title = "Pi"
    programs = ("pi",)
    project_folder = ".pi"
    question_words = ("pi", "mcp", "list", "--json")
    client_names = ("pi",)
    transcripts = PiTranscripts()
    shown_form = "text"
    shown_form_evidence = "1.5.2"
    handoff_name = "pi"
    aliases = ("pi_coding_agent",)
    project_files = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
    instructions = "AGENTS.md"
    keeps_record = True
    tells_compaction_once = True
    after_install = (
        "Restart Pi, or type /reload; `pi mcp list` shows the server (Pi 1.0 and later).",
    )
    after_project_install = ("Pi asks once whether to trust the files below .pi: say yes.",)

    reads: ClassVar = {"read": partial(tools.counted, usual=_LINES, most=_LINES)}
    edits = frozenset(("edit", "write"))
    shells = frozenset(("bash",))
    searches = frozenset(("grep", "find", "ls"))
    room = Room(bytes=50_000, lines=_LINES)

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over: one that fails ends its output with the exit status."""
        if not use.failed:
            return exit_status.with_status(use, 0)
        status = exit_status.of_pattern(exit_status.LAST_LINE, use.output)
        return exit_status.with_status(super().ended(use, payload), status)

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return here.folder("PI_CODING_AGENT_DIR", ".pi", "agent")

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the extension and the slash command."""
        # Without `exposure` no model gets the tools declared; only scripts that look find them.
        server = {**here.server(), "exposure": "direct"}
        return [
            JsonMember(self.path(scope, here, "mcp.json"), ("mcpServers", NAME), server, "json"),
            OwnFile(
                self.path(scope, here, "extensions", f"{NAME}.ts"), plugin(self.name, here.program)
            ),
            OwnFile(self.path(scope, here, "prompts", f"{NAME}.md"), claude_command(self.name)),
        ]

    def question(self, version: str) -> Question | None:
        """Return the query `pi mcp list`; before 1.0 that was a prompt, and went to a model."""
        major = version.partition(".")[0]
        if not major.isdecimal():
            return None  # an unknown version might take the words for a prompt
        return BEFORE_1 if major == "0" else super().question(version)

    def listed(self, ran: Ran) -> Listed:
        """Read `pi mcp list --json` (1.0 and later), which tries the servers."""
        reply = fields_of(document(ran.out))
        if not isinstance(reply.get("servers"), list):
            return Listed("unclear", "", ran.err.strip().partition("\n")[0])
        for server in reply.objects("servers"):
            if server.get("name") == NAME:
                program = program_of(server.text("transport"))
                if server.get("enabled") is False:
                    return Listed("off", program)
                state = _PI.get(server.text("state"), "failed")
                note = "" if state == "connected" else server.text("error", "state")
                return Listed(state, program, note)
        return Listed("absent", "", reply.text("note"))


_PI: Mapping[str, State] = {"connected": "connected", "disabled": "off", "pending": "waiting"}


def listed_commands(ran: Ran) -> Listed:
    """Read the commands of its extensions: before 1.0 it has no MCP, nor a list of extensions."""
    for line in ran.out.splitlines():
        data = fields_of(document(line)).inner("data")
        if isinstance(data.get("commands"), list):
            ours = any(map(_is_ours, data.objects("commands")))
            return Listed("connected", "", _EXTENSION) if ours else Listed("absent")
    return Listed("unclear", "", ran.err.strip().partition("\n")[0])


_EXTENSION = "our extension; MCP it knows from 1.0 on"


def _is_ours(command: Fields) -> bool:
    return command.text("name").startswith(NAME) and command.get("source") == "extension"


BEFORE_1 = Question(
    ("pi", "--mode", "rpc", "--no-session", "--offline"),
    listed_commands,
    b'{"type":"get_commands"}\n',
)
"""The query for versions without MCP."""


AGENT = Pi()
