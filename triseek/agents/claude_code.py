"""Claude Code: its configuration files, hook payloads and transcripts, as of 2.1.330.

Hook payloads: `Read` returns `{"type": "text", "file": {content, startLine, numLines, totalLines}}`
with the lines as they are in the file, while the model gets them numbered. `Bash` returns
`{stdout, stderr, …}`; above 30,000 characters the model gets two kilobytes of it and
`persistedOutputPath` is set. A command that fails has `PostToolUseFailure` with the error
`Exit code N`, …; if `grep` and the like find nothing, that is no failure, and
`returnCodeInterpretation` says so. So a plain `PostToolUse` is exit status 0.

Transcripts: one file per session, `<session>.jsonl`, and `<session>/subagents/agent-<id>.jsonl` for
each of its sub-agents. Rows are only appended. Each names its parent by `parentUuid`, so going back
(`/rewind`) starts a branch, and what is in view is the path from the last row to the root. A row of
the conversation has a `promptId`, which hooks get as `prompt_id`. A path without that id is not the
agent's current one, because the first row of the current one is still being written.

Compaction adds a row without a parent. What the agent clears only in memory is in no row, but each
request is recorded too: `base` is the previous request, of which `keep` messages were sent again.
If that is not all of them, something was removed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from triseek.agents.base import NAME
from triseek.agents.claude_code_transcripts import ClaudeTranscripts
from triseek.agents.hook_protocol import CONTEXT_EVENTS, HookAgent, plain
from triseek.agents.install.entries import JsonMember
from triseek.agents.install.hook_entries import ASKED_ABOUT, hook_items
from triseek.agents.install.own_files import OwnFile, claude_command
from triseek.agents.listing import Listed
from triseek.agents.payloads import exit_status, fields, tools
from triseek.agents.payloads.fields import Fields, entries
from triseek.files.tree.root import main_tree
from triseek.model.hook_event import Room, ToolUse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from triseek.agents.base import Edit, InstallPlace, Scope
    from triseek.agents.listing import Ran, State
    from triseek.model.hook_event import HookEvent

EVENTS = {
    "PreToolUse": f"^(Read|Bash|{ASKED_ABOUT})$",
    "PostToolUse": "*",
    "PostToolUseFailure": "*",
    **dict.fromkeys(CONTEXT_EVENTS, ""),
}
"""The events we listen to, and for which tools. After a use, all: every output costs tokens."""
_TIMEOUTS = dict.fromkeys(EVENTS, 5)
"""Seconds."""
_SHELL = "Bash"
_PATHS = ("file_path", "path", "filePath")
_KNOWN = {
    "Read": frozenset((*_PATHS, "offset", "limit", "pages", "allow_large")),
    "Bash": frozenset(
        ("command", "description", "timeout", "run_in_background", "dangerouslyDisableSandbox")
    ),
}
"""The known input fields of these tools. With any other field a tool may run on another machine."""
_ROOM = Room(bytes=60_000, line_bytes=2_000)
"""`Read` shows at most 25,000 tokens, about 75,000 bytes of code; older ones cut long lines."""
_DIRECT = {"read": "Read", "edit": "Edit", "write": "Write"}
"""Events of scripts that report a use themselves; input fields may be among the payload's own."""
_BULKY = (b'{"type":"api-request-shape"', b'{"type":"api-request-blob"', b'{"type":"file-history')
_FIELD = re.compile(r"^\s*(\S[^:\n]*): +(.*?)\s*$", re.MULTILINE)
"""A line `  Name: value`."""
_AGENT = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CUTS = ("compact_boundary", "microcompact_boundary")
_STUBS = ("<persisted-output>", "[Old tool result content cleared]", "<truncated-output>")


