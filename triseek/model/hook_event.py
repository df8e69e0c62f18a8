"""What an agent's hook reports, in one vocabulary for all agents.

`agents.hooks` builds these from payloads; `app.hook_handler` acts on them. All text comes from
outside: paths are absolute and without NUL, and nothing else has been checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Moment: TypeAlias = Literal[
    "before", "after", "start", "end", "compact", "changed", "prompt", "subagent", "other"
]
"""before, after: a tool's use. start, end: a session. compact: a context is, or was, made shorter.
changed: the conversation lost messages (rewind, revert, fork, branch). subagent: one begins or
ends."""

PROBE = "triseek-doctor"
"""How the ids of sessions begin by which the doctor tries the hooks: they leave no trace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Identifies the context window that a tool's output goes to; unknown parts are ""."""

    harness: str
    """As in `triseek install`: claude-code, codex, opencode, pi, cursor, gemini."""
    session: str = ""
    agent: str = ""
    """A sub-agent's name within its session; "" is the main agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """Lines of a file that a use of a tool appears to show."""

    path: str
    """Absolute: the agent's path, joined to its working folder; links are not followed."""
    first: int = 1
    """The first line, counted from 1."""
    last: int | None = None
    """The last line, included; None: to the end of the file."""
    tail: int | None = None
    """The number of lines at the end of the file to show instead, as with `tail -n`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much file content a tool shows. Of more, its agent is shown a part or nothing."""

    bytes: int = 28_000
    """The lowest limit of all agents is 30,000, and file names take some of that."""
    lines: int = 2_000
    line_bytes: int | None = None
    """Longer lines are cut; None: no line is cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRun:
    """A shell command, and how it ended."""

    text: str
    """As the agent wrote it; the words of a program that runs without a shell are joined."""
    cwd: str = ""
    """The folder it ran in, absolute."""
    exit_status: int | None = None
    """None if the agent does not report it."""
    failed: bool | None = None
    """Whether it failed; None if that is unknown: interrupted, in the background, not reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One use of a tool, before or after it."""

    name: str
    """The agent's name for the tool."""
    call: str = ""
    """The agent's id of this use, which also identifies the output in its conversation."""
    reads: tuple[FileRead, ...] = ()
    of_script: bool = False
    """Whether a program that the model wrote gets the output, and the model what that prints."""
    only_reads: bool = False
    """Whether it only shows exactly `reads`, so that nothing is lost if it is not done."""
    edits: tuple[str, ...] = ()
    """Absolute paths that it writes, as far as known."""
    edits_unknown: bool = False
    """Whether it may write files that it does not name, as a shell command can."""
    search: str = ""
    """What it searches for; "" if it is not a search."""
    command: CommandRun | None = None
    """The command that it runs; None if it runs none."""
    room: Room = Room()
    """The limit for all `reads` together."""
    output: str | None = None
    """The result as the agent is shown it; None before the use, or if it is not reported."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One call of a hook."""

    moment: Moment
    context: Context
    cwd: str
    """The agent's working folder, absolute."""
    event: str = ""
    """The agent's own name for the moment."""
    source: str = ""
    """How a session started: startup, resume, clear, compact, fork; or why it compacts."""
    use: ToolUse | None = None
    prompt: str = ""
    parent: str = ""
    """The session that began this one, if a sub-agent has a session of its own."""
    prompt_id: str = ""
    """The agent's id of the user's last message, if it reports one with each event."""
    transcript: str = ""
    """The file that holds the conversation, absolute; "" if none is reported."""
    in_view: frozenset[str] | None = None
    """Ids of the uses whose outputs are in the context as it is sent; None if not reported."""
