"""The answers of the search tools as text for an agent: a few plain lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import clipped, plural
from triseek.search.envelopes import count_matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

HINT_MAX = 80
"""Most characters of a query that are repeated."""
_QUERIES = ("query", "content_query", "path_query")


def search_lines(
    tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the files of a page with their lines; if there are none, what was searched."""
    yield _header(tool, arguments, answer)
    if answer.get("results_omitted"):
        yield ""
        yield (
            f"reuse prior result from context ({answer['search_id']}); "
            "no relevant files changed since the earlier search"
        )
        return
    for note in answer.get("notes", ()):
        yield f"note: {note}"
    if "prior_snapshot_id" in answer:
        yield f"note: {_before(answer)}"
    if answer.get("incomplete"):
        yield f"incomplete: {answer['incomplete']}"
    if not answer["results"]:
        yield ""
        yield from _nothing(arguments, answer)
    for result in answer["results"]:
        yield from _result(result)
    if answer.get("truncated"):
        yield ""
        yield (
            f"[truncated: more results available — pass offset {answer['next_offset']}, "
            "raise `limit` (max 100) or narrow the query]"
        )


def _before(answer: Mapping[str, Any]) -> str:
    """Return what the resumed session's search had found."""
    prefix = f"{answer['prior_snapshot_id']} had asked this ({answer['prior_search_id']})"
    if not answer["prior_paths_differ"]:
        return f"{prefix}: the same files then"
    return f"{prefix}; then: {', '.join(answer['prior_result_paths']) or 'nothing'}"


def _header(tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    hint = clipped(
        str(next((arguments[name] for name in _QUERIES if arguments.get(name)), "")), HINT_MAX
    )
    fallback = " · fallback" if answer["fallback_used"] else ""
    fresh = f" · {answer['freshness']}" if answer.get("freshness") else ""
    files = answer.get("files_with_matches", 0)
    counts = f"{files:,} {plural(files, 'file')}"
    if tool != "find_files" and "total_line_matches" in answer:
        lines = answer["total_line_matches"]
        counts += f", {lines:,} {plural(lines, 'match', 'matches')}"
    how = f"{answer['strategy']}, cache {answer['cache']}{fallback}{fresh}"
    return f'{tool}: "{hint}" ({how}) — {counts}'


def _nothing(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    searched = answer.get("searched")
    if answer.get("files_with_matches"):
        if arguments.get("offset"):
            yield "no more results — `offset` is behind the last one"
        else:
            yield "no lines to show: what matches is binary"
        return
    if searched is None:
        yield f"no matches — {answer.get('next_step', 'try fewer words')}"
        return
    skipped = f", {searched['skipped']:,} skipped" if searched["skipped"] else ""
    files = searched["files"]
    yield (f"no matches in {files:,} {plural(files, 'file')}{skipped} ({searched['freshness']})")
    for other in answer["would_match"]:
        change = ", ".join(
            f"{name}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in other["change"].items()
        )
        lines, files = other["lines"], other["files"]
        yield (
            f"with {change}: {lines:,} {plural(lines, 'match', 'matches')} "
            f"in {files:,} {plural(files, 'file')}"
        )
    yield answer["next_step"]


def _result(result: Mapping[str, Any]) -> Iterator[str]:
    matches = result.get("matches")
    if matches is None:
        yield f"{result['path']} ({result['count']})" if "count" in result else result["path"]
        return
    yield ""
    yield f"{result['path']} ({result.get('line_matches', count_matching(matches))})"
    yield from _lines(matches, 6)


def _lines(lines: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """Yield lines of a file after their numbers, which are at least `width` characters wide."""
    places = [
        f"L{line['line']}" if "context" in line else f"L{line['line']}:{line['column']}"
        for line in lines
    ]
    width = max([width, *(len(place) + 1 for place in places)])
    for place, line in zip(places, lines, strict=True):
        yield f"  {place:<{width}} {line['preview']}"


def status_lines(
    _tool: str, _arguments: Mapping[str, Any], status: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the state of the index, in one line."""
    if not status["index_present"]:
        problem = f" ({status['problem']})" if status.get("problem") else ""
        yield f"index_status: no index present{problem} — call `reindex` to build one"
        return
    fresh = "fresh" if status["index_fresh"] else "stale"
    size = status["index_bytes"] / 1e6
    swept = status.get("not_watched")
    yield (
        f"index_status: present ({fresh}), {status['indexed_files']:,} files, {size:.1f} MB, "
        f"{status['repo_category']} repo, last built {status['last_updated']}"
        + (f"; answers take a sweep: {swept}" if swept else "")
    )


def reindex_lines(
    _tool: str, _arguments: Mapping[str, Any], done: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what was indexed, in one line."""
    kind = "full rebuild" if done["rebuilt_full"] else "incremental"
    yield (
        f"reindex: {kind} (mode={done['mode']}) · {done['indexed_files']:,} files "
        f"in {done['elapsed_ms']:,} ms"
    )


def pack_lines(_tool: str, _arguments: Mapping[str, Any], pack: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files of an envelope with their lines, then what to do next."""
    goal = clipped(pack["goal"], HINT_MAX)
    count = f"{len(pack['items'])} {plural(len(pack['items']), 'item')}"
    used = f"~{pack['estimated_tokens']}/{pack['budget_tokens']} tokens"
    yield f'context_pack: "{goal}" ({pack["intent"]}) — {count}, {used}'
    for item in pack["items"]:
        yield from ("", *_item(item))
    if not pack["items"]:
        yield ""
        yield "no strong candidates — try a more specific symbol, error message, or changed file"
    yield from ("", "next:", *(f"- {step}" for step in pack["suggested_next_steps"]))
    if pack["truncated"]:
        yield from ("", "[truncated: more matched — raise budget_tokens or max_files]")


def _item(item: Mapping[str, Any]) -> Iterator[str]:
    yield f"{item['path']} (score {item['score']})"
    yield f"  reasons: {', '.join(item['reasons'])}"
    yield from _lines(item["snippets"], 0)
