"""The page's searches: the envelope that agents get, the positions of matches, lines around one.

These searches are no agent's work: they go to no session's log, and count for no file's score.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, cast

from triseek.app.registry import TOOLS
from triseek.errors import InvalidQuery, InvalidRequest, OutOfTime
from triseek.files import containment
from triseek.model import budget
from triseek.model.search import PatternSpec
from triseek.query import pattern
from triseek.search.envelopes import BUDGET_MAX, PREVIEW_MAX
from triseek.search.requests import CONTEXT_MAX, LIMIT_MAX
from triseek.search.results import MatchLine, SearchAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

    from triseek.app.dispatch import Dispatch
    from triseek.model.call import Call
    from triseek.model.search import Case
    from triseek.search.results import SearchResult

LIMIT = 50
TEXT_MAX = 4_000
"""Most characters of a query, or of globs."""
MARKING_S = 2.0
"""Seconds that locating the matches in the shown lines may take."""
SPANS_MAX = 20
"""Most matches reported for one line."""
AROUND = 60
"""Lines shown before and after the requested one."""
LINE_MAX = 4 * PREVIEW_MAX
"""Most characters of a line that are shown."""
READ_MAX = 64 << 20
"""Most bytes of a file that are read to reach a line."""
_OPTIONS = frozenset(("q", "kind", "mode", "case", "word", "glob", "limit", "offset", "context"))


class SearchReply(SearchAnswer):
    """The answer of a search."""

    ms: float
    """How long it took."""


class MarkedLine(MatchLine):
    """A line of a result."""

    spans: list[list[int]]
    """Begin and end of each match in the preview, in characters."""


class LinesReply(TypedDict):
    """Lines of a file."""

    path: str
    line: int
    """The one that was asked for, from 1."""
    first: int
    """The number of the first of `lines`."""
    lines: list[str]
    more: bool
    """Whether the file goes on."""


def answer(dispatch: Dispatch, params: Mapping[str, str], call: Call) -> SearchReply:
    """Answer `?q=…&kind=content|path&mode=…&case=…&word=1&glob=…&limit=…&offset=…`.

    Raises:
        InvalidQuery: The query, a glob or an option is invalid.
        RepoNotDetected: the root is gone.
        FallbackFailure: no backend could answer.
    """
    unknown = sorted(params.keys() - _OPTIONS)
    if unknown:
        raise InvalidQuery(f"there is no option {unknown[0][:60]!r}")
    began = time.perf_counter()
    is_content = _choice(params, "kind", "content", "path") == "content"
    envelope = (_contents if is_content else _paths)(dispatch, params, call)
    return {**envelope, "ms": round((time.perf_counter() - began) * 1e3, 2)}


def call_tool(
    dispatch: Dispatch, name: str, arguments: Mapping[str, Any], call: Call
) -> dict[str, Any]:
    """Return the answer of a tool; the call is not recorded, as it is no agent's work.

    Raises:
        TriseekError: The answer is an error.
    """
    tool = next(tool for tool in TOOLS if tool.name == name)
    reply = dispatch(tool, arguments, replace(call, is_recorded=False))
    if reply.error is not None:
        raise reply.error
    return reply.envelope


def _paths(dispatch: Dispatch, params: Mapping[str, str], call: Call) -> SearchAnswer:
    request = {
        "query": _text(params, "q"),
        "limit": number(params, "limit", LIMIT, LIMIT_MAX),
        "offset": number(params, "offset", 0, 1 << 30),
    }
    return cast("SearchAnswer", call_tool(dispatch, "find_files", request, call))


def _contents(dispatch: Dispatch, params: Mapping[str, str], call: Call) -> SearchAnswer:
    query = _text(params, "q")
    request = {
        "query": query,
        "mode": _choice(params, "mode", "literal", "regex"),
        "case": _choice(params, "case", "sensitive", "insensitive", "smart"),
        "word": _choice(params, "word", "0", "1") == "1",
        "glob": _text(params, "glob"),
        "limit": number(params, "limit", LIMIT, LIMIT_MAX),
        "offset": number(params, "offset", 0, 1 << 30),
        "context": number(params, "context", 0, CONTEXT_MAX),
        "token_budget": BUDGET_MAX,
    }
    envelope = cast("SearchAnswer", call_tool(dispatch, "search_content", request, call))
    spec = PatternSpec(
        patterns=(query,),
        fixed=request["mode"] == "literal",
        case=cast("Case", request["case"]),
        word=request["word"] is True,
    )
    return {**envelope, "results": _marked(envelope["results"], spec)}


def _marked(results: list[SearchResult], spec: PatternSpec) -> list[SearchResult]:
    """Return the results with `spans`; unchanged if locating the matches takes too long."""
    try:
        with budget.limited(MARKING_S):
            return [
                {**result, "matches": [_with_spans(match, spec) for match in result["matches"]]}
                for result in results
            ]
    except OutOfTime:
        return results


def _with_spans(match: MatchLine, spec: PatternSpec) -> MatchLine:
    """Return a line with `spans`: the positions of matches in its preview, in characters.

    A preview may be cut, so a match that needs the rest of its line is not marked.
    """
    if match.get("context"):
        return match
    preview = match["preview"]
    text = preview.encode()
    spans = [
        [len(text[:begin].decode(errors="ignore")), len(text[:end].decode(errors="ignore"))]
        for begin, end in pattern.compile(spec).spans(text)[:SPANS_MAX]
        if end > begin
    ]
    marked: MarkedLine = {**match, "spans": spans}
    return marked


def _text(params: Mapping[str, str], name: str) -> str:
    text = params.get(name, "")
    if len(text) > TEXT_MAX:
        raise InvalidQuery(f"{name} has {len(text):,} characters, {TEXT_MAX:,} are allowed")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidQuery(f"{name} is not valid text") from None
    return text


def _choice(params: Mapping[str, str], name: str, *choices: str) -> str:
    """Return a parameter that is one of `choices`; the first of them if it is missing."""
    value = params.get(name) or choices[0]
    if value not in choices:
        raise InvalidQuery(f"{name} is one of {', '.join(choices)}, not {value[:60]!r}")
    return value


def number(params: Mapping[str, str], name: str, default: int, most: int) -> int:
    """Return a numeric parameter, at most `most`; `default` if it is missing.

    Raises:
        InvalidQuery: The value is not a number.
    """
    value = params.get(name) or str(default)
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise InvalidQuery(f"{name} is not a number: {value[:60]!r}")
    return min(int(value), most)


def around(root: str, path: str, line: int) -> LinesReply:
    """Return the lines of a file around `line`, which is counted from 1.

    Raises:
        InvalidRequest: `path` is not a readable file below the root, or is not text.
        RepoNotDetected: The root is gone.
    """
    first = max(1, line - AROUND)
    try:
        with open(containment.open_file(root, path), "rb") as file:  # noqa: PTH123 - a descriptor
            shown = [
                row.rstrip(b"\r\n").decode(errors="replace")[:LINE_MAX]
                for row in itertools.islice(_bounded(file), first - 1, first + 2 * AROUND)
            ]
            more = bool(file.read(1))
    except OSError as error:
        raise InvalidRequest(
            f"{path[:200]!r} cannot be read: {error.strerror}",
            next_step="Search again; it may have been removed.",
        ) from None
    if any("\0" in row for row in shown):
        raise InvalidRequest(f"{path[:200]!r} is not text", next_step="Open another file.")
    return {"path": path, "line": line, "first": first, "lines": shown, "more": more}


def _bounded(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines, up to `READ_MAX` bytes in all; a line that exceeds the rest is cut."""
    left = READ_MAX
    while left > 0 and (line := file.readline(left)):
        left -= len(line)
        yield line
