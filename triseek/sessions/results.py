"""What the session tools answer, field by field.

The docstring under a field is what the reference page says of it. A field that may be missing is
`NotRequired`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from triseek.model.tool import ADDED


class SessionRecord(TypedDict):
    """A work session."""

    schema_version: int
    """1."""
    session_id: str
    """1 to 128 of `A-Za-z0-9._-`; `session_<milliseconds>` if nobody named it."""
    goal: str
    """What the work is to achieve."""
    repo_root: str
    """The repository it belongs to."""
    status: Literal["open", "resolved", "abandoned"]
    """`open`, `resolved` or `abandoned`."""
    created_at: int
    """Unix seconds."""
    updated_at: int
    """Likewise; the last entry counts too."""
    by_itself: Annotated[NotRequired[bool], ADDED]
    """true, if a prompt began it and nobody has asked for it since."""


class SessionAnswer(TypedDict):
    """One session."""

    session: SessionRecord
    """Of `session_open`, `session_status` and `session_close`: the record."""


class SessionStatusAnswer(SessionAnswer):
    """How a session stands."""

    action_log_size: int
    """Of `session_status`: entries of its log."""


class SessionListAnswer(TypedDict):
    """The sessions of a repository."""

    sessions: list[SessionRecord]
    """Of `session_list`: records, last used first."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """How much of which list had no room; only if something had not."""


class SnapshotAnswer(TypedDict):
    """A snapshot that was made."""

    snapshot_id: str
    """`snap_<seconds>_<session>`, with a number where that is taken."""
    snapshot_dir: str
    """The folder with its files."""
    manifest: dict[str, Any]
    """Which session, repository, commit, uncommitted files, agent and model, and where the index's
    journal was."""


class HandoffAnswer(SnapshotAnswer):
    """A snapshot that was made to hand the work off."""

    briefing: Annotated[str, ADDED]
    """Of `session_handoff`: the briefing that was written."""
    pack: Annotated[NotRequired[str], ADDED]
    """Of `session_handoff` with `output`: the pack's path, in the state folder's `exports`."""
    session: Annotated[SessionRecord, ADDED]
    """Of `session_handoff`: the record, resolved."""


class DamagedSnapshot(TypedDict):
    """A snapshot that cannot be read."""

    snapshot_id: str
    reason: str


class SnapshotListAnswer(TypedDict):
    """All snapshots."""

    snapshots: list[dict[str, Any]]
    """Of `session_snapshot_list`: manifests of all repositories, newest first."""
    damaged: Annotated[NotRequired[list[DamagedSnapshot]], ADDED]
    """Of `session_snapshot_list`: snapshots that cannot be read, each with the `reason`."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class SnapshotGetAnswer(TypedDict):
    """What one snapshot holds."""

    snapshot: dict[str, Any]
    """Of `session_snapshot_get`: `manifest`, `working_set`, `action_log` (its newest entries),
    `pinned_snippets`; *added*: `git_state`, and `briefing` if there is one."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class SnapshotDiffAnswer(TypedDict):
    """How two snapshots differ."""

    diff: dict[str, list[str]]
    """Of `session_snapshot_diff`: `added_files`, `removed_files`, `changed_files` (another content
    when they were read), `added_searches`, `removed_searches`; *added*: `added_queries`,
    `removed_queries`, what these searches look for, in the same order."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""


class ResumeAnswer(TypedDict):
    """What is needed to go on with a session's work."""

    session_id: str
    """The session that is open again, and current."""
    payload_markdown: str
    """What to read: goal, briefing, what has changed since, pinned lines."""
    payload_token_estimate: int
    """Its bytes divided by 4."""
    hydration_report: dict[str, Any]
    """`files_primed`: read then and unchanged; `searches_warmed`; `frecency_entries_restored`;
    `stale_files`: each `path` and `reason` (`changed`, `missing`, `unreadable`, `unverified`);
    *added*: `repo_root`, where the repository is now, and `differs`, sentences on what is not as it
    was."""
    searches: list[dict[str, Any]]
    """Those of the working set, last asked first."""
    omitted: Annotated[NotRequired[dict[str, int]], ADDED]
    """As above."""
