"""What the tools of sessions and snapshots answered, in a few lines of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GOAL_MAX = 100
PATHS_MAX = 4
"""Of a search's results."""
_MARKS: Mapping[str, str] = {"added": "+", "removed": "-", "changed": "~"}
_NOUNS: Mapping[str, tuple[str, str]] = {
    "files": ("file", "files"), "searches": ("search", "searches"),
}  # fmt: skip


def lines(tool: str, told: Mapping[str, Any]) -> Iterator[str]:
    """What a tool answered."""
    if tool == "session_resume":
        yield from _resumed(told)
    elif tool == "session_list":
        yield f"{tool}: {_count(told['sessions'], 'session')}"
        yield from (f"  {_session(one)}" for one in told["sessions"])
    elif tool == "session_snapshot_list":
        yield f"{tool}: {_count(told['snapshots'], 'snapshot')}"
        yield from (f"  {_manifest(one)}" for one in told["snapshots"])
        for one in told.get("damaged", ()):
            yield f"  {one['snapshot_id']} is damaged: {one['reason']}"
    elif tool == "session_snapshot_get":
        yield from _snapshot(tool, told["snapshot"])
    elif tool == "session_snapshot_diff":
        yield from _difference(tool, told["diff"])
    elif "manifest" in told:
        yield from _captured(tool, told)
    else:
        size = told.get("action_log_size")
        noted = "" if size is None else f", {size:,} {'entry' if size == 1 else 'entries'}"
        yield f"{tool}: {_session(told['session'])}{noted}"
    for name, count in told.get("omitted", {}).items():
        yield f"[{count:,} more of {name} left out]"


def _session(session: Mapping[str, Any]) -> str:
    goal = session["goal"]
    return f"{session['session_id']} ({session['status']})" + (f": {_cut(goal)}" if goal else "")


def _manifest(manifest: Mapping[str, Any]) -> str:
    whose = f" by {manifest['source_harness']}" if manifest["source_harness"] else ""
    commit = f" at {manifest['repo_commit'][:12]}" if manifest["repo_commit"] else ""
    goal = f": {_cut(manifest['goal'])}" if manifest.get("goal") else ""
    return f"{manifest['snapshot_id']} of {manifest['session_id']}{whose}{commit}{goal}"


def _captured(tool: str, told: Mapping[str, Any]) -> Iterator[str]:
    yield f"{tool}: {_manifest(told['manifest'])}"
    yield f"  in {told['snapshot_dir']}"
    if "pack" in told:
        yield f"  packed as {told['pack']}"
    if "session" in told:
        yield f"  the session is {told['session']['status']}"
    again = json.dumps({"snapshot_id": told["snapshot_id"]})
    yield f"To go on with it: session_resume {again}, or `triseek resume {told['snapshot_id']}`"


def _snapshot(tool: str, held: Mapping[str, Any]) -> Iterator[str]:
    yield f"{tool}: {_manifest(held['manifest'])}"
    for file in held["working_set"]["files_read"]:
        where = f":{file['line_start']}-{file['line_end']}" if file["line_start"] else ""
        yield f"  file {file['path']}{where} ({file['sha'][:12] or 'unknown'})"
    for run in held["working_set"]["searches_run"]:
        yield f"  search {_search(run)}"
    for pin in held["pinned_snippets"]:
        yield f"  pinned {pin['path']}:{pin['line_start']}-{pin['line_end']}"
    for entry in held["action_log"]:
        yield f"  #{entry['entry_id']} {entry['kind']}{_about(entry['payload'])}"


def _about(payload: Mapping[str, Any]) -> str:
    """What an entry of a log is about, where it says so in a word."""
    arguments = payload.get("arguments")
    asked = arguments if isinstance(arguments, dict) else {}
    names = ("path", "query", "content_query", "goal", "prompt")
    said = [told[name] for told in (payload, asked) for name in names if name in told]
    return next((f" {_cut(one)}" for one in said if isinstance(one, str)), "")


def _difference(tool: str, diff: Mapping[str, Any]) -> Iterator[str]:
    parts = [(*name.split("_"), told) for name, told in diff.items() if told]
    counts = [f"{_count(told, *_NOUNS.get(what, (what,)))} {how}" for how, what, told in parts]
    yield f"{tool}: {', '.join(counts) or 'nothing differs'}"
    for how, what, told in parts:
        [noun, *_] = _NOUNS.get(what, (what,))
        yield from (f"  {_MARKS.get(how, how)} {noun} {one}" for one in told)


def _resumed(told: Mapping[str, Any]) -> Iterator[str]:
    report = told["hydration_report"]
    stale = len(report["stale_files"])
    yield (
        f"session_resume: {told['session_id']}, {report['files_primed']:,} files unchanged, "
        f"{stale:,} not, {_count(told['searches'], 'search', 'searches')} warmed"
    )
    yield from (f"note: {sentence}" for sentence in report.get("differs", ()))
    yield ""
    yield told["payload_markdown"].rstrip("\n")


def _search(run: Mapping[str, Any]) -> str:
    paths = ", ".join(run["result_paths"][:PATHS_MAX])
    return f"[{run['search_id']}] {run['kind']}: {_cut(run['query'])} -> {paths or 'nothing noted'}"


def _count(items: list[Any], one: str, many: str = "") -> str:
    return f"{len(items):,} {one if len(items) == 1 else many or one + 's'}"


def _cut(text: str) -> str:
    """A text as one line that is not long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= GOAL_MAX else plain[: GOAL_MAX - 1] + "…"
