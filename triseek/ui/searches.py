"""Searches as somebody types them: the envelope that agents get, and where in a line the match is.

What is searched here is nobody's work: it goes to no session's log, and counts for no file's score.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, cast

from triseek.errors import InvalidQuery, OutOfTime
from triseek.model import budget
from triseek.model.tools import CONTEXT_MAX, LIMIT_MAX, FindFilesRequest, SearchContentRequest
from triseek.query import pattern
from triseek.service import finding, searching
from triseek.service.pages import BUDGET_MAX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from triseek.model.results import MatchLine, SearchResult
    from triseek.model.search import Case, PatternSpec
    from triseek.service.desk import Call, Desk

LIMIT = 50
TEXT_MAX = 4_000
"""Characters of a query, or of globs."""
MARKING_S = 2.0
"""What finding the matches in the lines that are shown may take."""
SPANS_MAX = 20
"""Matches of one line that are told."""
_KNOWN = frozenset(("q", "kind", "mode", "case", "word", "glob", "limit", "offset", "context"))


def answer(desk: Desk, given: Mapping[str, str], call: Call) -> dict[str, Any]:
    """The answer to `?q=…&kind=content|path&mode=…&case=…&word=1&glob=…&limit=…&offset=…`.

    Raises:
        InvalidQuery: the query, a glob or an option cannot be understood.
        RepoNotDetected: the root is gone.
        FallbackFailure: no road could answer.
    """
    unknown = sorted(given.keys() - _KNOWN)
    if unknown:
        raise InvalidQuery(f"there is no option {unknown[0][:60]!r}")
    began = time.perf_counter()
    kind = _choice(given, "kind", "content", "path")
    envelope = _contents(desk, given, call) if kind == "content" else _paths(desk, given, call)
    return {**envelope, "ms": round((time.perf_counter() - began) * 1e3, 2)}


def _paths(desk: Desk, given: Mapping[str, str], call: Call) -> Mapping[str, object]:
    request = FindFilesRequest(
        query=_text(given, "q"),
        limit=number(given, "limit", LIMIT, LIMIT_MAX),
        offset=number(given, "offset", 0, 1 << 30),
    )
    return finding.find(desk, request, call)


def _contents(desk: Desk, given: Mapping[str, str], call: Call) -> Mapping[str, object]:
    request = SearchContentRequest(
        query=_text(given, "q"),
        mode=_choice(given, "mode", "literal", "regex"),  # type: ignore[arg-type]
        case=cast("Case", _choice(given, "case", "sensitive", "insensitive", "smart")),
        word=_choice(given, "word", "0", "1") == "1",
        glob=_text(given, "glob"),
        limit=number(given, "limit", LIMIT, LIMIT_MAX),
        offset=number(given, "offset", 0, 1 << 30),
        context=number(given, "context", 0, CONTEXT_MAX),
        token_budget=BUDGET_MAX,
    )
    envelope = searching.search_content(desk, request, call)
    spec = searching.engine_request(desk.root, request).pattern
    return {**envelope, "results": _marked(envelope["results"], spec)}


def _marked(results: list[SearchResult], spec: PatternSpec) -> Sequence[Mapping[str, object]]:
    """The results with `spans`; as they are where marking them takes too long."""
    try:
        with budget.limited(MARKING_S):
            return [
                {**each, "matches": [_with_spans(match, spec) for match in each["matches"]]}
                for each in results
            ]
    except OutOfTime:
        return results


def _with_spans(match: MatchLine, spec: PatternSpec) -> Mapping[str, object]:
    """A line, and `spans`: where in its preview there are matches, in characters.

    A preview may be cut, so what only matched with the rest of its line is not marked.
    """
    if match.get("context"):
        return match
    preview = match["preview"]
    text = preview.encode()
    found = [
        [len(text[:begin].decode(errors="ignore")), len(text[:end].decode(errors="ignore"))]
        for begin, end in pattern.compile(spec).spans(text)[:SPANS_MAX]
        if end > begin
    ]
    return {**match, "spans": found}


def _text(given: Mapping[str, str], name: str) -> str:
    text = given.get(name, "")
    if len(text) > TEXT_MAX:
        raise InvalidQuery(f"{name} has {len(text):,} characters, {TEXT_MAX:,} are allowed")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidQuery(f"{name} is no text") from None
    return text


def _choice(given: Mapping[str, str], name: str, *known: str) -> str:
    """One of the known values; the first where nothing is said."""
    value = given.get(name) or known[0]
    if value not in known:
        raise InvalidQuery(f"{name} is one of {', '.join(known)}, not {value[:60]!r}")
    return value


def number(given: Mapping[str, str], name: str, usual: int, most: int) -> int:
    """A number among the parameters, at most `most`; `usual` where nothing is said.

    Raises:
        InvalidQuery: it is none.
    """
    value = given.get(name) or str(usual)
    if not (value.isascii() and value.isdigit() and len(value) <= 12):
        raise InvalidQuery(f"{name} is a number, not {value[:60]!r}")
    return min(int(value), most)