class ClaudeCode(HookAgent):
    """The program `claude`; the app and the editors' extensions read the same configs."""

    name = "claude-code"
    title = "Claude Code"
    scopes = ("user", "project", "local")
    programs = ("claude",)
    project_folder = ".claude"
    question_words = ("claude", "mcp", "get", NAME)
    answers_quickly = True
    client_names = ("claude-code", "claude code", "claude_code", "claudecode")
    shown_form = "structured"
    shown_form_evidence = "2.1.330, 2.1.332"
    handoff_name = "claude_code"
    handoff_title = "Claude"
    aliases = ("claude", "claudecode")
    project_files = ("CLAUDE.md",)
    own_file = "CLAUDE"
    instructions = "CLAUDE.md"
    transcripts = ClaudeTranscripts()
    keeps_record = True
    clears_silently = True
    after_install = ("Restart Claude Code; `claude mcp list` and `/hooks` show what it has read.",)
    after_project_install = (
        "Claude Code asks once whether to trust the servers of .mcp.json: say yes.",
    )

    edits = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit"))
    searches = frozenset(("Grep", "Glob", "WebSearch", "ToolSearch", "LSP"))
    # Sub-agents, Agent and Task, have hooks of their own.
    quiet = frozenset(
        (
            "TodoWrite", "WebFetch", "TaskOutput", "ExitPlanMode", "AskUserQuestion", "Skill",
            "Agent", "Task",
        )
    )  # fmt: skip

    def user_folder(self, here: InstallPlace) -> str:
        """Return the folder of the person's settings."""
        return here.folder("CLAUDE_CONFIG_DIR", ".claude")

    def data_folders(self, here: InstallPlace) -> tuple[str, ...]:  # noqa: ARG002 - only the program shows it
        """Return none: without the program nothing reads the configs."""
        return ()

    def plan(self, scope: Scope, here: InstallPlace) -> list[Edit]:
        """Return the edits for the server, the hooks and the slash command."""
        name = "settings.local.json" if scope == "local" else "settings.json"
        settings = self.path(scope, here, name)
        return [
            _server(scope, self.user_folder(here), here),
            *hook_items(settings, "json", here.program, self.name, _TIMEOUTS, EVENTS),
            OwnFile(self.path(scope, here, "commands", f"{NAME}.md"), claude_command(self.name)),
        ]

    def listed(self, ran: Ran) -> Listed:
        """Read `claude mcp get triseek`, which tries the server unless it waits for approval."""
        reply = dict(_FIELD.findall(ran.out))
        if ran.status or "Status" not in reply:
            return Listed("absent" if "No MCP server" in ran.out + ran.err else "unclear")
        status = reply["Status"]
        for mark, state in _CLAUDE.items():
            if mark in status:
                note = reply.get("Issue") or reply.get("Scope", "")
                return Listed(state, reply.get("Command", ""), note)
        return Listed("unclear", reply.get("Command", ""), status)

    def read(self, payload: Fields, event: str, cwd: str) -> HookEvent:
        """Read a payload, also that of a script which reports a use itself."""
        tool = _DIRECT.get(plain(payload.text("hook_event_name") or event))
        if tool is not None and "tool_name" not in payload:
            names = (*_PATHS, "offset", "limit")
            payload = Fields(
                {
                    "tool_input": {name: payload[name] for name in names if name in payload},
                    "tool_response": payload.get("content"),
                    **payload,
                    "tool_name": tool,
                }
            )
        return super().read(payload, event, cwd)

    def tool_use(self, payload: Fields, folder: str) -> ToolUse:
        """Return a tool's use, with the output shown to the agent once it is over."""
        name = payload.text("tool_name")
        tool_input = payload.inner("tool_input")
        response = payload.get("tool_response")
        if name == _SHELL:
            use = _shell_use(payload, tool_input, folder)
        else:
            use = self.use_of(name, tool_input, folder)
        if name == "Read":
            use = _of_read(use, response)
        elif name not in self.edits:
            output = _of_shell(response) if name == _SHELL else fields.shown(response)
            use = replace(use, output=tools.of_file(use, tool_input.get("command"), output))
        return replace(use, call=payload.word("tool_use_id"))

    def ended(self, use: ToolUse, payload: Fields) -> ToolUse:
        """Return a use that is over with what is known of how its command ended."""
        response = payload.inner("tool_response")
        unknown = ("interrupted", "backgroundTaskId")
        if payload.get("is_interrupt") is True or any(response.get(name) for name in unknown):
            return use
        if use.failed:
            status = exit_status.of_pattern(exit_status.FIRST_LINE, payload.text("error"))
            return exit_status.with_status(super().ended(use, payload), status)
        if not isinstance(response.get("stdout"), str):
            return use
        if response.get("returnCodeInterpretation"):  # not 0, and no failure
            return exit_status.with_failure(use, failed=False)
        return exit_status.with_status(use, 0)

    def use_of(self, name: str, tool_input: Fields, folder: str) -> ToolUse:
        """Return the use of a tool by its name and input."""
        if name != "Read":
            return super().use_of(name, tool_input, folder)
        # `pages` is for PDFs, and a notebook is shown as cells: neither is shown as lines.
        read = tools.counted(tool_input, folder)
        has_lines = not tool_input.get("pages") and not read.path.endswith((".pdf", ".ipynb"))
        if not has_lines or not tool_input.keys() <= _KNOWN[name]:
            return ToolUse(name=name)
        return replace(tools.native_read(name, read), room=_ROOM)

    def in_view(self, event: HookEvent) -> frozenset[str] | None:
        """Return the ids of uses whose outputs are in the context now; None if unknown."""
        path = _transcript(event)
        rows = entries(path, without=_BULKY) if path else None
        if not rows:
            return None
        branch = _branch(rows, sub_agent=bool(event.context.agent))
        if not _is_current(branch, event):
            return None
        replaced = _replaced(rows)
        cut = _last_cut(rows)
        in_view = [row for at, row in [*branch, *_parallel_outputs(rows, branch)] if at > cut]
        return frozenset(call for row in in_view for call in _results(row) if call not in replaced)


