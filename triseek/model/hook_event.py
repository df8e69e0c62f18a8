"""What an agent's hook tells, in one vocabulary for all agents.

`harness.hooks` makes these of payloads; `service.observing` acts on them. Every text comes from
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Names the one context window that a tool's output goes to; "" is what is not known."""

    harness: str
    """As in `triseek install`: claude-code, codex, opencode, pi, cursor, gemini."""
    session: str = ""
    agent: str = ""
    """A sub-agent's name within its session; "" is the main agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """Lines of a file that a use of a tool shows, if it does what it seems to."""

    path: str
    """Absolute, made of the agent's words and its working folder; links are not followed."""
    first: int = 1
    """The first line, counted from 1."""
    last: int | None = None
    """The last line, itself included; None: to the end of the file."""
    tail: int | None = None
    """The last so many lines instead, as of `tail -n`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How much of files a tool shows. Of what is more its agent is shown a part, or nothing."""

    bytes: int = 28_000
    """The least of all agents is 30,000; of these some are for the names of files."""
    lines: int = 2_000
    line_bytes: int | None = None
    """Longer lines are cut; None: none are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """One use of a tool, before or after it."""

    name: str
    """As the agent calls it."""
    call: str = ""
    """The agent's id of this use, by which its conversation names the output."""
    reads: tuple[FileRead, ...] = ()
    only_reads: bool = False
    """Whether all it does is to show exactly `reads`: nothing is lost if it is not done."""
    edits: tuple[str, ...] = ()
    """Absolute paths it writes, as far as can be told."""
    edits_unknown: bool = False
    """Whether it may write files that are not named, as a shell command can."""
    search: str = ""
    """What it searches for; "" if it is no search."""
    room: Room = Room()
    """For `reads` together."""
    output: str | None = None
    """What the agent is shown of the result; None before the use, and where it is not told."""
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One call of a hook."""

    moment: Moment
    context: Context
    cwd: str
    """The agent's working folder, absolute."""
    event: str = ""
    """The agent's own name of the moment."""
    source: str = ""
    """How a session started: startup, resume, clear, compact, fork; or why it compacts."""
    use: ToolUse | None = None
    prompt: str = ""
    prompt_id: str = ""
    """The agent's id of the person's last message, where it tells one with each event."""
    transcript: str = ""
    """The file that holds the conversation, absolute; "" where none is told."""
    in_view: frozenset[str] | None = None
    """Ids of the uses whose outputs are in the context as it is sent; None where not told."""
