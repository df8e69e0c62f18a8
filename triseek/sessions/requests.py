"""What agents ask of the session tools.

The docstring of a class is its tool's description, the one under a field that argument's: agents
read the sentences developers do. They are bought with an agent's context, so they are short, and
each tool says what it is for, when it beats grep, and gives one example.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from triseek.model.tool import STRICT

RESUME_TOKENS, RESUME_TOKENS_MIN, RESUME_TOKENS_MAX = 3_000, 256, 12_000
"""Of a resume's payload, as `sessions.hydration` has them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpenRequest:
    """Begin a work session at the start of a task, so that it can be handed to another agent.

    Searches, reads and edits are noted in it. Example: {"goal": "Fix the flaky auth test"}.
    """

    __pydantic_config__: ClassVar = STRICT

    goal: str = ""
    """What the work is to achieve."""
    session_id: str = ""
    """One to go on with, or a name for a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatusRequest:
    """Say how a session stands, and how many entries its log has. Example: {}."""

    __pydantic_config__: ClassVar = STRICT

    session_id: str = ""
    """Default: the current one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionListRequest:
    """List this repository's sessions, last used first. Example: {"status": "open"}."""

    __pydantic_config__: ClassVar = STRICT

    status: Literal["all", "open", "resolved", "abandoned"] = "all"
    """Only such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCloseRequest:
    """End a session: its work is done or given up. Example: {"status": "resolved"}."""

    __pydantic_config__: ClassVar = STRICT

    status: Literal["resolved", "abandoned"]
    """How it ends."""
    session_id: str = ""
    """Default: the one opened or resumed here last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedLines:
    """Lines of a file that a snapshot quotes."""

    __pydantic_config__: ClassVar = STRICT

    path: str
    """Below the root."""
    line_start: int
    """The first, from 1."""
    line_end: int
    """The last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotRequest:
    """Keep a checkpoint of a session: files read, searches, git state, lines you pin.

    Use before a risky edit or a compaction.
    Example: {"pinned_snippet_paths": [{"path": "src/a.rs", "line_start": 40, "line_end": 80}]}.
    """

    __pydantic_config__: ClassVar = STRICT

    session_id: str = ""
    """Default: the current one."""
    source_harness: str = ""
    """Default: this client."""
    source_model: str = ""
    """Your model."""
    pinned_snippet_paths: tuple[PinnedLines, ...] = ()
    """Lines the next agent must see verbatim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionHandoffRequest(SessionSnapshotRequest):
    """Hand off: session_snapshot with a briefing, then the session is resolved. Example: {}."""

    __pydantic_config__: ClassVar = STRICT

    output: str = ""
    """File name (.tcp) of a pack to export."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotListRequest:
    """List snapshots that can be resumed, newest first. Example: {}."""

    __pydantic_config__: ClassVar = STRICT

    session_id: str = ""
    """Only this session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotGetRequest:
    """Inspect what a snapshot holds. Example: {"snapshot_id": "snap_1777803396_demo"}."""

    __pydantic_config__: ClassVar = STRICT

    snapshot_id: str
    """From session_snapshot_list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSnapshotDiffRequest:
    """Compare the files and searches of two snapshots.

    Example: {"snapshot_a": "snap_1", "snapshot_b": "snap_2"}.
    """

    __pydantic_config__: ClassVar = STRICT

    snapshot_a: str
    """The earlier one."""
    snapshot_b: str
    """The later one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResumeRequest:
    """Go on with a snapshot's work: read its goal, what is known, ruled out and changed since.

    Example: {"snapshot_id": "snap_1777803396_demo", "budget_tokens": 8000}.
    """

    __pydantic_config__: ClassVar = STRICT

    snapshot_id: str
    """From session_snapshot_list."""
    budget_tokens: int = RESUME_TOKENS
    """Most tokens to read."""
    memory: bool = False
    """Add, within the budget, what was remembered of this project."""
