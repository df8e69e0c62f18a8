"""Sessions and snapshots as the page shows them.

The daemon owns the sessions and is asked for them; without a daemon, the files it wrote are read.
Logs and snapshots are read from their files: a log only ever grows, a snapshot never changes.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict, cast

from triseek import paths
from triseek.errors import DaemonUnreachable, InvalidRequest
from triseek.ipc import ask
from triseek.model.session import checked_id
from triseek.sessions import files
from triseek.sessions.action_log import ActionLog
from triseek.sessions.snapshot import Snapshots, diff
from triseek.ui import timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from triseek.model.session import LogEntry, Session
    from triseek.model.snapshot import GitState, SnapshotManifest, WorkingSet
    from triseek.sessions.results import DamagedSnapshot, SessionRecord

PATIENCE_S = 2.0
ENTRIES, ENTRIES_MAX = 50, 200
GROUPS = {
    "prompts": frozenset(("prompt",)),
    "reads": frozenset(("read", "read_denied", "memo_check")),
    "edits": frozenset(("edit",)),
    "searches": frozenset(("search", "context_pack")),
    "compactions": frozenset(("compact",)),
}
"""Kinds of entries by the name of their group; all other kinds are in `other`."""


class SessionsReply(TypedDict):
    """The sessions of a repository."""

    daemon: bool
    """Whether the daemon sent them."""
    sessions: Sequence[Session | SessionRecord]


class SessionReply(TypedDict):
    """One session."""

    session: Session | SessionRecord
    action_log_size: int
    """Entries of its log."""
    snapshots: Sequence[SnapshotManifest]


class LogReply(TypedDict):
    """Entries of a log, newest first."""

    entries: Sequence[LogEntry]
    before: int
    """Place of the oldest line that was examined."""
    after: int
    """Place behind the newest line."""


class SnapshotsReply(TypedDict):
    """Manifests of snapshots, newest first, and what is damaged."""

    snapshots: Sequence[SnapshotManifest]
    damaged: Sequence[DamagedSnapshot]


class PinnedText(TypedDict):
    """Quoted lines of a file."""

    path: str
    line_start: int
    line_end: int
    sha: str
    text: str


class SnapshotReply(TypedDict):
    """The content of a snapshot, with the length of its log in place of the log."""

    manifest: SnapshotManifest
    working_set: WorkingSet
    pinned_snippets: Sequence[PinnedText]
    git_state: GitState
    briefing: NotRequired[str]
    action_log_size: int


class SearchSummary(TypedDict):
    """A search of a snapshot."""

    query: str
    kind: str
    matches: int | None


class DifferenceReply(TypedDict):
    """What each of two snapshots has and the other has not."""

    a: SnapshotManifest
    b: SnapshotManifest
    diff: Mapping[str, Sequence[str]]
    searches: Mapping[str, SearchSummary]
    """By the ids that `diff` names."""


def sessions(root: str) -> SessionsReply:
    """Return a repository's sessions, last changed first, and whether the `daemon` sent them."""
    with contextlib.suppress(DaemonUnreachable):
        reply = ask.if_running("session_list", {"target_root": root}, PATIENCE_S)
        if reply is not None:
            return {"daemon": True, "sessions": reply["sessions"]}
    stored = [
        session for session in files.peek(paths.sessions()).values() if session.repo_root == root
    ]
    stored.sort(key=lambda session: (session.updated_at, session.session_id), reverse=True)
    return {"daemon": False, "sessions": stored}


def session(root: str, session_id: str) -> SessionReply:
    """Return a session, the length of its log and the snapshots made of it.

    Raises:
        InvalidRequest: No session has that id.
    """
    checked_id(session_id)
    snapshots = _snapshots().all(session_id=session_id)
    with contextlib.suppress(DaemonUnreachable):
        params = {"target_root": root, "session_id": session_id}
        reply = ask.if_running("session_status", params, PATIENCE_S)
        if reply is not None:
            return cast("SessionReply", {**reply, "snapshots": snapshots})
    stored = files.peek(paths.sessions()).get(session_id)
    if stored is None:
        raise InvalidRequest(
            f"unknown session_id `{session_id}`", next_step="See `triseek session list`."
        )
    size = len(ActionLog(Path(paths.sessions(), session_id)))
    return {"session": stored, "action_log_size": size, "snapshots": snapshots}


def log(session_id: str, params: Mapping[str, str]) -> LogReply:
    """Return entries of a log, newest first: `?before=PLACE` or `?after=PLACE`, `group`, `limit`.

    Raises:
        InvalidRequest: The log cannot be read, or an option is invalid.
    """
    folder = Path(paths.sessions(), checked_id(session_id))
    in_group = _group_filter(params.get("group", ""))
    limit = min(_place(params, "limit") or ENTRIES, ENTRIES_MAX)
    after = _place(params, "after")
    if after is not None:
        page = timeline.newer(folder, after, in_group, limit)
    else:
        page = timeline.older(folder, _place(params, "before"), in_group, limit)
    return {"entries": page.entries, "before": page.start, "after": page.end}


def _group_filter(group: str) -> Callable[[str], bool]:
    """Return a test whether a kind of entry belongs to a group; "" is the group of all kinds.

    Raises:
        InvalidRequest: there is no such group.
    """
    if group == "":
        return lambda _: True
    if group == "other":
        grouped = frozenset().union(*GROUPS.values())
        return lambda kind: kind not in grouped
    if group not in GROUPS:
        raise InvalidRequest(f"there is no group {group[:60]!r}")
    return GROUPS[group].__contains__


def snapshots(root: str, *, everywhere: bool) -> SnapshotsReply:
    """Return manifests, newest first, of a repository or of all, and what is damaged."""
    return {
        "snapshots": _snapshots().all("" if everywhere else root),
        "damaged": _snapshots().damaged(),
    }


def snapshot(snapshot_id: str) -> SnapshotReply:
    """Return the content of a snapshot, with the length of its log in place of the log.

    Raises:
        InvalidRequest: No snapshot has that id, or it is damaged.
    """
    content = _snapshots().get(snapshot_id)
    reply: SnapshotReply = {
        "manifest": content.manifest,
        "working_set": content.working_set,
        "pinned_snippets": [
            cast("PinnedText", {**pin.document(), "text": content.snippets[pin.sha]})
            for pin in content.pins
        ],
        "git_state": content.git,
        "action_log_size": len(content.entries),
    }
    if content.briefing is not None:
        reply["briefing"] = content.briefing
    return reply


def difference(first: str, second: str) -> DifferenceReply:
    """Return what each of two snapshots has and the other has not.

    Raises:
        InvalidRequest: there is no such snapshot, or one is damaged.
    """
    a, b = (_snapshots().get(name) for name in (first, second))
    return {
        "a": a.manifest,
        "b": b.manifest,
        "diff": diff(a, b),
        "searches": {
            run.search_id: {"query": run.query, "kind": run.kind, "matches": run.matches}
            for run in (*a.working_set.searches_run, *b.working_set.searches_run)
        },
    }


def _snapshots() -> Snapshots:
    return Snapshots(paths.snapshots())


def _place(params: Mapping[str, str], name: str) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 15):
        raise InvalidRequest(f"{name} is not a number: {value[:60]!r}")
    return int(value)