def _server(scope: Scope, folder: str, here: InstallPlace) -> JsonMember:
    entry = {"type": "stdio", **here.server(), "env": {}}
    if scope == "project":
        return JsonMember(here.in_project(".mcp.json"), ("mcpServers", NAME), entry, "json")
    keys: tuple[str, ...] = ("mcpServers", NAME)
    if scope == "local":
        keys = ("projects", main_tree(here.cwd), *keys)
    return JsonMember(_global_config(folder, here), keys, entry, "json")


def _global_config(folder: str, here: InstallPlace) -> str:
    """Return the file of servers and projects: an old one that is not empty takes precedence."""
    old = Path(folder, ".config.json")
    if old.is_file() and old.stat().st_size:
        return str(old)
    value = here.environ.get("CLAUDE_CONFIG_DIR")
    return os.path.join(folder, ".claude.json") if value else here.in_home(".claude.json")  # noqa: PTH118


_CLAUDE: Mapping[str, State] = {
    "Connected": "connected",
    "Failed": "failed",
    "Pending": "waiting",
    "approval": "waiting",
    "Rejected": "off",
    "Disabled": "off",
}


def _of_read(use: ToolUse, response: object) -> ToolUse:
    """Return the use with the lines that `Read` has shown, which may be fewer than requested."""
    if not isinstance(response, dict):
        shown = tools.unnumbered(response) if isinstance(response, str) else None
        return replace(use, output=shown)
    file = Fields(response).inner("file")
    content, first = file.get("content"), file.line("startLine")
    if response.get("type") != "text" or not isinstance(content, str) or not first:
        return replace(use, reads=(), only_reads=False)  # an image, or known content
    count = file.line("numLines") or 0
    if content.endswith("\n") and first + count - 1 == file.get("totalLines"):
        count -= 1  # it counts an empty line after the last newline
    reads = [replace(read, first=first, last=first + count - 1) for read in use.reads if count]
    return replace(use, reads=tuple(reads), output=content)


def _stays(payload: Fields) -> bool:
    """Whether a `cd` outlasts its command: in the main agent's shell, within the project."""
    error = payload.inner("tool_response").text("stderr")
    return not payload.get("agent_id") and "Shell cwd was reset" not in error


def _of_shell(response: object) -> str | None:
    """Return what `Bash` showed; None if most went to a file or it runs in the background."""
    if isinstance(response, dict):
        hidden = ("persistedOutputPath", "backgroundTaskId", "isImage")
        if any(response.get(name) for name in hidden):
            return None
        if isinstance(response.get("stdout"), str):
            return _trimmed(response["stdout"], Fields(response).text("stderr"))
    return fields.shown(response)


def _shell_use(payload: Fields, tool_input: Fields, folder: str) -> ToolUse:
    """Return the use of `Bash`, before or after it."""
    response = payload.get("tool_response")
    use = tools.shell(
        _SHELL,
        tool_input.get("command"),
        folder,
        stays=_stays(payload),
        over=isinstance(response, dict),
    )
    is_here = tool_input.keys() <= _KNOWN[_SHELL]
    if is_here and tool_input.get("run_in_background") in (None, False):
        return use
    return replace(use, reads=(), only_reads=False)


def _trimmed(stdout: str, stderr: str) -> str:
    """Return a command's output as the model gets it: without the blank lines around it."""
    indented = stdout[: len(stdout) - len(stdout.lstrip())].rpartition("\n")[2]
    shown = indented + stdout.strip().strip("\ufeff")
    return "\n".join(filter(None, (shown.rstrip(), stderr.strip())))


