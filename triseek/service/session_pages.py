"""What the daemon says of sessions, made no longer than an agent can afford.

Each list has a share of an answer, in tokens; what has no room is counted in `omitted`, which is
there only if something is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.service.envelopes import cost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LISTED, MANY, SOME, FEW = 6_000, 2_000, 1_200, 400
"""Tokens: of an answer that is one list; of a list among others."""


def listed(told: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An answer that is one list, the first of it first."""
    kept = _first(told[name], LISTED)
    return _with({name: kept}, {name: len(told[name]) - len(kept)})


def captured(told: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot that was made."""
    return {**told, "manifest": _manifest(told["manifest"])}


def manifests(told: Mapping[str, Any]) -> dict[str, Any]:
    """A list of manifests."""
    shown = listed({"snapshots": [_manifest(one) for one in told["snapshots"]]}, "snapshots")
    damaged = told.get("damaged", [])
    kept = _first(damaged, FEW)
    if damaged:
        shown["damaged"] = kept
    if len(kept) < len(damaged):
        shown["omitted"] = {**shown.get("omitted", {}), "damaged": len(damaged) - len(kept)}
    return shown


def snapshot(told: Mapping[str, Any]) -> dict[str, Any]:
    """Everything a snapshot holds: of its log the newest entries, of the rest the first."""
    held = told["snapshot"]
    work, git = held["working_set"], held["git_state"]
    log = _last([_entry(entry) for entry in held["action_log"]], MANY)
    pins = _first(held["pinned_snippets"], MANY)
    files = _first(work["files_read"], SOME)
    searches = _first(work["searches_run"], SOME)
    scores = _first(work["frecency_top_n"], FEW)
    dirty = _first(git["dirty_files"], FEW)
    lines = _first([[path, count] for path, count in git["hunk_summary"].items()], FEW)
    shown = {
        **held,
        "manifest": _manifest(held["manifest"]),
        "working_set": {
            **work, "files_read": files, "searches_run": searches, "frecency_top_n": scores,
        },
        "action_log": log,
        "pinned_snippets": pins,
        "git_state": {**git, "dirty_files": dirty, "hunk_summary": dict(lines)},
    }  # fmt: skip
    omitted = {
        "action_log": len(held["action_log"]) - len(log),
        "pinned_snippets": len(held["pinned_snippets"]) - len(pins),
        "files_read": len(work["files_read"]) - len(files),
        "searches_run": len(work["searches_run"]) - len(searches),
        "frecency_top_n": len(work["frecency_top_n"]) - len(scores),
        "dirty_files": len(git["dirty_files"]) - len(dirty),
        "hunk_summary": len(git["hunk_summary"]) - len(lines),
    }
    return _with({"snapshot": shown}, omitted)


def difference(told: Mapping[str, Any]) -> dict[str, Any]:
    """What differs between two snapshots."""
    diff = told["diff"]
    kept = {name: _first(each, SOME) for name, each in diff.items()}
    return _with({"diff": kept}, {name: len(diff[name]) - len(kept[name]) for name in diff})


def resumed(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is to be read by who goes on; the payload has a budget of its own."""
    report = told["hydration_report"]
    stale, searches = _first(report["stale_files"], SOME), _first(told["searches"], SOME)
    shown = {
        **told, "hydration_report": {**report, "stale_files": stale}, "searches": searches
    }  # fmt: skip
    omitted = {
        "stale_files": len(report["stale_files"]) - len(stale),
        "searches": len(told["searches"]) - len(searches),
    }
    return _with(shown, omitted)


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry without the name by which its teller would know it again."""
    payload = {name: value for name, value in entry["payload"].items() if name != "note"}
    return {**entry, "payload": payload}


def _manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest, with so many of the files that were not committed."""
    dirty = manifest["repo_dirty_files"]
    kept = _first(dirty, FEW)
    left = {"repo_dirty_files_omitted": len(dirty) - len(kept)} if len(kept) < len(dirty) else {}
    return {**manifest, "repo_dirty_files": kept, **left}


def _first(items: Sequence[Any], most: int) -> list[Any]:
    """The first items, as many as have room."""
    kept = []
    for item in items:
        most -= cost(item)
        if most < 0:
            break
        kept.append(item)
    return kept


def _last(items: Sequence[Any], most: int) -> list[Any]:
    return _first(items[::-1], most)[::-1]


def _with(shown: dict[str, Any], omitted: Mapping[str, int]) -> dict[str, Any]:
    left = {name: count for name, count in omitted.items() if count}
    return {**shown, "omitted": left} if left else shown
