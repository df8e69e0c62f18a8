"""The answers of the session and snapshot tools, in a few lines of text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GOAL_MAX = 100
PATHS_MAX = 4
"""Maximum paths shown of a search's results."""
_MARKS: Mapping[str, str] = {"added": "+", "removed": "-", "changed": "~"}
_NOUNS: Mapping[str, tuple[str, str]] = {
    "files": ("file", "files"), "queries": ("search", "searches"),
}  # fmt: skip


def session_lines(
    tool: str, _arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the text of a tool's answer."""
    if tool == "session_resume":
        yield from _resumed(answer)
    elif tool == "session_list":
        yield f"{tool}: {_count(answer['sessions'], 'session')}"
        yield from (f"  {_session(session)}" for session in answer["sessions"])
    elif tool == "session_snapshot_list":
        yield f"{tool}: {_count(answer['snapshots'], 'snapshot')}"
        yield from (f"  {_manifest(manifest)}" for manifest in answer["snapshots"])
        for damaged in answer.get("damaged", ()):
            yield f"  {damaged['snapshot_id']} is damaged: {damaged['reason']}"
    elif tool == "session_snapshot_get":
        yield from _snapshot(tool, answer["snapshot"])
    elif tool == "session_snapshot_diff":
        yield from _difference(tool, answer["diff"])
    elif "manifest" in answer:
        yield from _captured(tool, answer)
    else:
        size = answer.get("action_log_size")
        entries = "" if size is None else f", {size:,} {'entry' if size == 1 else 'entries'}"
        yield f"{tool}: {_session(answer['session'])}{entries}"
    for name, count in answer.get("omitted", {}).items():
        yield f"[{count:,} more of {name} left out]"


def _session(session: Mapping[str, Any]) -> str:
    goal = session["goal"]
    return f"{session['session_id']} ({session['status']})" + (f": {_cut(goal)}" if goal else "")


def _manifest(manifest: Mapping[str, Any]) -> str:
    whose = f" by {manifest['source_harness']}" if manifest["source_harness"] else ""
    commit = f" at {manifest['repo_commit'][:12]}" if manifest["repo_commit"] else ""
    goal = f": {_cut(manifest['goal'])}" if manifest.get("goal") else ""
    return f"{manifest['snapshot_id']} of {manifest['session_id']}{whose}{commit}{goal}"


def _captured(tool: str, answer: Mapping[str, Any]) -> Iterator[str]:
    yield f"{tool}: {_manifest(answer['manifest'])}"
    yield f"  in {answer['snapshot_dir']}"
    if "pack" in answer:
        yield f"  packed as {answer['pack']}"
    if "session" in answer:
        yield f"  the session is {answer['session']['status']}"
    again = json.dumps({"snapshot_id": answer["snapshot_id"]})
    yield f"To go on with it: session_resume {again}, or `triseek resume {answer['snapshot_id']}`"


def _snapshot(tool: str, snapshot: Mapping[str, Any]) -> Iterator[str]:
    yield f"{tool}: {_manifest(snapshot['manifest'])}"
    for file in snapshot["working_set"]["files_read"]:
        where = f":{file['line_start']}-{file['line_end']}" if file["line_start"] else ""
        yield f"  file {file['path']}{where} ({file['sha'][:12] or 'unknown'})"
    for run in snapshot["working_set"]["searches_run"]:
        yield f"  search {_search(run)}"
    for pin in snapshot["pinned_snippets"]:
        yield f"  pinned {pin['path']}:{pin['line_start']}-{pin['line_end']}"
    for entry in snapshot["action_log"]:
        yield f"  #{entry['entry_id']} {entry['kind']}{_about(entry['payload'])}"


def _about(payload: Mapping[str, Any]) -> str:
    """Return what a log entry is about, if one of its fields says so; "" otherwise."""
    arguments = payload.get("arguments")
    called_with = arguments if isinstance(arguments, dict) else {}
    names = ("path", "query", "content_query", "goal", "prompt")
    values = [fields[name] for fields in (payload, called_with) for name in names if name in fields]
    return next((f" {_cut(value)}" for value in values if isinstance(value, str)), "")


def _difference(tool: str, diff: Mapping[str, Any]) -> Iterator[str]:
    listed = ((*name.split("_"), items) for name, items in diff.items() if items)
    parts = [(how, what, items) for how, what, items in listed if what != "searches"]
    counts = [f"{_count(items, *_NOUNS.get(what, (what,)))} {how}" for how, what, items in parts]
    yield f"{tool}: {', '.join(counts) or 'nothing differs'}"
    for how, what, items in parts:
        [noun, *_] = _NOUNS.get(what, (what,))
        mark = _MARKS.get(how, how)
        yield from (
            f"  {mark} {noun} {_cut(item) if what == 'queries' else item}" for item in items
        )


def _resumed(answer: Mapping[str, Any]) -> Iterator[str]:
    report = answer["hydration_report"]
    stale = len(report["stale_files"])
    yield (
        f"session_resume: {answer['session_id']}, {report['files_primed']:,} files unchanged, "
        f"{stale:,} not, {_count(answer['searches'], 'search', 'searches')} warmed"
    )
    yield from (f"note: {sentence}" for sentence in report.get("differs", ()))
    yield ""
    yield answer["payload_markdown"].rstrip("\n")


def _search(run: Mapping[str, Any]) -> str:
    paths = ", ".join(run["result_paths"][:PATHS_MAX])
    return f"[{run['search_id']}] {run['kind']}: {_cut(run['query'])} -> {paths or 'nothing noted'}"


def _count(items: list[Any], one: str, many: str = "") -> str:
    return f"{len(items):,} {one if len(items) == 1 else many or one + 's'}"


def _cut(text: str) -> str:
    """Return a text as one line of at most `GOAL_MAX` characters."""
    return clipped(" ".join(text.split()), GOAL_MAX)
