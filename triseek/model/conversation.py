"""What a conversation with an agent consists of, in one vocabulary for all agents.

The readers in `agents` build these from what an agent wrote to disk; `history` stores them. All
text comes from outside and has not been redacted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "summary"]
"""summary: what the agent put in place of earlier messages when it compacted them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation, or one sub-agent's part of it. Empty fields are unknown."""

    id: str
    """The agent's own id, unique among its conversations."""
    parent: str = ""
    """The id of the conversation that began this one: a sub-agent's, or a fork's."""
    is_sub_agent: bool = False
    """Whether an agent began it, and not a person."""
    cwd: str = ""
    """Working folder, absolute."""
    branch: str = ""
    """Git branch when it began."""
    title: str = ""
    """The agent's own title for it."""
    model: str = ""
    started_ms: int = 0
    """Unix time in milliseconds; 0 if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What a person or a model said."""

    conversation: str
    """The conversation's id."""
    id: str
    """Unique in its conversation, and the same each time the file is read."""
    role: Role
    text: str
    time_ms: int = 0
    """Unix time in milliseconds; 0 if unknown."""
    parent: str = ""
    """The id of the message or tool event before it, if the agent records branches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent:
    """A use of a tool, with its result as far as it is known.

    A reader may yield the same use twice, first without its result: the later one replaces the
    fields that it sets.
    """

    conversation: str
    id: str
    """The agent's id of the use, unique in its conversation."""
    name: str = ""
    """The agent's name for the tool."""
    input: str = ""
    """The arguments as compact JSON; without what `command` and `edits` hold, if that is long."""
    command: str = ""
    """The shell command, if it runs one."""
    exit_status: int | None = None
    failed: bool | None = None
    """Whether it failed; None if unknown."""
    output: str = ""
    """What the model was shown."""
    reads: tuple[str, ...] = ()
    """Absolute paths."""
    edits: tuple[Edit, ...] = ()
    time_ms: int = 0
    """When it began; Unix time in milliseconds, 0 if unknown."""
    ended_ms: int = 0
    parent: str = ""
    """As `Message.parent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change of one file."""

    path: str
    """Absolute."""
    before: str = ""
    """The replaced text, as far as the agent recorded it."""
    after: str = ""
    """The new text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A part of a file that was skipped, and why."""

    where: str
    """Such as `line 12` or `row 5 of message`."""
    reason: str


Record: TypeAlias = Conversation | Message | ToolEvent | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a source has been read. JSON, so that it can be stored."""

    offset: int = 0
    """Bytes of a file, or the last row or time of a database."""
    state: dict[str, str] = field(default_factory=dict)
    """What the reader needs to go on from there, such as the conversation's id."""
