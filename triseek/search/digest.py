"""The answers of the search tools as text for an agent: a few plain lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from triseek.model.plain_text import plural
from triseek.model.search import LeftOut
from triseek.search.envelopes import count_matching

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

QUERY_MAX = 60
"""Most characters of a query that names an earlier answer."""


def search_lines(
    tool: str, arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> Iterator[str]:
    """Yield counts, then the files of a page with their lines as `rg --heading -n` writes them.

    Where there is more than the page shows, it is an overview: equal lines of a file are one,
    `31,47:text`, and lines have no indentation. If nothing was found, yield what was searched.
    """
    if answer.get("results_omitted"):
        yield (
            f"same answer as before to {_query(arguments)}, still in context: no relevant file has "
            "changed since; pass force_refresh to get it again"
        )
        return
    if answer.get("incomplete"):
        yield f"incomplete: {answer['incomplete']}"
    yield from (f"note: {note}" for note in answer.get("notes", ()))
    if "prior_snapshot_id" in answer:
        yield f"note: {_before(answer)}"
    if not answer["results"]:
        yield from _nothing(arguments, answer)
        return
    yield _counts(tool, answer)
    is_overview = answer.get("truncated", False)
    for result in answer["results"]:
        yield from _result(result, is_overview)
    if is_overview:
        yield f"[truncated: next_offset {answer['next_offset']}]"


def _query(arguments: Mapping[str, Any]) -> str:
    """Return the query by which an agent recognizes its earlier call; a long one is cut."""
    query = str(arguments.get("query") or arguments.get("content_query", ""))
    return json.dumps(query if len(query) <= QUERY_MAX else query[:QUERY_MAX] + "…")


def _before(answer: Mapping[str, Any]) -> str:
    """Return what the resumed session's search had found."""
    prefix = f"{answer['prior_snapshot_id']} had asked this ({answer['prior_search_id']})"
    if not answer["prior_paths_differ"]:
        return f"{prefix}: the same files then"
    return f"{prefix}; then: {', '.join(answer['prior_result_paths']) or 'nothing'}"


def _counts(tool: str, answer: Mapping[str, Any]) -> str:
    """Return how much matches in all, whatever of it is shown."""
    files = answer.get("files_with_matches", 0)
    in_files = f"{files:,} {plural(files, 'file')}"
    if tool == "find_files" or "total_line_matches" not in answer:
        return in_files
    lines = answer["total_line_matches"]
    return f"{lines:,} {plural(lines, 'match', 'matches')} in {in_files}"


def _nothing(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    searched = answer.get("searched")
    if answer.get("files_with_matches"):
        if arguments.get("offset"):
            yield "no more results — `offset` is behind the last one"
        else:
            yield "no lines to show: what matches is binary"
        return
    if searched is None and answer.get("incomplete"):
        yield "no matches in what was searched"
        return
    if searched is None:
        yield f"no matches — {answer.get('next_step', 'try fewer words')}"
        return
    skipped = f", {searched['skipped']:,} skipped" if searched["skipped"] else ""
    files = searched["files"]
    left_out = LeftOut(searched["hidden"], searched["ignored"]).described()
    rest = f"; {left_out}" if left_out else ""
    yield f"no matches in {files:,} {plural(files, 'file')}{skipped}{rest}"
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


def _result(result: Mapping[str, Any], is_overview: bool) -> Iterator[str]:
    matches = result.get("matches")
    if matches is None:
        yield f"{result['path']}:{result['count']}" if "count" in result else result["path"]
        return
    shown, total = count_matching(matches), result.get("line_matches", 0)
    yield f"{result['path']} ({shown} of {total:,})" if total > shown else result["path"]
    if is_overview and not any("context" in line for line in matches):
        yield from _lone_lines(matches)
    else:
        yield from _lines(matches)


def _lines(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines of a file after their numbers; `-` follows the number of a line of context."""
    for line in lines:
        yield f"{line['line']}{'-' if 'context' in line else ':'}{line['preview']}"


def _lone_lines(lines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines of a file that stand for themselves: without indentation, equal ones as one."""
    numbers: dict[str, list[str]] = {}
    for line in lines:
        numbers.setdefault(line["preview"].strip(), []).append(str(line["line"]))
    for preview, equal in numbers.items():
        yield f"{','.join(equal)}:{preview}"


def status_lines(
    _tool: str, _arguments: Mapping[str, Any], status: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the state of the index, in one line."""
    if "not_indexed" in status:
        yield f"index_status: no index: {status['not_indexed']}"
        return
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
    for item in pack["items"]:
        yield f"{item['path']} ({', '.join(item['reasons'])})"
        yield from _lines(item["snippets"])
    if not pack["items"]:
        yield "no strong candidates — try a more specific symbol, error message, or changed file"
    yield from (f"next: {step}" for step in pack["suggested_next_steps"])
    if pack["truncated"]:
        yield "[truncated: more matched — raise budget_tokens or max_files]"
    if "memory" in pack:
        yield from _memory_lines(pack["memory"])


def _memory_lines(memory: Mapping[str, Any]) -> Iterator[str]:
    yield f"memory: {memory['note']}"
    if memory["identity"]:
        yield f"  {memory['identity']}"
    for drawer in (*memory["recalled"], *memory["essentials"]):
        yield f"  [{drawer['drawer_id']}] {drawer['content']}"
