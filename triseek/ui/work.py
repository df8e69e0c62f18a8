"""Sessions and snapshots as the page shows them.

The daemon owns the sessions and is asked for them; without one, what it has written is read. Logs
and snapshots are read where they lie: they only ever grow, or never change.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from triseek import paths
from triseek.errors import DaemonUnreachable, InvalidRequest
from triseek.ipc import client
from triseek.model.session import checked_id
from triseek.sessions import files
from triseek.sessions.action_log import ActionLog
from triseek.sessions.snapshot import Snapshots, diff
from triseek.ui import timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from triseek.sessions.snapshot_files import Snapshot

PATIENCE_S = 2.0
ENTRIES, ENTRIES_MAX = 50, 200
GROUPS = {
    "prompts": frozenset(("prompt",)),
    "reads": frozenset(("read", "read_denied", "memo_check")),
    "edits": frozenset(("edit",)),
    "searches": frozenset(("search", "context_pack")),
    "compactions": frozenset(("compact",)),
}
"""Kinds of entries by what people call them; all else is `other`."""


def sessions(root: str) -> dict[str, Any]:
    """Those of a repository, the one changed last first; whether the `daemon` told them."""
    try:
        told = client.ask("session_list", {"target_root": root}, timeout_s=PATIENCE_S)
    except DaemonUnreachable:
        found = [each for each in files.peek(paths.sessions()).values() if each.repo_root == root]
        found.sort(key=lambda each: (each.updated_at, each.session_id), reverse=True)
        return {"daemon": False, "sessions": [each.document() for each in found]}
    return {"daemon": True, "sessions": told["sessions"]}


def session(root: str, session_id: str) -> dict[str, Any]:
    """One of them, the length of its log and the snapshots made of it.

    Raises:
        InvalidRequest: there is none of that id.
    """
    checked_id(session_id)
    params = {"target_root": root, "session_id": session_id}
    try:
        told = client.ask("session_status", params, timeout_s=PATIENCE_S)
    except DaemonUnreachable:
        told = _written(session_id)
    made = _snapshots().all(session_id=session_id)
    return {
        "session": told["session"],
        "action_log_size": told["action_log_size"],
        "snapshots": [manifest.document() for manifest in made],
    }


def _written(session_id: str) -> dict[str, Any]:
    """A session as it was written last."""
    found = files.peek(paths.sessions()).get(session_id)
    if found is None:
        raise InvalidRequest(
            f"unknown session_id `{session_id}`", next_step="See `triseek session list`."
        )
    size = len(ActionLog(Path(paths.sessions(), session_id)))
    return {"session": found.document(), "action_log_size": size}


def log(session_id: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Entries of a log, newest first: `?before=PLACE` or `?after=PLACE`, `group`, `limit`.

    Raises:
        InvalidRequest: the log cannot be read, or an option is none.
    """
    folder = Path(paths.sessions(), checked_id(session_id))
    wanted = _wanted(given.get("group", ""))
    limit = min(_place(given, "limit") or ENTRIES, ENTRIES_MAX)
    after = _place(given, "after")
    if after is not None:
        page = timeline.newer(folder, after, wanted, limit)
    else:
        page = timeline.older(folder, _place(given, "before"), wanted, limit)
    return {
        "entries": [entry.document() for entry in page.entries],
        "before": page.start,
        "after": page.end,
    }


def _wanted(group: str) -> Callable[[str], bool]:
    """Whether an entry of a kind belongs to a group; "" is all of them.

    Raises:
        InvalidRequest: there is no such group.
    """
    if group == "":
        return lambda _: True
    if group == "other":
        known = frozenset().union(*GROUPS.values())
        return lambda kind: kind not in known
    if group not in GROUPS:
        raise InvalidRequest(f"there is no group {group[:60]!r}")
    return GROUPS[group].__contains__


def snapshots(root: str, *, everywhere: bool) -> dict[str, Any]:
    """Manifests, newest first: those of a repository, or all there are."""
    found = _snapshots().all("" if everywhere else root)
    return {
        "snapshots": [manifest.document() for manifest in found],
        "damaged": [one._asdict() for one in _snapshots().damaged()],
    }


def snapshot(snapshot_id: str) -> dict[str, Any]:
    """What one holds, without its log.

    Raises:
        InvalidRequest: there is none of that id, or it is damaged.
    """
    found = _snapshots().get(snapshot_id)
    told = found.document()
    told["action_log_size"] = len(told.pop("action_log"))
    return told


def difference(first: str, second: str) -> dict[str, Any]:
    """What the second snapshot has and the first has not, and the other way round.

    Raises:
        InvalidRequest: there is no such snapshot, or one is damaged.
    """
    a, b = (_snapshots().get(name) for name in (first, second))
    return {
        "a": a.manifest.document(),
        "b": b.manifest.document(),
        "diff": diff(a, b),
        "searches": {**_searches(a), **_searches(b)},
    }


def _searches(found: Snapshot) -> dict[str, dict[str, Any]]:
    """What was searched, by the ids that a difference names."""
    return {
        run.search_id: {"query": run.query, "kind": run.kind, "matches": run.matches}
        for run in found.working_set.searches_run
    }


def _snapshots() -> Snapshots:
    return Snapshots(paths.snapshots())


def _place(given: Mapping[str, str], name: str) -> int | None:
    value = given.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) <= 15):
        raise InvalidRequest(f"{name} is a number, not {value[:60]!r}")
    return int(value)