def _transcript(event: HookEvent) -> str:
    """Return the transcript of the session, or of its sub-agent; "" if unknown."""
    agent = event.context.agent
    if not agent or not event.transcript:
        return event.transcript
    if not _AGENT.fullmatch(agent) or not event.transcript.endswith(".jsonl"):
        return ""
    return f"{event.transcript.removesuffix('.jsonl')}/subagents/agent-{agent}.jsonl"


def _branch(rows: list[Fields], *, sub_agent: bool) -> list[tuple[int, Fields]]:
    """Return the conversation's rows from last to first, each with its index in the file."""
    indexes = {
        row["uuid"]: at
        for at, row in enumerate(rows)
        if isinstance(row.get("uuid"), str) and (sub_agent or row.get("isSidechain") is not True)
    }
    branch: list[tuple[int, Fields]] = []
    at = max(indexes.values(), default=None)
    while at is not None:
        row = rows[at]
        branch.append((at, row))
        if _ends(row):
            break
        above = indexes.get(row.text("parentUuid"))
        at = above if above is not None and above < at else None  # parents are written first
    return branch


def _parallel_outputs(
    rows: list[Fields], branch: list[tuple[int, Fields]]
) -> list[tuple[int, Fields]]:
    """Return outputs of parallel uses: each follows its own use, so only one is in `branch`."""
    on_branch = {at for at, _ in branch}
    messages = {name for _, row in branch if (name := _message(row))}
    parents = {str(row.get("uuid")) for row in rows if _message(row) in messages}
    outputs = [
        (at, row)
        for at, row in enumerate(rows)
        if at not in on_branch and row.get("type") == "user" and row.text("parentUuid") in parents
    ]
    counts = Counter(call for row in rows for call in _results(row))
    return [(at, row) for at, row in outputs if all(counts[call] == 1 for call in _results(row))]


def _message(row: Fields) -> str:
    """Return the id of the model's message that a row is part of; "" if it is part of none."""
    return row.inner("message").text("id") if row.get("type") == "assistant" else ""


def _ends(row: Fields) -> bool:
    """Whether the rows above this one were compacted into it."""
    summary = row.get("isCompactSummary") is True or row.get("replacesSpan") is True
    return summary or row.get("subtype") in _CUTS


def _is_current(branch: list[tuple[int, Fields]], event: HookEvent) -> bool:
    """Whether this is the agent's current path."""
    if event.context.agent:
        return bool(branch)  # a sub-agent is never rewound
    call = event.use.call if event.use is not None else ""
    return any(
        (event.prompt_id and row.get("promptId") == event.prompt_id)
        or (call and call in _calls(row, "tool_use", "id"))
        for _, row in branch
    )


def _last_cut(rows: list[Fields]) -> int:
    """Return the index of the last row above which nothing is certain to be in view."""
    lengths: dict[object, int] = {}
    cut = -1
    for at, row in enumerate(rows):
        if row.get("type") == "api-request":
            keep, tail = row.get("keep"), row.get("tail")
            if not isinstance(keep, int) or not isinstance(tail, list):
                cut = at
                continue
            if keep < lengths.get(str(row.get("base")), keep + 1):
                cut = at
            lengths[str(row.get("id"))] = keep + len(tail)
        elif _ends(row):
            cut = at
    return cut


def _results(row: Fields) -> list[str]:
    """Return the ids of uses whose complete output is in a row."""
    return _calls(row, "tool_result", "tool_use_id")


def _calls(row: Fields, kind: str, name: str) -> list[str]:
    return [
        call
        for block in row.inner("message").objects("content")
        if block.get("type") == kind
        and (call := block.text(name))
        and not _is_stub(block.get("content"))
    ]


def _is_stub(content: object) -> bool:
    """Whether the content is a stub in place of the whole output."""
    if isinstance(content, str):
        return content.lstrip().startswith(_STUBS)
    if isinstance(content, list):
        return any(isinstance(block, dict) and _is_stub(block.get("text")) for block in content)
    return False


def _replaced(rows: list[Fields]) -> set[str]:
    """Return the ids of uses whose outputs were removed again."""
    return {
        replacement.text("toolUseId")
        for row in rows
        if row.get("type") == "content-replacement"
        for replacement in row.objects("replacements")
    }


AGENT = ClaudeCode()
