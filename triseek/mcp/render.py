"""An envelope as an agent reads it: a few lines of plain text before the document itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from triseek.mcp import session_digest
from triseek.service.pack_digest import pack_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HINT_MAX = 80


def digest(tool: str, arguments: Mapping[str, Any], envelope: Mapping[str, Any]) -> str:
    """What a tool answered, in text."""
    if "error" in envelope:
        return _error(tool, envelope["error"])
    if tool == "context_pack":
        lines = pack_lines(envelope)
    elif tool == "index_status":
        lines = iter((_status(envelope),))
    elif tool == "reindex":
        lines = iter((_reindexed(envelope),))
    elif tool.startswith("memo_"):
        lines = _memo(tool, envelope)
    elif tool.startswith("session_"):
        lines = session_digest.lines(tool, envelope)
    else:
        lines = _search(tool, arguments, envelope)
    return "\n".join(lines)


def _error(tool: str, error: Mapping[str, Any]) -> str:
    return (
        f"{tool} error [{error['code']}]: {error['message']}. "
        f"Suggested: {error['suggested_action']}"
    )


def _search(tool: str, arguments: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    yield _header(tool, arguments, found)
    if found.get("results_omitted"):
        yield ""
        yield (
            f"reuse prior result from context ({found['search_id']}); "
            "no relevant files changed since the earlier search"
        )
        return
    for note in found.get("notes", ()):
        yield f"note: {note}"
    if "prior_snapshot_id" in found:
        yield f"note: {_before(found)}"
    if found.get("incomplete"):
        yield f"incomplete: {found['incomplete']}"
    if not found["results"]:
        yield ""
        yield from _nothing(arguments, found)
    for result in found["results"]:
        yield from _result(result)
    if found.get("truncated"):
        yield ""
        yield (
            f"[truncated: more results available — pass offset {found['next_offset']}, "
            "raise `limit` (max 100) or narrow the query]"
        )


def _before(found: Mapping[str, Any]) -> str:
    """What a search had found in the session that was resumed."""
    asked = f"{found['prior_snapshot_id']} had asked this ({found['prior_search_id']})"
    if not found["prior_paths_differ"]:
        return f"{asked}: the same files then"
    return f"{asked}; then: {', '.join(found['prior_result_paths']) or 'nothing'}"


def _header(tool: str, arguments: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    hint = _clipped(
        str(next((arguments[name] for name in _QUERIES if arguments.get(name)), "")), HINT_MAX
    )
    fallback = " · fallback" if found["fallback_used"] else ""
    fresh = f" · {found['freshness']}" if found.get("freshness") else ""
    files = found.get("files_with_matches", 0)
    counts = f"{files:,} {_plural(files, 'file')}"
    if tool != "find_files" and "total_line_matches" in found:
        lines = found["total_line_matches"]
        counts += f", {lines:,} {_plural(lines, 'match', 'matches')}"
    how = f"{found['strategy']}, cache {found['cache']}{fallback}{fresh}"
    return f'{tool}: "{hint}" ({how}) — {counts}'


_QUERIES = ("query", "content_query", "path_query")


def _nothing(arguments: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    searched = found.get("searched")
    if found.get("files_with_matches"):
        if arguments.get("offset"):
            yield "no more results — `offset` is behind the last one"
        else:
            yield "no lines to show: what matches is binary"
        return
    if searched is None:
        yield f"no matches — {found.get('next_step', 'try fewer words')}"
        return
    skipped = f", {searched['skipped']:,} skipped" if searched["skipped"] else ""
    files = searched["files"]
    yield (f"no matches in {files:,} {_plural(files, 'file')}{skipped} ({searched['freshness']})")
    for other in found["would_match"]:
        change = ", ".join(f"{name}: {_json(value)}" for name, value in other["change"].items())
        lines, files = other["lines"], other["files"]
        yield (
            f"with {change}: {lines:,} {_plural(lines, 'match', 'matches')} "
            f"in {files:,} {_plural(files, 'file')}"
        )
    yield found["next_step"]


def _result(result: Mapping[str, Any]) -> Iterator[str]:
    matches = result.get("matches")
    if matches is None:
        yield f"{result['path']} ({result['count']})" if "count" in result else result["path"]
        return
    yield ""
    yield f"{result['path']} ({result.get('line_matches', _matching(matches))})"
    places = [_place(match) for match in matches]
    width = max(5, *map(len, places)) + 1
    for place, match in zip(places, matches, strict=True):
        yield f"  {place:<{width}} {match['preview']}"


def _matching(matches: list[Mapping[str, Any]]) -> int:
    return sum("context" not in match for match in matches)


def _place(match: Mapping[str, Any]) -> str:
    return f"L{match['line']}" if "context" in match else f"L{match['line']}:{match['column']}"


def _status(status: Mapping[str, Any]) -> str:
    if not status["index_present"]:
        problem = f" ({status['problem']})" if status.get("problem") else ""
        return f"index_status: no index present{problem} — call `reindex` to build one"
    fresh = "fresh" if status["index_fresh"] else "stale"
    size = status["index_bytes"] / 1e6
    swept = status.get("not_watched")
    return (
        f"index_status: present ({fresh}), {status['indexed_files']:,} files, {size:.1f} MB, "
        f"{status['repo_category']} repo, last built {status['last_updated']}"
        + (f"; answers take a sweep: {swept}" if swept else "")
    )


def _reindexed(done: Mapping[str, Any]) -> str:
    kind = "full rebuild" if done["rebuilt_full"] else "incremental"
    return (
        f"reindex: {kind} (mode={done['mode']}) · {done['indexed_files']:,} files "
        f"in {done['elapsed_ms']:,} ms"
    )


def _memo(tool: str, told: Mapping[str, Any]) -> Iterator[str]:
    """The plain fields in one line, then what a file is each, then what has changed."""
    diff = told.get("diff")
    plain = {
        name: value for name, value in sorted(told.items())
        if isinstance(value, (str, int, float)) and name != "diff"
    }  # fmt: skip
    said = " · ".join(
        f"{name}={_json(_clipped(value, HINT_MAX) if isinstance(value, str) else value)}"
        for name, value in plain.items()
    )
    yield f"{tool}: {said or _json(told)}"
    for result in told.get("results", ()):
        yield f"  {result['path']}: {result['status']} — {result['message']}"
    for file in told.get("files", ()):
        yield f"  {file['path']}: {file['status']}, {file['reads']}x, {file['tokens']:,} tokens"
    if diff:
        yield ""
        yield diff.rstrip("\n")


def _plural(count: int, one: str, many: str = "") -> str:
    return one if count == 1 else many or f"{one}s"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
