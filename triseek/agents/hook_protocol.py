"""Claude Code's hook protocol, which most agents have adopted in part.

A payload names its event, session and folder, and for a tool's use the tool's name, its input and,
once it is over, its result. The answer may refuse the use. Names of events are spelled with
different case and dashes.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from triseek.agents.base import Agent
from triseek.agents.payloads import exit_status, fields, tools
from triseek.model.hook_event import Context, HookEvent, Room, ToolUse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.agents.payloads.fields import Fields
    from triseek.model.hook_event import FileRead, Moment

CONTEXT_EVENTS = (
    "SessionStart", "SessionEnd", "UserPromptSubmit", "PreCompact", "PostCompact",
    "SubagentStart", "SubagentStop",
)  # fmt: skip
"""Events of Claude Code and Codex that are not about a tool."""
_EVENTS: dict[Moment, tuple[str, ...]] = {
    "before": (
        "pretooluse",
        "beforetool",  # Gemini CLI
        "beforereadfile", "beforeshellexecution", "beforemcpexecution",  # Cursor
    ),
    "after": (
        "posttooluse", "posttoolusefailure",
        "aftertool",  # Gemini CLI
        "aftershellexecution", "aftermcpexecution", "afterfileedit",  # Cursor
        "read", "edit", "write",  # accepted by `memo-observe --event`
    ),
    "start": ("sessionstart",),
    "end": ("sessionend",),
    "compact": ("precompact", "postcompact", "precompress"),
    "prompt": ("userpromptsubmit", "beforeagent", "beforesubmitprompt"),
    "subagent": ("subagentstart", "subagentstop"),
    "changed": ("contextchanged",),
}  # fmt: skip
_MOMENTS = {event: moment for moment, events in _EVENTS.items() for event in events}


def moment(event: str) -> Moment:
    """Return the moment of an event; "other" for an event that is not listed."""
    return _MOMENTS.get(plain(event), "other")


def plain(event: str) -> str:
    """Return an event's name in lower case without dashes and underscores."""
    return event.strip().lower().replace("-", "").replace("_", "")


class HookAgent(Agent):
    """An agent with hooks of this form: a table of its tools, and methods for what is different."""

    reads: ClassVar[Mapping[str, Callable[[Fields, str], FileRead]]] = {}
    """Tools that show lines of a file, and what reads their input, in a working folder."""
    edits: ClassVar[frozenset[str]] = frozenset()
    """Tools that write the file which their input names."""
    patches: ClassVar[frozenset[str]] = frozenset()
    patch_fields: ClassVar[tuple[str, ...]] = ()
    """Input fields with the patch."""
    shells: ClassVar[frozenset[str]] = frozenset()
    shell_folders: ClassVar[tuple[str, ...]] = ()
    """Input fields of a shell with the folder it runs in."""
    searches: ClassVar[frozenset[str]] = frozenset()
    quiet: ClassVar[frozenset[str]] = frozenset()
    """Other tools that change no files."""
    room: ClassVar[Room] = Room()
    """How much its tools show."""

    def read(self, payload: Fields, event: str, cwd: str) -> HookEvent:
        """Read a payload."""
        name = payload.text("hook_event_name") or event
        folder = payload.folder(cwd, "cwd")
        use = None
        if moment(name) in ("before", "after"):
            use = self.tool_use(payload, folder)
            if plain(name) == "posttoolusefailure":
                use = replace(use, failed=True)
            if moment(name) == "after":
                use = self.ended(use, payload)
        return HookEvent(
            moment=moment(name),
            context=Context(
                harness=self.name,
                session=payload.word("session_id"),
                agent=payload.word("agent_id"),
            ),
            cwd=folder,
            event=name,
            source=payload.word("source", "trigger", "reason"),
            use=use,
            prompt=payload.text("prompt"),
            parent=payload.word("parent_session_id"),
            prompt_id=payload.word("prompt_id", "turn_id"),
            transcript=fields.absolute_only(payload.get("transcript_path")),
            in_view=fields.words(payload.get("in_view")),
        )

    def refusal(self, reason: str, context: str) -> str:
        """Return the refusal in Claude Code's form."""
        return json.dumps(
            {
                "hookSpecificOutput": {
                    "hookEventName": "PreToolUse",
                    "permissionDecision": "deny",
                    "permissionDecisionReason": reason,
                    "additionalContext": context,
                }
            }
        )

    def start_context(self, text: str) -> str:
        """Return the answer in Claude Code's form."""
        answer = {"hookEventName": "SessionStart", "additionalContext": text}
        return json.dumps({"hookSpecificOutput": answer})

    def tool_use(self, payload: Fields, folder: str) -> ToolUse:
        """Return a tool's use, with the output shown to the agent once it is over.

        folder: The working folder, absolute.
        """
        tool_input = self.tool_input(payload)
        use = self.use_of(payload.text("tool_name"), tool_input, folder)
        output = tools.of_file(use, tool_input.get("command"), self.output(use, payload))
        return replace(use, call=payload.word("tool_use_id"), room=self.room, output=output)

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:  # noqa: ARG002 - for subclasses
        """Return a use that is over with what is known of how its command ended."""
        return exit_status.with_failure(use, failed=True) if use.failed else use

    def tool_input(self, payload: Fields) -> Fields:
        """Return the input of a payload's tool."""
        return payload.inner("tool_input")

    def use_of(self, name: str, tool_input: Fields, folder: str) -> ToolUse:
        """Return the use of a tool by its name and input."""
        if name in self.reads:
            return tools.native_read(name, self.reads[name](tool_input, folder))
        if name in self.edits:
            return tools.edit(name, tool_input, folder)
        if name in self.patches:
            return tools.patch(name, tool_input.text(*self.patch_fields), folder)
        if name in self.shells:
            place = tool_input.path(folder, *self.shell_folders) or folder
            return tools.shell(name, tool_input.get("command"), place)
        if name in self.searches:
            return tools.search(name, tool_input)
        if tools.is_mcp(name):
            return tools.mcp(name, tool_input, folder)
        return ToolUse(name=name, edits_unknown=name not in self.quiet)

    def output(self, use: ToolUse, payload: Fields) -> str | None:  # noqa: ARG002 - for subclasses
        """Return what a tool has shown to the agent; None if that is not reported."""
        return fields.shown(payload.get("tool_response"))
